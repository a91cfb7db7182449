"""The kill ladder: signal and grace, kill sent again, abandon. Always within its bound, whatever the code does."""

import threading
import time

import gevent
import pytest
from gevent.event import Event

from taskward.actors import (
    KILLED,
    SHUTDOWN,
    Abandoned,
    Actor,
    ActorDied,
    ActorStartError,
    Down,
    Exit,
    InitTimeout,
    Registry,
    Shutdown,
    StartOptions,
    StopOutcome,
    stop_actor,
    stop_actors,
)

BOUND_S = 5.0


class Doer(Actor):
    def on_receive(self, message):
        return message(self)


class Trapper(Doer):
    trap_exit = True

    def __init__(self, said=None, on_terminate=lambda: None):
        super().__init__()
        self.said = [] if said is None else said
        self._on_terminate = on_terminate

    def terminate(self, reason):
        self.said.append(reason)
        self._on_terminate()

    def on_exit(self, exit_):
        self.said.append(exit_)

    def on_down(self, down):
        self.said.append(down)


class Swallows:
    """A message whose handler swallows what ends others, so many times; `None` = until it is let go."""

    def __init__(self, times=None):
        self.times = times
        self.swallowed = []
        self.let_go = False
        self.entered = Event()

    def __call__(self, _me):
        self.entered.set()
        while not self.let_go and (self.times is None or len(self.swallowed) < self.times):
            try:
                Event().wait()
            except BaseException as error:
                self.swallowed.append(error)
        Event().wait(None if self.times is not None else 0)


def begin(ref, message):
    ref.tell(message)
    assert message.entered.wait(BOUND_S)
    return message


def wait_for_ever():
    Event().wait()


def test_an_actor_that_obeys_is_not_killed(start):
    said = []
    ref = start(Trapper, said)
    assert stop_actor(ref, shutdown_ms=5_000) == StopOutcome(SHUTDOWN, killed=False, abandoned=False)
    assert said == [SHUTDOWN]


def test_the_reason_is_given_along(start):
    reason = Shutdown("cancelled")
    assert stop_actor(start(Doer), shutdown_ms=5_000, reason=reason).reason is reason


def test_a_stopped_actor_may_be_stopped_again(start):
    ref = start(Doer)
    ref.stop()
    assert stop_actor(ref, shutdown_ms=5_000) == StopOutcome(ref.exit_reason, killed=False, abandoned=False)
    assert stop_actors([], shutdown_ms=5_000) == []


def test_whoever_uses_up_its_grace_is_killed(start):
    ref = start(Trapper, on_terminate=wait_for_ever)
    began = time.monotonic()
    assert stop_actor(ref, shutdown_ms=30) == StopOutcome(KILLED, killed=True, abandoned=False)
    assert time.monotonic() - began >= 0.029


def test_without_grace_it_is_killed_at_once_and_does_not_clean_up(start):
    said = []
    ref = start(Trapper, said)
    assert stop_actor(ref, shutdown_ms=0) == StopOutcome(KILLED, killed=True, abandoned=False)
    assert said == []


def test_with_infinite_grace_it_is_waited_for(start):
    opened = Event()
    ref = start(Trapper, on_terminate=opened.wait)
    stopping = gevent.spawn(stop_actor, ref, shutdown_ms=None)
    stopping.join(0.05)
    assert not stopping.ready()
    opened.set()
    assert stopping.get(timeout=BOUND_S).reason is SHUTDOWN


@pytest.mark.parametrize("times", [1, 3])
def test_a_kill_that_is_swallowed_is_sent_again(start, times):
    ref = start(Doer)
    swallows = begin(ref, Swallows(times))
    assert stop_actor(ref, shutdown_ms=0).reason is KILLED
    assert len(swallows.swallowed) == times


def test_one_kill_is_swallowed_and_the_actor_lives_until_the_second(start):
    ref = start(Doer)
    swallows = begin(ref, Swallows(1))
    ref.kill()
    assert not ref.exited.wait(0.02)
    assert len(swallows.swallowed) == 1
    ref.kill()
    assert ref.exited.wait(BOUND_S)
    assert ref.exit_reason is KILLED


