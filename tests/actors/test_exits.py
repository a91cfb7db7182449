"""Exits: one reason each, who is ended by which signal, and when an actor may clean up."""

import gc

import gevent
import pytest
from gevent.event import Event

from taskward.actors import KILLED, NORMAL, SHUTDOWN, Actor, Exit, Shutdown, StartOptions, is_abnormal

BOUND_S = 5.0
TURN = 64
BECAUSE = Shutdown("because")
ERROR = ValueError("a crash")


class Doer(Actor):
    """Does what a message says, and writes down how it was asked to clean up."""

    def __init__(self, said=None):
        super().__init__()
        self.said = [] if said is None else said

    def on_receive(self, message):
        return message(self)

    def terminate(self, reason):
        self.said.append(reason)


class Trapper(Doer):
    trap_exit = True

    def __init__(self, said=None):
        super().__init__(said)
        self.exits = []
        self.downs = []

    def on_exit(self, exit_):
        self.exits.append(exit_)

    def on_down(self, down):
        self.downs.append(down)


def ping(_me):
    return "pong"


def crash(_me):
    raise ERROR


def leave(reason):
    return lambda me: me.exit(reason)


WAYS_TO_END = {
    "stop": (lambda ref: ref.stop(), NORMAL),
    "returns_stop": (lambda ref: ref.tell(leave(NORMAL)), NORMAL),
    "leaves_with_a_reason": (lambda ref: ref.tell(leave(BECAUSE)), BECAUSE),
    "leaves_as_a_crash": (lambda ref: ref.tell(leave(ERROR)), ERROR),
    "exit_signal": (lambda ref: ref.exit(SHUTDOWN), SHUTDOWN),
    "exit_signal_with_an_error": (lambda ref: ref.exit(ERROR), ERROR),
    "kill": (lambda ref: ref.kill(), KILLED),
    "crash_in_a_tell": (lambda ref: ref.tell(crash), ERROR),
    "crash_in_an_ask": (lambda ref: ref.ask(crash, block=False), ERROR),
}


@pytest.mark.parametrize("way", WAYS_TO_END)
def test_p1_one_reason_for_everybody(start, way):
    end, reason = WAYS_TO_END[way]
    watcher, ref = start(Trapper), start(Doer)
    watcher.ask(lambda me: (me.link(ref), me.monitor(ref)))
    end(ref)
    assert ref.exited.wait(BOUND_S)
    exits, downs = watcher.ask(lambda me: (me.exits, me.downs))
    assert not ref.is_alive()
    assert ref.exit_reason is reason
    assert [exit_.reason for exit_ in exits] == [down.reason for down in downs] == [reason]
    assert exits[0].ref is downs[0].ref is ref


def test_p1_a_later_exit_does_not_change_the_reason(start):
    ref = start(Doer)
    ref.exit(BECAUSE)
    assert ref.exited.wait(BOUND_S)
    ref.exit(SHUTDOWN)
    ref.kill()
    gevent.sleep(0)
    assert ref.exit_reason is BECAUSE


def test_p1_a_crash_is_logged_with_its_reason(start, caplog):
    ref = start(Doer)
    ref.tell(crash)
    assert ref.exited.wait(BOUND_S)
    assert f"{ref.actor_urn} crashed" in caplog.text
    assert "ValueError: a crash" in caplog.text


def test_p2_normal_from_another_is_dropped(start):
    other, ref = start(Doer), start(Doer)
    other.ask(lambda _: ref.exit(NORMAL))
    ref.exit(NORMAL)
    assert ref.ask(ping) == "pong"


@pytest.mark.parametrize("way", [leave(NORMAL), lambda me: me.actor_ref.exit(NORMAL)], ids=["leave", "signal"])
def test_p3_normal_to_oneself_ends(start, way):
    ref = start(Doer)
    ref.tell(way)
    assert ref.exited.wait(BOUND_S)
    assert ref.exit_reason is NORMAL


def test_p4_a_kill_ends_a_trapper_and_is_seen_as_killed(start):
    watcher, ref = start(Trapper), start(Trapper)
    watcher.ask(lambda me: me.monitor(ref))
    ref.kill()
    assert ref.exited.wait(BOUND_S)
    assert [down.reason for down in watcher.ask(lambda me: me.downs)] == [KILLED]


@pytest.mark.parametrize("reason", [SHUTDOWN, BECAUSE, KILLED, ERROR], ids=str)
def test_p5_a_signal_ends_a_non_trapper_with_its_reason(start, reason):
    other, ref = start(Doer), start(Doer)
    other.ask(lambda _: ref.exit(reason))
    assert ref.exited.wait(BOUND_S)
    assert ref.exit_reason is reason


@pytest.mark.parametrize("reason", [NORMAL, SHUTDOWN, BECAUSE, KILLED, ERROR], ids=str)
def test_p6_a_trapper_hears_of_a_signal_and_lives(start, reason):
    other, ref = start(Doer), start(Trapper)
    other.ask(lambda _: ref.exit(reason))
    assert ref.ask(lambda me: me.exits) == [Exit(other, reason)]


