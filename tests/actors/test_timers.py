"""Timers: a message to oneself, not early, in order, and never after the actor."""

import gc
import time

import gevent
import pytest
from gevent.event import Event

from taskward.actors import Actor

BOUND_S = 5.0


class Keeps(Actor):
    """Keeps what it gets, and says so."""

    def __init__(self, got, expected=1):
        super().__init__()
        self.got = got
        self.complete = Event()
        self._expected = expected

    def on_receive(self, message):
        if callable(message):
            return message(self)
        self.got.append(message)
        if len(self.got) == self._expected:
            self.complete.set()
        return None


def complete(ref):
    assert ref.ask(lambda me: me.complete).wait(BOUND_S)


def test_a_timer_is_not_early(start):
    ref, times = start(Keeps, []), []
    ref.ask(lambda me: (times.append(time.monotonic()), me.send_after(30, "now")))
    complete(ref)
    assert time.monotonic() - times[0] >= 0.029


def test_timers_come_by_their_times(start):
    got = []
    ref = start(Keeps, got, 3)
    ref.ask(lambda me: [me.send_after(delay_ms, delay_ms) for delay_ms in (40, 20, 0)])
    complete(ref)
    assert got == [0, 20, 40]


def test_a_cancelled_timer_does_not_come(start):
    got = []
    ref = start(Keeps, got)

    def set_and_cancel(me):
        timer = me.send_after(0, "cancelled")
        timer.cancel()
        timer.cancel()
        me.send_after(5, "other")

    ref.ask(set_and_cancel)
    complete(ref)
    assert got == ["other"]


def test_to_cancel_a_timer_that_has_come_does_nothing(start):
    got = []
    ref = start(Keeps, got)
    timer = ref.ask(lambda me: me.send_after(0, "came"))
    complete(ref)
    timer.cancel()
    assert ref.ask(lambda me: me.got) == ["came"]


def test_a_message_whose_time_has_come_overtakes_those_that_wait(start):
    got = []
    ref = start(Keeps, got, 11)

    def fill_the_mailbox(me):
        me.send_after(0, "its time has come")
        for n in range(10):
            me.actor_ref.tell(n)
        gevent.sleep(0.01)

    ref.ask(fill_the_mailbox)
    complete(ref)
    assert got == ["its time has come", *range(10)]


def test_a_timer_passes_a_full_mailbox(start):
    class Small(Keeps):
        mailbox_limit = 2

    got = []
    ref = start(Small, got, 3)
    got_all = ref.ask(lambda me: me.complete)

    def fill_the_mailbox(me):
        me.actor_ref.tell("first")
        me.actor_ref.tell("second")
        me.send_after(0, "timer")
        gevent.sleep(0.01)

    ref.ask(fill_the_mailbox)
    assert got_all.wait(BOUND_S)
    assert got == ["timer", "first", "second"]


@pytest.mark.parametrize("end", [lambda ref: ref.stop(), lambda ref: ref.kill()], ids=["stop", "kill"])
def test_timers_die_with_their_actor(start, end):
    got = []
    ref = start(Keeps, got)
    ref.ask(lambda me: [me.send_after(5, "too late") for _ in range(100)])
    end(ref)
    assert ref.exited.wait(BOUND_S)
    gevent.sleep(0.02)
    assert got == []
    assert ref.cell.timers == set()


def test_a_timer_set_by_a_dying_actor_does_not_come(start):
    class Dying(Keeps):
        def terminate(self, reason):
            self.send_after(0, "too late")

    got = []
    ref = start(Dying, got)
    ref.stop()
    gc.collect()
    gevent.sleep(0.01)
    assert got == []
