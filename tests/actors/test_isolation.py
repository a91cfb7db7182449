"""Isolation: whatever happens in one actor happens to it, and to those linked to it, and nothing of it is left."""

import gc

import gevent
import pytest
from gevent.event import Event

from taskward.actors import NORMAL, Actor, ActorDied, ActorStartError, Registry, StartOptions, is_abnormal

BOUND_S = 5.0
CYCLES = 2_000
BASE_EXCEPTIONS = [SystemExit, KeyboardInterrupt, gevent.GreenletExit, gevent.Timeout, BaseException, ValueError]


class Doer(Actor):
    def on_receive(self, message):
        return message(self)

    def on_down(self, down):
        pass


def raises(error):
    def do(_me):
        raise error

    return do


@pytest.mark.parametrize("send", ["tell", "ask"])
@pytest.mark.parametrize("kind", BASE_EXCEPTIONS)
def test_whatever_a_handler_raises_ends_that_actor_alone(start, kind, send, caplog):
    bystanders = [start(Doer) for _ in range(10)]
    ref, error = start(Doer), kind()
    if send == "tell":
        ref.tell(raises(error))
    else:
        with pytest.raises(ActorDied) as died:
            ref.ask(raises(error))
        assert died.value.reason is error
    assert ref.exited.wait(BOUND_S)
    assert ref.exit_reason is error
    assert is_abnormal(error)
    assert f"{ref.actor_urn} crashed" in caplog.text
    assert [bystander.ask(lambda _: "alive") for bystander in bystanders] == ["alive"] * 10


@pytest.mark.parametrize("kind", BASE_EXCEPTIONS)
@pytest.mark.parametrize("hook", ["on_start", "terminate", "on_down", "on_exit", "on_failure", "on_stop"])
def test_whatever_a_hook_raises_ends_that_actor_alone(start, hook, kind):
    error = kind()

    class Fails(Doer):
        trap_exit = True

    setattr(Fails, hook, lambda *_: raises(error)(None))
    bystanders = [start(Doer) for _ in range(3)]
    if hook == "on_start":
        with pytest.raises(ActorStartError):
            Fails.start()
    else:
        ref, peer = start(Fails), start(Doer)
        ref.ask(lambda me: (me.link(peer), me.monitor(peer)))
        if hook in {"on_down", "on_exit"}:
            peer.exit(ValueError("heard of"))
        elif hook == "on_failure":
            ref.tell(raises(ValueError("a crash")))
        else:
            ref.stop(block=False)
        assert ref.exited.wait(BOUND_S)
        assert is_abnormal(ref.exit_reason)
    assert [bystander.ask(lambda _: "alive") for bystander in bystanders] == ["alive"] * 3


def test_a_crash_of_the_called_does_not_hurt_a_caller_that_expects_it(start):
    caller, called = start(Doer), start(Doer)

    def call(_me):
        with pytest.raises(ActorDied):
            called.ask(raises(SystemExit(1)))
        return "alive"

    assert caller.ask(call) == "alive"


def test_the_end_of_a_caller_does_not_hurt_the_called(start):
    caller, called, entered, opened, finished = start(Doer), start(Doer), Event(), Event(), []

    def work(_me):
        entered.set()
        assert opened.wait(BOUND_S)
        finished.append(True)

    caller.tell(lambda _: called.ask(work))
    assert entered.wait(BOUND_S)
    caller.kill()
    assert caller.exited.wait(BOUND_S)
    opened.set()
    assert called.ask(lambda _: "alive") == "alive"
    assert finished == [True]


def test_actors_that_wait_for_a_dying_one_do_not_hang(start):
    """A chain of calls: the crash at its end fails each caller in turn."""
    chain = [start(Doer) for _ in range(5)]

    def ask_next(rest):
        return lambda _: rest[0].ask(ask_next(rest[1:])) if rest else raises(SystemExit(1))(None)

    with pytest.raises(ActorDied):
        chain[0].ask(ask_next(chain[1:]))
    assert all(ref.exited.wait(BOUND_S) for ref in chain)


def cells():
    gc.collect()
    return sum(type(thing).__name__ == "Cell" for thing in gc.get_objects())


def test_two_thousand_lives_leave_nothing_behind(start):
    """Every way to end, with a name, a link, a monitor both ways, a timer, and a call that nobody answers."""
    registry, parent = Registry(), start(Doer)
    ends = [
        lambda ref: ref.stop(block=False),
        lambda ref: ref.kill(),
        lambda ref: ref.exit(NORMAL),
        lambda ref: ref.tell(lambda me: me.exit(NORMAL)),
    ]

    def live(number):
        name = StartOptions(name=f"name-{number % 7}", registry=registry, link_to=parent)
        ref = Doer.start_with(name)
        ref.ask(lambda me: (me.send_after(60_000, "never"), me.monitor(parent)))
        parent.ask(lambda me: (me.monitor(ref), me.unlink(ref), me.link(ref)))
        if number % 4 in {1, 2}:
            parent.ask(lambda me: me.unlink(ref))
        ends[number % 4](ref)
        if number % 4 == 2:
            ref.kill()
        assert ref.exited.wait(BOUND_S)
        assert (ref.cell.timers, ref.cell.links, ref.cell.watchers, ref.cell.watching) == (set(), set(), {}, {})

    live(0)
    before = cells()
    for number in range(CYCLES):
        live(number)
    parent.ask(lambda _: None)
    assert registry.names() == []
    assert (parent.cell.links, parent.cell.watchers, parent.cell.watching) == (set(), {}, {})
    assert cells() <= before + 5


def test_a_failed_start_leaves_nothing_behind(start):
    class Fails(Doer):
        def on_start(self):
            raise ValueError

    def fail(parent):
        with pytest.raises(ActorStartError):
            Fails.start_with(StartOptions(name="one", registry=registry, link_to=parent.actor_ref))

    class Trapper(Doer):
        trap_exit = True

        def on_exit(self, exit_):
            pass

    registry, parent = Registry(), start(Trapper)
    parent.ask(fail)
    before = cells()
    for _ in range(50):
        parent.ask(fail)
    assert registry.names() == []
    assert parent.cell.links == set()
    assert cells() <= before + 5
