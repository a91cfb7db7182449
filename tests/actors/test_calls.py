"""Calls and casts: every asker gets an answer or an error, at once if there is nobody to answer."""

import inspect
import threading
import time
import traceback

import gevent
import pytest
from gevent.event import Event

from taskward.actors import (
    NO_REPLY,
    NORMAL,
    SHUTDOWN,
    Actor,
    ActorDeadError,
    ActorDied,
    ActorRef,
    ActorStartError,
    CallTimeout,
    DeadlockError,
    NamedRef,
    NoProc,
    Registry,
    Shutdown,
    StartOptions,
)

BOUND_S = 5.0
AT_ONCE_S = 1.0
WOKEN_S = 0.5  # far below the bound, far above what waking takes
ERROR = ValueError("a crash")


class Doer(Actor):
    def on_receive(self, message):
        return message(self)


class Gate:
    """A message that keeps its actor busy, from `entered` until the test opens it."""

    def __init__(self, then=lambda me: "done"):
        self.entered = Event()
        self.opened = Event()
        self.left = Event()
        self._then = then

    def __call__(self, me):
        self.entered.set()
        assert self.opened.wait(BOUND_S)
        self.left.set()
        return self._then(me)


def crash(_me):
    raise ERROR


@pytest.fixture
def ref(start):
    return start(Doer)


@pytest.fixture
def busy(ref):
    """Make the actor busy with a gate."""

    def busy(then=lambda me: "done"):
        gate = Gate(then)
        ref.tell(gate)
        assert gate.entered.wait(BOUND_S)
        return gate

    return busy


def test_c1_a_call_waits_five_seconds_unless_told_otherwise():
    for call in (ActorRef.ask, NamedRef.ask):
        assert inspect.signature(call).parameters["timeout"].default == 5.0


def test_c1_a_timeout_harms_only_the_call_and_begun_work_is_finished(ref):
    gate = Gate()
    with pytest.raises(CallTimeout):
        ref.ask(gate, timeout=0.02)
    gate.opened.set()
    assert gate.left.wait(BOUND_S)
    assert ref.ask(lambda _: "alive") == "alive"


def test_c2_a_late_answer_reaches_nobody(start, ref):
    caller, gate, got = start(Doer), Gate(), []

    def call_and_give_up(_me):
        with pytest.raises(CallTimeout):
            ref.ask(gate, timeout=0.02)

    caller.ask(call_and_give_up)
    gate.opened.set()
    assert gate.left.wait(BOUND_S)
    ref.ask(lambda _: None)
    assert caller.mailbox_length == 0
    assert caller.ask(lambda _: got) == []


def test_c3_a_call_to_the_dead_fails_at_once(ref):
    ref.stop()
    with gevent.Timeout(AT_ONCE_S), pytest.raises(NoProc):
        ref.ask(crash, timeout=None)
    with pytest.raises(NoProc):
        ref.tell(crash)


def test_c3_a_call_to_a_name_that_nobody_has_fails_at_once():
    nobody = NamedRef(Registry(), "nobody")
    with gevent.Timeout(AT_ONCE_S), pytest.raises(NoProc, match="nobody"):
        nobody.ask("hello", timeout=None)
    with pytest.raises(NoProc):
        nobody.tell("hello")


@pytest.mark.parametrize("ending", [ERROR, SystemExit(3), SHUTDOWN], ids=repr)
def test_c4_a_crash_fails_its_caller_and_all_queued_ones_at_once(ref, ending):
    gate = Gate(lambda me: me.exit(ending))
    first = ref.ask(gate, block=False)
    assert gate.entered.wait(BOUND_S)
    queued = [ref.ask(lambda _: "never", block=False) for _ in range(100)]
    gate.opened.set()
    for future in [first, *queued]:
        with pytest.raises(ActorDied) as died:
            future.get(timeout=AT_ONCE_S)
        assert died.value.reason is ending
        assert died.value.__cause__ is (ending if isinstance(ending, BaseException) else None)


def test_c4_a_killed_actor_fails_its_callers_at_once(ref, busy):
    busy()
    queued = [ref.ask(lambda _: "never", block=False) for _ in range(100)]
    ref.kill()
    for future in queued:
        with pytest.raises(ActorDied):
            future.get(timeout=AT_ONCE_S)


def test_c4_the_error_shows_the_frames_of_the_crash(ref):
    with pytest.raises(ActorDied) as died:
        ref.ask(crash)
    assert traceback.extract_tb(died.value.__cause__.__traceback__)[-1].name == "crash"


