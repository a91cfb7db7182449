"""Supervisors: children start in order, stop in reverse, one by one, within their grace, and all of them."""

import contextlib
import inspect
import time

import gevent
import pytest
from gevent.event import Event
from supervised import BOUND_S, Child, refs, specs

from taskward.actors import (
    KILLED,
    NORMAL,
    SHUTDOWN,
    Abandoned,
    ActorStartError,
    Shutdown,
    StartOptions,
    stop_actor,
)
from taskward.supervision import (
    BRUTAL_KILL,
    INFINITY,
    BadSpec,
    ChildSpec,
    DynamicSupervisor,
    Restart,
    Strategy,
    Supervisor,
    which_children,
)

ERROR = ValueError("cannot start")


class NotTrapping(Child):
    trap_exit = False


class Hangs(Child):
    """Does not end when it is asked to."""

    def terminate(self, reason):
        super().terminate(reason)
        Event().wait()


class FailsToStart(Child):
    def on_start(self):
        raise ERROR


class FailsInConstructor(Child):
    def __init__(self, *args):
        super().__init__(*args)
        raise ERROR


class FailsToEnd(Child):
    def terminate(self, reason):
        super().terminate(reason)
        raise ERROR


def test_s1_children_start_in_order_and_stop_in_reverse_one_by_one(start):
    log = []
    supervisor = start(Supervisor, specs(log, *"abc"))
    assert log == ["+a", "+b", "+c"]
    assert list(refs(supervisor)) == ["a", "b", "c"]
    assert stop_actor(supervisor, shutdown_ms=BOUND_S * 1_000).reason is SHUTDOWN
    assert log[3:] == ["-c", "-b", "-a"]


@pytest.mark.parametrize("end", [lambda ref: ref.stop(), lambda ref: ref.exit(SHUTDOWN)], ids=["stop", "shutdown"])
def test_s1_when_a_supervisor_has_ended_all_its_children_have(start, end):
    log = []
    supervisor = start(Supervisor, specs(log, *"abc"))
    children = refs(supervisor).values()
    end(supervisor)
    assert supervisor.exited.wait(BOUND_S)
    assert [child.is_alive() for child in children] == [False] * 3


@pytest.mark.parametrize("failing", [FailsToStart, FailsInConstructor])
def test_s2_if_one_fails_to_start_those_before_it_are_stopped_in_reverse(registry, failing):
    log = []
    children = specs(log, "a", "b") + specs(log, "c", actor=failing, name="c") + specs(log, "d")
    with pytest.raises(ActorStartError) as error:
        Supervisor.start_with(StartOptions(name="supervisor", registry=registry), children)
    assert log == ["+a", "+b", "-b", "-a"]
    assert error.value.reason.reason is ERROR
    assert str(error.value.reason).startswith("c did not start")
    assert registry.names() == []


def test_s4_two_children_of_one_id_are_refused_before_any_start():
    log = []
    with pytest.raises(BadSpec, match="'a'"):
        Supervisor.start(specs(log, "a", "b", "a"))
    assert log == []


BAD = {
    "no_id": {"id": ""},
    "an_id_that_is_no_text": {"id": 7},
    "no_actor": {"actor": object},
    "an_unknown_restart": {"restart": "sometimes"},
    "a_negative_grace": {"shutdown_ms": -1},
    "a_grace_that_is_no_number": {"shutdown_ms": "soon"},
}


@pytest.mark.parametrize("how", BAD)
def test_s4_a_bad_spec_is_refused_before_any_start(how):
    log = []
    good = {"id": "bad", "actor": Child, "args": ("bad", log)}
    with pytest.raises(BadSpec):
        Supervisor.start([*specs(log, "a"), ChildSpec(**(good | BAD[how]))])
    assert log == []


@pytest.mark.parametrize(
    "options",
    [{"strategy": "all_for_none"}, {"max_restarts": -1}, {"max_seconds": 0}],
    ids=["strategy", "max_restarts", "max_seconds"],
)
def test_s4_a_bad_option_is_refused_before_any_start(options):
    log = []
    with pytest.raises(ValueError):
        Supervisor.start(specs(log, "a"), **options)
    assert log == []


