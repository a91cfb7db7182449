"""Futures: set once, for any number of waiters, on the hub and on other threads, without mistaking whose time is up."""

import queue
import random

import gevent
import pykka
import pytest

from taskward.actors import NO_REPLY, Actor, ActorDied, CallTimeout

BOUND_S = 5.0


class Owes(Actor):
    """Answers when it is told to."""

    def __init__(self):
        super().__init__()
        self._owed = []

    def on_receive(self, message):
        if message == "ask":
            self._owed.append(self.sender())
            return NO_REPLY
        if message == "crash":
            raise ValueError(message)
        for sender in self._owed:
            sender.reply(message)
        return None


@pytest.fixture
def ref(start):
    return start(Owes)


def wait_for(future, timeout):
    try:
        return future.get(timeout=timeout)
    except CallTimeout:
        return "late"


@pytest.mark.parametrize("delay_s", [0.0, 0.001, 0.005])
def test_a_hundred_greenlets_wait_for_one_future_with_and_without_limits(ref, delay_s):
    """Some of their limits run out while it is set; each gets the answer or its own timeout, and none waits on."""
    future = ref.ask("ask", block=False)
    chance = random.Random(delay_s)
    limits = [None if n % 2 else chance.uniform(0.0, 0.01) for n in range(100)]
    waiting = [gevent.spawn(wait_for, future, limit) for limit in limits]
    gevent.sleep(delay_s)
    ref.tell("answer")
    gevent.joinall(waiting, timeout=BOUND_S, raise_error=True)
    for limit, waiter in zip(limits, waiting, strict=True):
        assert waiter.value == "answer" or (limit is not None and waiter.value == "late")
    assert future.get(timeout=0) == "answer"


def test_greenlets_that_are_killed_while_they_wait_harm_no_other(ref):
    future = ref.ask("ask", block=False)
    waiting = [gevent.spawn(wait_for, future, BOUND_S) for _ in range(20)]
    gevent.sleep(0)
    ref.tell("answer")
    gevent.killall(waiting[::2], block=False)
    gevent.joinall(waiting, timeout=BOUND_S)
    assert [waiter.value for waiter in waiting[1::2]] == ["answer"] * 10
    assert all(waiter.ready() for waiter in waiting)


def test_a_future_is_got_again_with_the_same_outcome(ref):
    future = ref.ask("ask", block=False)
    ref.tell("answer")
    assert [future.get(timeout=BOUND_S) for _ in range(3)] == ["answer"] * 3
    doomed = ref.ask("ask", block=False)
    ref.tell("crash")
    for _ in range(3):
        with pytest.raises(ActorDied):
            doomed.get(timeout=BOUND_S)


def test_a_future_is_set_once(ref):
    future = ref.ask("ask", block=False)
    ref.tell("answer")
    future.get(timeout=BOUND_S)
    for set_again in (future.set, future.set_exception, lambda: future.set_get_hook(lambda _: "hook")):
        with pytest.raises(queue.Full):
            set_again()
    assert future.get(timeout=BOUND_S) == "answer"


def test_its_own_time_limit_is_not_the_one_of_somebody_else(ref):
    """A foreign `gevent.Timeout` passes through as itself; ours is a `CallTimeout`."""
    foreign = gevent.Timeout(0.01)
    with pytest.raises(gevent.Timeout) as raised, foreign:
        ref.ask("ask", timeout=BOUND_S)
    assert raised.value is foreign
    with gevent.Timeout(BOUND_S), pytest.raises(CallTimeout):
        ref.ask("ask", timeout=0.01)


def test_a_time_limit_of_zero_looks_and_does_not_wait(ref):
    future = ref.ask("ask", block=False)
    with pytest.raises(CallTimeout):
        future.get(timeout=0)


@pytest.mark.parametrize("outcome", ["answer", "crash"])
def test_threads_and_greenlets_may_wait_for_one_future(ref, outcome):
    future = ref.ask("ask", block=False)
    pool = gevent.get_hub().threadpool

    def wait():
        try:
            return future.get(timeout=BOUND_S)
        except ActorDied as died:
            return str(died.reason)

    waiting = [pool.spawn(wait) for _ in range(3)] + [gevent.spawn(wait) for _ in range(3)]
    gevent.sleep(0.005)
    ref.tell(outcome)
    assert [waiter.get(timeout=BOUND_S) for waiter in waiting] == [outcome] * 6


def test_a_thread_waits_no_longer_than_it_said(ref):
    future = ref.ask("ask", block=False)
    assert gevent.get_hub().threadpool.apply(wait_for, (future, 0.01)) == "late"
    ref.tell("answer")
    assert gevent.get_hub().threadpool.apply(wait_for, (future, BOUND_S)) == "answer"


def test_the_hub_itself_is_refused(ref):
    future, outcome = ref.ask("ask", block=False), []

    def in_the_hub():
        try:
            future.get()
        except RuntimeError as error:
            outcome.append(str(error))

    gevent.get_hub().loop.run_callback(in_the_hub)
    gevent.sleep(0.001)
    assert "must not wait" in outcome[0]


def test_pykkas_combinators_work(ref):
    futures = [ref.ask("ask", block=False) for _ in range(3)]
    ref.tell(2)
    assert pykka.get_all(futures, timeout=BOUND_S) == [2, 2, 2]
    assert futures[0].map(lambda value: value + 1).get(timeout=BOUND_S) == 3
    assert futures[0].join(*futures[1:]).get(timeout=BOUND_S) == [2, 2, 2]
    assert futures[0].map(lambda value: [value, 3]).filter(lambda value: value > 2).get(timeout=BOUND_S) == [3]


def test_pykkas_proxies_work(start):
    class Counter(Actor):
        total = 0

        def add(self, number):
            self.total += number
            return self.total

    counter = start(Counter).proxy()
    assert [counter.add(n).get(timeout=BOUND_S) for n in (1, 2)] == [1, 3]
    assert counter.total.get(timeout=BOUND_S) == 3
    counter.total = 7
    assert counter.total.get(timeout=BOUND_S) == 7
    assert counter.stop().get(timeout=BOUND_S) is None