@pytest.mark.parametrize(
    "call",
    [lambda ref: ref.ask(crash, timeout=None), lambda ref: ref.stop(), lambda ref: ref.stop(timeout=BOUND_S)],
    ids=["ask", "stop", "stop_in_time"],
)
def test_c5_a_call_to_oneself_fails_at_once(ref, call):
    def call_oneself(me):
        with gevent.Timeout(AT_ONCE_S), pytest.raises(DeadlockError):
            call(me.actor_ref)
        return "alive"

    assert ref.ask(call_oneself) == "alive"


def test_c5_to_ask_oneself_without_waiting_is_allowed(ref):
    future = ref.ask(lambda me: me.actor_ref.ask(lambda _: "later", block=False))
    assert future.get(timeout=BOUND_S) == "later"


def test_c6_a_cast_to_the_dead_is_dropped(ref):
    ref.stop()
    ref.cast(crash)
    NamedRef(Registry(), "nobody").cast(crash)


def test_c7_what_is_queued_behind_a_crash_is_lost(start):
    registry, handled = Registry(), []
    options = StartOptions(name="one", registry=registry)
    first, named = start(Doer, options=options), NamedRef(registry, "one")
    gate = Gate(crash)
    first.tell(gate)
    assert gate.entered.wait(BOUND_S)
    for _ in range(10):
        named.tell(handled.append)
    gate.opened.set()
    assert first.exited.wait(BOUND_S)
    start(Doer, options=options)
    assert named.ask(lambda _: "new one") == "new one"
    assert handled == []


def test_c8_an_unknown_message_is_logged_and_survived(start, caplog):
    ref = start(Actor)
    ref.tell("what is this")
    assert ref.ask("and this") is None
    assert "what is this" in caplog.text
    assert "and this" in caplog.text


def test_c11_a_call_that_expired_while_it_waited_is_not_executed(ref, busy):
    gate, executed = busy(), []
    with pytest.raises(CallTimeout):
        ref.ask(executed.append, timeout=0.02)
    gate.opened.set()
    assert ref.ask(lambda _: "next") == "next"
    assert executed == []


def test_c11_whoever_holds_the_future_of_an_expired_call_hears_of_it(ref, busy):
    gate = busy()
    future = ref.ask(lambda _: "never", block=False, timeout=0.0)
    gate.opened.set()
    with gevent.Timeout(AT_ONCE_S), pytest.raises(CallTimeout):
        future.get()


def test_c11_a_call_without_a_deadline_is_executed_however_late(ref, busy):
    gate = busy()
    future = ref.ask(lambda _: "late", block=False, timeout=None)
    gate.opened.set()
    assert future.get(timeout=BOUND_S) == "late"


def test_c12_a_ring_of_three_is_refused_at_the_closing_call(start):
    first, second, third = (start(Doer) for _ in range(3))
    closed = []

    def close(_me):
        with gevent.Timeout(AT_ONCE_S), pytest.raises(DeadlockError) as refused:
            first.ask(lambda _: "never", timeout=None)
        closed.append(refused.value)
        return "refused"

    assert first.ask(lambda _: second.ask(lambda _: third.ask(close))) == "refused"
    assert len(closed) == 1
    assert first.ask(lambda _: third.ask(lambda _: "free again")) == "free again"


def test_c12_to_stop_whoever_waits_for_me_is_refused(start):
    first, second = start(Doer), start(Doer)

    def stop_first(_me):
        with gevent.Timeout(AT_ONCE_S), pytest.raises(DeadlockError):
            first.stop()
        return "refused"

    assert first.ask(lambda _: second.ask(stop_first)) == "refused"


def test_c12_a_child_that_asks_its_waiting_parent_in_on_start_is_refused(start):
    class Asks(Actor):
        def __init__(self, parent):
            super().__init__()
            self.parent = parent

        def on_start(self):
            self.parent.ask(lambda _: "never", timeout=None)

    def give_birth(me):
        with pytest.raises(ActorStartError) as error:
            Asks.start(me.actor_ref)
        return error.value.reason

    assert isinstance(start(Doer).ask(give_birth), DeadlockError)


def test_c12_a_chain_without_a_ring_is_none(start):
    chain = [start(Doer) for _ in range(5)]

    def ask_next(rest):
        return lambda _: rest[0].ask(ask_next(rest[1:])) if rest else "the end"

    assert chain[0].ask(ask_next(chain[1:])) == "the end"


def test_c13_an_answer_may_come_later_and_comes_once(ref):
    owed = []

    def later(me):
        owed.append(me.sender())
        return NO_REPLY

    future = ref.ask(later, block=False)
    assert ref.ask(lambda _: "meanwhile") == "meanwhile"
    ref.ask(lambda _: (owed[0].reply("first"), owed[0].reply("second")))
    assert future.get(timeout=BOUND_S) == "first"