def test_an_endless_swallower_is_abandoned_within_the_bound_and_everybody_hears_of_it(start):
    said, registry = [], Registry()
    watcher = start(Trapper, said)
    ref = start(Doer, options=StartOptions(name="one", registry=registry))
    monitor = watcher.ask(lambda me: (me.link(ref), me.monitor(ref))[1])
    swallows = begin(ref, Swallows())
    asked = ref.ask(lambda _: "never", block=False)
    began = time.monotonic()
    assert stop_actor(ref, shutdown_ms=20, kill_after_ms=60) == StopOutcome(Abandoned(), killed=True, abandoned=True)
    assert time.monotonic() - began < 1.0
    assert len(swallows.swallowed) >= 2
    with pytest.raises(ActorDied):
        asked.get(timeout=BOUND_S)
    watcher.ask(lambda _: None)
    assert said == [Exit(ref, Abandoned()), Down(monitor, ref, Abandoned())]
    assert registry.names() == []
    assert not ref.is_alive()
    swallows.let_go = True


def test_the_code_of_an_abandoned_actor_ends_when_it_lets_go_and_handles_nothing_more(start):
    said, code = [], []
    ref = start(Trapper, said)
    ref.ask(lambda _: code.append(gevent.getcurrent()))
    swallows = begin(ref, Swallows())
    ref.tell(lambda _: said.append("handled"))
    assert stop_actor(ref, shutdown_ms=0, kill_after_ms=0).abandoned
    swallows.let_go = True
    code[0].kill(block=False)
    code[0].join(BOUND_S)
    assert code[0].dead
    assert said == []
    assert ref.exit_reason == Abandoned()


def test_whoever_is_linked_to_an_actor_that_it_abandons_follows_it_and_others_still_hear(start):
    """The signal of the link reaches the very actor that abandons; the exit is complete nevertheless."""
    said = []
    watcher, ref, linked = start(Trapper, said), start(Doer), start(Doer)
    watcher.ask(lambda me: me.monitor(ref))
    swallows = begin(ref, Swallows())

    def link_and_abandon(me):
        me.link(ref)
        stop_actor(ref, shutdown_ms=0, kill_after_ms=0)

    linked.tell(link_and_abandon)
    assert ref.exited.wait(BOUND_S)
    assert linked.exited.wait(BOUND_S)
    assert linked.exit_reason == Abandoned()
    watcher.ask(lambda _: None)
    assert [down.reason for down in said] == [Abandoned()]
    swallows.let_go = True


def test_an_initialisation_that_swallows_kills_is_abandoned_and_reported(start, monkeypatch):
    swallows = Swallows()

    class Stuck(Doer):
        init_timeout_ms = 20

        def on_start(self):
            swallows(self)

    with gevent.Timeout(BOUND_S), pytest.raises(ActorStartError) as error:
        Stuck.start()
    assert isinstance(error.value.reason, InitTimeout)
    swallows.let_go = True


def test_many_are_stopped_at_once_on_one_timer(start):
    """Twenty that use up a grace of 50 ms: one after the other they would take a second."""
    obedient = [start(Trapper) for _ in range(20)]
    stubborn = [start(Trapper, on_terminate=wait_for_ever) for _ in range(20)]
    began = time.monotonic()
    outcomes = stop_actors([*obedient, *stubborn], shutdown_ms=50)
    took = time.monotonic() - began
    assert 0.049 <= took < 0.8
    assert [outcome.reason for outcome in outcomes] == [SHUTDOWN] * 20 + [KILLED] * 20


def test_a_finally_that_blocks_is_cut_short_by_the_second_kill(start):
    entered, finished = Event(), []

    def blocks(_me):
        try:
            entered.set()
            wait_for_ever()
        finally:
            wait_for_ever()
            finished.append(True)

    ref = start(Doer)
    ref.tell(blocks)
    assert entered.wait(BOUND_S)
    assert stop_actor(ref, shutdown_ms=0).reason is KILLED
    assert finished == []


@pytest.mark.parametrize("busy", [False, True])
@pytest.mark.parametrize("end", [lambda ref: ref.kill(), lambda ref: ref.exit(KILLED)], ids=["kill", "exit"])
def test_another_os_thread_may_end_an_actor(start, busy, end):
    """The hub would sleep for the whole bound; it is woken."""
    ref, entered, times = start(Doer), Event(), []
    if busy:
        ref.tell(lambda _: (entered.set(), wait_for_ever()))
        assert entered.wait(BOUND_S)
    else:
        ref.ask(lambda _: None)

    def in_a_thread():
        times.append(time.monotonic())
        end(ref)

    thread = threading.Timer(0.02, in_a_thread)
    thread.start()
    assert ref.exited.wait(BOUND_S)
    assert time.monotonic() - times[0] < 0.5
    assert ref.exit_reason is KILLED
    thread.join(BOUND_S)