@pytest.mark.parametrize("missing", ["id", "actor"])
def test_s4_a_spec_without_id_or_actor_is_none(missing):
    with pytest.raises(TypeError, match=missing):
        ChildSpec(**{name: value for name, value in (("id", "a"), ("actor", Child)) if name != missing})


def test_s5_the_defaults_of_a_child():
    spec = ChildSpec("a", Child)
    assert (spec.restart, spec.shutdown_ms, spec.name) == (Restart.PERMANENT, 5_000, None)


@pytest.mark.parametrize("actor", [Supervisor, DynamicSupervisor])
def test_s5_a_supervisor_is_given_as_long_as_it_needs(actor):
    assert ChildSpec("a", actor).shutdown_ms is INFINITY
    assert ChildSpec("a", actor, shutdown_ms=100).shutdown_ms == 100


def test_s5_the_defaults_of_a_supervisor():
    options = inspect.signature(Supervisor).parameters
    defaults = [options[name].default for name in ("strategy", "max_restarts", "max_seconds")]
    assert defaults == [Strategy.ONE_FOR_ONE, 3, 5.0]


def stop_and_see(supervisor):
    """Stop a supervisor; give its children's exit reasons, and how long it took in seconds."""
    children, began = refs(supervisor), time.monotonic()
    assert stop_actor(supervisor, shutdown_ms=None).reason is SHUTDOWN
    return {id_: child.exit_reason for id_, child in children.items()}, time.monotonic() - began


def test_s6_only_a_child_that_hangs_uses_up_its_grace_and_is_killed(start):
    log = []
    children = specs(log, "a") + specs(log, "b", actor=Hangs, shutdown_ms=50) + specs(log, "c", actor=NotTrapping)
    reasons, took = stop_and_see(start(Supervisor, children))
    assert reasons == {"a": SHUTDOWN, "b": KILLED, "c": SHUTDOWN}
    assert 0.049 <= took < 1.0
    assert log == ["+a", "+b", "+c", "-b", "-a"]


def test_s6_children_that_obey_take_none_of_their_grace(start):
    log = []
    _, took = stop_and_see(start(Supervisor, specs(log, *"abcdefgh", shutdown_ms=60_000)))
    assert took < 2.0


def test_s7_a_brutal_kill_does_not_let_it_clean_up(start):
    log = []
    reasons, _ = stop_and_see(start(Supervisor, specs(log, "a", shutdown_ms=BRUTAL_KILL)))
    assert reasons == {"a": KILLED}
    assert log == ["+a"]


def test_s8_infinity_waits_without_a_limit(start):
    opened = Event()

    class Slow(Child):
        def terminate(self, reason):
            opened.wait()
            super().terminate(reason)

    log = []
    supervisor = start(Supervisor, specs(log, "a", actor=Slow, shutdown_ms=INFINITY))
    stopping = gevent.spawn(stop_and_see, supervisor)
    stopping.join(0.05)
    assert not stopping.ready()
    opened.set()
    assert stopping.get(timeout=BOUND_S)[0] == {"a": SHUTDOWN}
    assert log == ["+a", "-a"]


@pytest.mark.parametrize("actor", [Child, NotTrapping])
def test_s9_a_child_that_unlinked_itself_is_stopped_as_well(start, actor):
    log = []
    supervisor = start(Supervisor, specs(log, "a", actor=actor))
    refs(supervisor)["a"].ask(lambda me: me.unlink(supervisor))
    assert stop_and_see(supervisor)[0] == {"a": SHUTDOWN}


def test_s10_a_child_that_ends_otherwise_than_asked_is_reported_and_the_others_are_stopped(start, caplog):
    log = []
    supervisor = start(Supervisor, specs(log, "a") + specs(log, "b", actor=FailsToEnd) + specs(log, "c"))
    assert stop_and_see(supervisor)[0] == {"a": SHUTDOWN, "b": ERROR, "c": SHUTDOWN}
    assert log[3:] == ["-c", "-b", "-a"]
    assert "child b ended otherwise than asked: cannot start" in caplog.text


