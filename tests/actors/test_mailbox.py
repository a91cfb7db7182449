"""The mailbox: in order, one at a time, bounded for messages, open for control signals, fair to all others."""

import itertools

import gevent
import pytest
from gevent.event import Event

from taskward.actors import NORMAL, SHUTDOWN, Actor, CallTimeout, Exit, MailboxFull

BOUND_S = 5.0
LIMIT = 10
TURN = 64


class Doer(Actor):
    def on_receive(self, message):
        return message(self)


class Small(Doer):
    mailbox_limit = LIMIT


class SmallTrapper(Small):
    trap_exit = True

    def __init__(self, heard):
        super().__init__()
        self.heard = heard

    def on_exit(self, exit_):
        self.heard.append(exit_)

    def on_down(self, down):
        self.heard.append(down)


class Gate:
    """A message that keeps its actor busy, from `entered` until the test opens it."""

    def __init__(self, then):
        self.entered = Event()
        self.opened = Event()
        self._then = then

    def __call__(self, me):
        self.entered.set()
        assert self.opened.wait(BOUND_S)
        self._then(me)


def close_gate(ref, then=lambda me: None):
    gate = Gate(then)
    ref.tell(gate)
    assert gate.entered.wait(BOUND_S)
    return gate


def test_c9_messages_are_handled_in_order(start):
    ref, got = start(Doer), []
    for n in range(300):
        send = ref.tell if n % 2 else ref.cast
        send(lambda _, n=n: got.append(n))
    assert ref.ask(lambda _: list(got)) == list(range(300))


def test_c9_one_message_at_a_time(start):
    ref, inside, most = start(Doer), [], []

    def linger(_me):
        inside.append(1)
        most.append(len(inside))
        gevent.sleep(0)
        inside.pop()

    for _ in range(20):
        ref.tell(linger)
    ref.ask(linger)
    assert most == [1] * 21


def test_c10_a_full_mailbox_refuses_at_the_sender(start):
    ref = start(Small)
    gate, handled = close_gate(ref), []
    for n in range(LIMIT):
        ref.tell(lambda _, n=n: handled.append(n))
    assert ref.mailbox_length == LIMIT
    for send in (ref.tell, ref.cast, ref.ask):
        with pytest.raises(MailboxFull):
            send(lambda _: handled.append("refused"))
    gate.opened.set()
    assert ref.stop()
    assert handled == list(range(LIMIT))


def test_c10_there_is_room_again_once_messages_were_handled(start):
    ref = start(Small)
    gate = close_gate(ref)
    for _ in range(LIMIT - 1):
        ref.tell(lambda _: None)
    last = ref.ask(lambda _: "handled", block=False)
    gate.opened.set()
    assert last.get(timeout=BOUND_S) == "handled"
    assert ref.mailbox_length == 0
    ref.tell(lambda _: None)


def test_c10_control_signals_pass_a_full_mailbox_and_overtake_it(start):
    heard, peer = [], start(Doer)
    ref = start(SmallTrapper, heard)
    ref.ask(lambda me: me.monitor(peer))
    gate = close_gate(ref)
    for n in range(LIMIT):
        ref.tell(lambda _, n=n: heard.append(n))
    peer.ask(lambda _: [ref.exit(SHUTDOWN) for _ in range(LIMIT)])
    assert peer.stop()
    gate.opened.set()
    assert ref.stop()
    assert heard[:LIMIT] == [Exit(peer, SHUTDOWN)] * LIMIT
    assert heard[LIMIT].ref is peer
    assert heard[LIMIT + 1 :] == list(range(LIMIT))


@pytest.mark.parametrize("by_itself", [False, True])
def test_c10_a_full_mailbox_can_be_stopped(start, by_itself):
    ref = start(Small)
    gate, handled = close_gate(ref, then=lambda me: me.stop() if by_itself else None), []
    for n in range(LIMIT):
        ref.tell(lambda _, n=n: handled.append(n))
    if not by_itself:
        ref.stop(block=False)
    gate.opened.set()
    assert ref.exited.wait(BOUND_S)
    assert handled == list(range(LIMIT))


def test_c10_a_thread_that_overfills_a_mailbox_hears_of_it(start):
    """At once, or by the answer, if the thread had sent it before the hub took those before it."""
    ref = start(Small)
    gate = close_gate(ref)

    def overfill():
        with pytest.raises(MailboxFull):
            [ref.ask(lambda _: None, block=False) for _ in range(LIMIT + 1)][-1].get(timeout=BOUND_S)
        return "heard"

    assert gevent.get_hub().threadpool.apply(overfill) == "heard"
    gate.opened.set()
    assert ref.stop()


def test_others_get_their_turn_while_an_actor_drains_its_mailbox(start):
    """A greenlet that is always ready runs about once for every 64 messages; never less."""
    ref, handled, seen = start(Doer), [], []
    gate, total = close_gate(ref), 10_000
    for _ in range(total - 1):
        ref.tell(lambda _: handled.append(1))

    def look_on():
        while len(handled) < total - 1:
            seen.append(len(handled))
            gevent.sleep(0)

    gate.opened.set()
    looking = gevent.spawn(look_on)
    looking.join(BOUND_S)
    assert looking.successful()
    steps = [after - before for before, after in itertools.pairwise(seen)]
    assert 0 < max(steps) <= TURN
    assert len(seen) >= total // TURN


def test_a_timer_is_served_while_an_actor_keeps_itself_busy(start):
    """An actor that always has a message waiting does not keep the hub from its timers."""
    ref, enough = start(Doer), []

    def go_on(me):
        if not enough:
            me.actor_ref.tell(go_on)

    ref.tell(go_on)
    gevent.sleep(0.01)
    enough.append(True)
    assert ref.ask(lambda _: "done") == "done"


class Batches(Doer):
    """Handles messages that are not to be called in batches, and answers each."""

    def __init__(self):
        super().__init__()
        self.batches = []

    def on_receive(self, message):
        if callable(message):
            return message(self)
        batch = [(message, self.sender()), *self.drain(3)]
        self.batches.append([taken for taken, _ in batch])
        for taken, sender in batch:
            if sender is not None:
                sender.reply(f"answer to {taken}")
        return "ignored, for it was answered"

    def terminate(self, reason):
        self.batches.append(reason)


def test_drain_takes_what_waits_up_to_its_limit_and_nothing_behind_a_stop(start):
    ref = start(Batches)
    batches = ref.ask(lambda me: me.batches)
    gate = close_gate(ref)
    for n in range(6):
        ref.tell(n)
    ref.stop(block=False)
    ref.tell("too late")
    gate.opened.set()
    assert ref.exited.wait(BOUND_S)
    assert batches == [[0, 1, 2, 3], [4, 5], NORMAL]


def test_c11_drained_calls_are_answered_once_and_expired_ones_are_not_executed(start):
    ref = start(Batches)
    gate = close_gate(ref)
    asked = [ref.ask(name, block=False) for name in "ab"]
    expired = ref.ask("expired", block=False, timeout=0.0)
    asked.append(ref.ask("c", block=False))
    gate.opened.set()
    assert [future.get(timeout=BOUND_S) for future in asked] == [f"answer to {name}" for name in "abc"]
    with pytest.raises(CallTimeout):
        expired.get(timeout=BOUND_S)
    assert ref.ask(lambda me: me.batches) == [["a", "b", "c"]]