def test_c13_an_early_answer_beats_the_returned_one(ref):
    assert ref.ask(lambda me: me.sender().reply("early") or "returned") == "early"


def test_c13_nobody_is_answered_after_a_tell(ref):
    ref.ask(lambda _: "before")
    senders = []
    ref.tell(lambda me: senders.append(me.sender()))
    ref.ask(lambda _: None)
    assert senders == [None]


def test_c13_whoever_is_owed_an_answer_hears_of_the_end(ref):
    owed = []
    future = ref.ask(lambda me: owed.append(me.sender()) or NO_REPLY, block=False)
    ref.ask(lambda _: None)
    ref.exit(SHUTDOWN)
    with pytest.raises(ActorDied):
        future.get(timeout=AT_ONCE_S)
    owed[0].reply("too late")


def test_c14_a_stop_is_answered_first_then_all_others_fail_with_its_reason(ref, busy):
    gate, order = busy(), []

    def call(name, message):
        try:
            order.append((name, message()))
        except ActorDied as died:
            order.append((name, died.reason))

    stopping = ref.stop(block=False)
    waiting = [gevent.spawn(call, "asker", lambda: ref.ask(lambda _: "never")) for _ in range(3)]
    waiting.append(gevent.spawn(call, "stopper", stopping.get))
    gevent.sleep(0)
    gate.opened.set()
    gevent.joinall(waiting, timeout=BOUND_S, raise_error=True)
    assert order == [("stopper", True)] + [("asker", NORMAL)] * 3


def test_c14_a_hundred_stops_of_one_actor_all_return(ref):
    stops = [gevent.spawn(ref.stop) for _ in range(100)]
    gevent.joinall(stops, timeout=BOUND_S, raise_error=True)
    assert [stop.value for stop in stops] == [True] * 100
    assert ref.stop() is False


def test_c14_a_stop_does_not_expire_however_long_it_waits(ref, busy, monkeypatch):
    """A call has a deadline, a stop has none: what was asked to stop stops."""
    gate, monotonic = busy(), time.monotonic
    stopped = ref.stop(block=False)
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + 3_600.0)
    gate.opened.set()
    assert stopped.get(timeout=BOUND_S)
    assert ref.exit_reason is NORMAL


@pytest.mark.parametrize("send", ["tell", "ask"])
def test_c15_a_message_of_another_os_thread_wakes_the_actor(ref, send):
    """The hub would sleep for the whole bound; only being woken gets the message handled early in it."""
    times, handled = [], Event()

    def handle(_me):
        times.append(time.monotonic())
        handled.set()

    def in_a_thread():
        times.append(time.monotonic())
        getattr(ref, send)(handle)

    ref.ask(lambda _: None)
    thread = threading.Timer(0.02, in_a_thread)
    thread.start()
    assert handled.wait(BOUND_S)
    thread.join(BOUND_S)
    assert times[1] - times[0] < WOKEN_S


def test_c15_many_threads_may_ask_at_once(ref):
    answers = []
    threads = [
        threading.Thread(target=lambda n=n: answers.extend(ref.ask(lambda _, n=n: n) for _ in range(20)))
        for n in range(5)
    ]
    for thread in threads:
        thread.start()
    pool = gevent.get_hub().threadpool
    for thread in threads:
        pool.apply(thread.join, (BOUND_S,))
    assert sorted(answers) == sorted(list(range(5)) * 20)


def test_c15_a_thread_that_asks_a_dying_actor_hears_of_it(ref, busy):
    gate = busy(crash)

    def in_a_thread():
        with pytest.raises(ActorDeadError):
            ref.ask(lambda _: "never")
        return "heard"

    asking = gevent.get_hub().threadpool.spawn(in_a_thread)
    gevent.sleep(0)
    gate.opened.set()
    assert asking.get(timeout=BOUND_S) == "heard"


def test_an_ask_that_races_a_stop_never_hangs(start):
    """Each ask is answered or fails; the order of ask and stop is drawn anew each round."""

    def ask(ref):
        try:
            return ref.ask(lambda _: "answered")
        except ActorDeadError:
            return "failed"

    for turns_before_the_stop in range(40):
        ref = start(Doer)
        asking = [gevent.spawn(ask, ref) for _ in range(10)]
        for _ in range(turns_before_the_stop % 8):
            gevent.sleep(0)
        end = [ref.stop, ref.kill, lambda ref=ref: ref.exit(Shutdown("race"))][turns_before_the_stop % 3]
        end()
        asking += [gevent.spawn(ask, ref) for _ in range(10)]
        gevent.joinall(asking, timeout=BOUND_S, raise_error=True)
        assert {call.value for call in asking} <= {"answered", "failed"}