def test_s10_a_child_that_died_just_before_it_was_asked_to_is_no_obstacle(start):
    log = []
    supervisor = start(Supervisor, specs(log, *"abc"))
    for ref in refs(supervisor).values():
        ref.kill()
    assert stop_actor(supervisor, shutdown_ms=None).reason is SHUTDOWN
    assert log == ["+a", "+b", "+c"]


def test_s10_a_child_that_cannot_be_stopped_is_abandoned_and_reported_and_the_others_are_stopped(start, caplog):
    let_go = []

    class Swallows(Child):
        def terminate(self, reason):
            while not let_go:
                with contextlib.suppress(BaseException):
                    Event().wait()

    log = []
    stuck = specs(log, "b", actor=Swallows, shutdown_ms=BRUTAL_KILL)
    supervisor = start(Supervisor, specs(log, "a") + stuck + specs(log, "c"))
    refs(supervisor)["b"].stop(block=False)
    assert stop_and_see(supervisor)[0] == {"a": SHUTDOWN, "b": Abandoned(), "c": SHUTDOWN}
    assert log[3:] == ["-c", "-a"]
    assert "child b ended otherwise than asked: abandoned" in caplog.text
    let_go.append(True)


@pytest.mark.parametrize("actor", [Child, NotTrapping])
def test_s11_a_supervisor_that_is_killed_takes_its_tree_along(start, actor):
    """Three levels deep, dynamic children included; those that trap exits may clean up, and then end."""
    log = []
    inner = ChildSpec("inner", Supervisor, (specs(log, *"ab", actor=actor),))
    outer = start(Supervisor, [inner, ChildSpec("dynamic", DynamicSupervisor), *specs(log, "c", actor=actor)])
    children = refs(outer)
    grandchildren = refs(children["inner"])
    outer.kill()
    assert all(ref.exited.wait(BOUND_S) for ref in [*children.values(), *grandchildren.values()])
    assert {ref.exit_reason for ref in children.values()} == {KILLED}
    assert {ref.exit_reason for ref in grandchildren.values()} == {SHUTDOWN}
    assert sorted(log[3:]) == (["-a", "-b", "-c"] if actor is Child else [])


def test_s13_nothing_is_restarted_during_shutdown(start):
    """A child that is being stopped kills the one before it."""
    log, born = [], {}

    class Murders(Child):
        def on_start(self):
            super().on_start()
            born[self.name] = self.actor_ref

        def terminate(self, reason):
            super().terminate(reason)
            victim = born.get(chr(ord(self.name) - 1))
            if victim is not None:
                victim.kill()
                assert victim.exited.wait(BOUND_S)

    supervisor = start(Supervisor, specs(log, *"abc", actor=Murders))
    supervisor.stop()
    assert log == ["+a", "+b", "+c", "-c", "-a"]
    assert [ref.is_alive() for ref in born.values()] == [False] * 3


def test_s13_a_child_that_dies_with_the_shutdown_under_way_is_not_restarted(start):
    log = []
    supervisor = start(Supervisor, specs(log, *"ab"))
    first = refs(supervisor)["a"]
    supervisor.exit(SHUTDOWN)
    first.kill()
    assert supervisor.exited.wait(BOUND_S)
    assert first.exit_reason is KILLED
    assert log == ["+a", "+b", "-b"]


def test_s19_an_unknown_message_is_logged_and_harms_nothing(start, caplog):
    log = []
    for supervisor in (start(Supervisor, specs(log, "a")), start(DynamicSupervisor)):
        supervisor.tell("what is this")
        assert supervisor.ask({"and": "this"}) is None
        which_children(supervisor)
        assert caplog.text.count(f"{supervisor.actor_urn} got an unknown message") == 2
    assert log == ["+a"]


def test_s19_an_exit_of_a_stranger_is_none_of_its_business(start):
    log = []
    supervisor, stranger = start(Supervisor, specs(log, "a")), start(Child, "stranger", log)
    stranger.ask(lambda me: me.link(supervisor))
    stranger.ask(lambda _: supervisor.exit(Shutdown("why not")))
    stranger.ask(lambda _: supervisor.exit(NORMAL))
    stranger.kill()
    assert stranger.exited.wait(BOUND_S)
    assert refs(supervisor)["a"].is_alive()