@pytest.mark.parametrize("end", [lambda ref: ref.kill(), lambda ref: ref.tell(leave(KILLED))], ids=["kill", "leave"])
def test_p7_the_kill_of_a_linked_peer_is_an_ordinary_signal(start, end):
    peer, trapper, other = start(Doer), start(Trapper), start(Doer)
    trapper.ask(lambda me: me.link(peer))
    other.ask(lambda me: me.link(peer))
    end(peer)
    assert other.exited.wait(BOUND_S)
    assert other.exit_reason is KILLED
    assert trapper.ask(lambda me: me.exits) == [Exit(peer, KILLED)]


def test_p8_a_linked_peer_that_ends_normally_takes_nobody_along(start):
    peer, trapper, other = start(Doer), start(Trapper), start(Doer)
    trapper.ask(lambda me: me.link(peer))
    other.ask(lambda me: me.link(peer))
    peer.stop()
    assert trapper.ask(lambda me: me.exits) == [Exit(peer, NORMAL)]
    assert other.ask(ping) == "pong"


def test_p18_an_exit_signal_does_not_wait_for_the_current_message_nor_those_behind_it(start):
    ref, inside, handled = start(Doer), Event(), []
    ref.tell(lambda _: (inside.set(), Event().wait()))
    assert inside.wait(BOUND_S)
    for _ in range(1_000):
        ref.tell(handled.append)
    ref.exit(SHUTDOWN)
    assert ref.exited.wait(BOUND_S)
    assert handled == []


def test_p18_an_exit_signal_overtakes_all_but_one_turn_of_waiting_messages(start):
    ref, handled = start(Doer), []
    for _ in range(1_000):
        ref.tell(handled.append)
    ref.exit(SHUTDOWN)
    assert ref.exited.wait(BOUND_S)
    assert len(handled) <= TURN


@pytest.mark.parametrize("child_class", [Doer, Trapper])
@pytest.mark.parametrize("reason", [NORMAL, SHUTDOWN, BECAUSE, ERROR], ids=str)
def test_p19_a_parents_end_ends_a_child_that_traps_exits(start, child_class, reason):
    """One that does not trap follows as any linked actor does: not after a normal end (P8)."""
    said = []
    parent = start(Doer)
    child = start(child_class, said, options=StartOptions(link_to=parent))
    parent.tell(leave(reason))
    assert parent.exited.wait(BOUND_S)
    if child_class is Doer and reason is NORMAL:
        assert child.ask(ping) == "pong"
        return
    assert child.exited.wait(BOUND_S)
    assert child.exit_reason is reason
    assert said == ([reason] if child_class is Trapper else [])


CLEANS_UP = {
    "stop": (lambda ref, _: ref.stop(), True, True),
    "crash": (lambda ref, _: ref.tell(crash), True, True),
    "leaves": (lambda ref, _: ref.tell(leave(BECAUSE)), True, True),
    "shutdown_by_its_parent": (lambda ref, parent: parent.ask(lambda _: ref.exit(SHUTDOWN)), True, False),
    "shutdown_from_outside": (lambda ref, _: ref.exit(SHUTDOWN), True, False),
    "kill": (lambda ref, _: ref.kill(), False, False),
}


@pytest.mark.parametrize("trap_exit", [True, False])
@pytest.mark.parametrize("way", CLEANS_UP)
def test_p22_terminate_is_called_on_stop_crash_and_trapped_shutdown_never_on_a_kill(start, way, trap_exit):
    end, if_trapping, if_not = CLEANS_UP[way]
    parent, said = start(Trapper), []
    ref = start(Trapper if trap_exit else Doer, said, options=StartOptions(link_to=parent))
    end(ref, parent)
    assert ref.exited.wait(BOUND_S)
    assert said == ([ref.exit_reason] if (if_trapping if trap_exit else if_not) else [])


def test_p22_a_kill_during_terminate_cuts_it_short(start):
    inside, outside = Event(), []

    class Lingers(Doer):
        def terminate(self, reason):
            inside.set()
            Event().wait()
            outside.append(reason)

    ref = start(Lingers)
    ref.stop(block=False)
    assert inside.wait(BOUND_S)
    ref.kill()
    assert ref.exited.wait(BOUND_S)
    assert ref.exit_reason is KILLED
    assert outside == []


def test_p22_a_failing_terminate_becomes_the_reason_of_an_orderly_end(start):
    class Fails(Doer):
        def terminate(self, reason):
            raise ERROR

    ref = start(Fails)
    ref.stop()
    assert ref.exit_reason is ERROR


def test_p1_an_actor_lives_on_when_nobody_holds_its_ref():
    """Being forgotten is not a way to end: what an idle actor was told to hold, it holds."""
    said = []
    Doer.start(said)
    gc.collect()
    gevent.sleep(0)
    assert said == []


@pytest.mark.parametrize(
    ("reason", "abnormal"), [(NORMAL, False), (SHUTDOWN, False), (BECAUSE, False), (KILLED, True), (ERROR, True)]
)
def test_p1_abnormal_is_all_but_normal_and_shutdown(reason, abnormal):
    assert is_abnormal(reason) is abnormal
