"""Links share a fate, monitors only report one; each signal comes once, in order, or not at all."""

import contextlib

import pytest
from gevent.event import Event

from taskward.actors import (
    KILLED,
    NOPROC,
    NORMAL,
    SHUTDOWN,
    Actor,
    ActorStartError,
    Down,
    Exit,
    NoProc,
    Registry,
    StartOptions,
)

BOUND_S = 5.0
ERROR = ValueError("a crash")


class Doer(Actor):
    def on_receive(self, message):
        return message(self)


class Witness(Doer):
    """Traps exits and writes down what it hears."""

    trap_exit = True

    def __init__(self):
        super().__init__()
        self.heard = []

    def on_exit(self, exit_):
        self.heard.append(exit_)

    def on_down(self, down):
        self.heard.append(down)


def heard(witness):
    return witness.ask(lambda me: list(me.heard))


def ended(ref, reason=SHUTDOWN):
    ref.exit(reason)
    assert ref.exited.wait(BOUND_S)
    return ref


def test_p9_a_link_works_both_ways(start):
    for ending in (0, 1):
        pair = start(Doer), start(Doer)
        pair[0].ask(lambda me, other=pair[1]: me.link(other))
        pair[ending].exit(ERROR)
        assert all(ref.exited.wait(BOUND_S) for ref in pair)
        assert [ref.exit_reason for ref in pair] == [ERROR, ERROR]


def test_p9_a_second_link_of_a_pair_changes_nothing(start):
    witness, peer = start(Witness), start(Doer)
    witness.ask(lambda me: (me.link(peer), me.link(peer)))
    peer.ask(lambda me: me.link(witness))
    ended(peer)
    assert heard(witness) == [Exit(peer, SHUTDOWN)]


def test_p9_either_side_may_unlink(start):
    for one, other in ((0, 1), (1, 0)):
        pair = start(Doer), start(Doer)
        pair[0].ask(lambda me, peer=pair[1]: (me.link(peer), me.link(peer)))
        pair[one].ask(lambda me, peer=pair[other]: me.unlink(peer))
        ended(pair[0])
        assert pair[1].ask(lambda _: "alive") == "alive"


def test_p9_an_actor_linked_to_itself_is_not_harmed(start):
    ref = start(Doer)
    ref.ask(lambda me: me.link(ref))
    assert ref.ask(lambda _: "alive") == "alive"


def test_p9_a_ring_of_links_ends_as_one(start):
    ring = [start(Doer) for _ in range(10)]
    for ref, following in zip(ring, ring[1:] + ring[:1], strict=True):
        ref.ask(lambda me, following=following: me.link(following))
    ring[3].exit(ERROR)
    assert all(ref.exited.wait(BOUND_S) for ref in ring)
    assert {ref.exit_reason for ref in ring} == {ERROR}


def test_p10_a_link_to_the_dead_is_answered_with_noproc(start):
    dead, witness, doer = ended(start(Doer)), start(Witness), start(Doer)
    witness.ask(lambda me: me.link(dead))
    assert heard(witness) == [Exit(dead, NOPROC)]
    doer.tell(lambda me: me.link(dead))
    assert doer.exited.wait(BOUND_S)
    assert doer.exit_reason is NOPROC


@pytest.mark.parametrize("when", ["in_on_start", "right_after"])
def test_p11_a_child_that_dies_at_once_is_reported_to_its_parent(start, when):
    class Stillborn(Actor):
        def on_start(self):
            if when == "in_on_start":
                raise ERROR
            self.actor_ref.tell("die")

        def on_receive(self, message):
            raise ERROR

    def give_birth(me):
        with pytest.raises(ActorStartError) if when == "in_on_start" else contextlib.nullcontext():
            Stillborn.start_with(StartOptions(link_to=me.actor_ref)).exited.wait(BOUND_S)

    witness = start(Witness)
    witness.ask(give_birth)
    assert [exit_.reason for exit_ in heard(witness)] == [ERROR]


def test_p12_nothing_is_heard_of_an_exit_after_unlink(start):
    """The exit has arrived and waits when `unlink` is called; those of others stay."""
    witness, peer, other = start(Witness), start(Doer), start(Doer)

    def end_both_and_unlink_one(me):
        me.link(peer)
        me.link(other)
        ended(peer)
        ended(other)
        me.unlink(peer)

    witness.ask(end_both_and_unlink_one)
    assert heard(witness) == [Exit(other, SHUTDOWN)]


def test_p13_a_monitor_is_one_way(start):
    watcher, watched = start(Doer), start(Doer)
    watcher.ask(lambda me: me.monitor(watched))
    ended(watcher, ERROR)
    assert watched.ask(lambda _: "alive") == "alive"


def test_p13_each_monitor_reports_by_itself(start):
    witness, other, watched = start(Witness), start(Witness), start(Doer)
    monitors = witness.ask(lambda me: [me.monitor(watched) for _ in range(3)])
    other.ask(lambda me: me.monitor(watched))
    witness.ask(lambda me: me.demonitor(monitors[1]))
    ended(watched, ERROR)
    assert heard(witness) == [Down(monitor, watched, ERROR) for monitor in (monitors[0], monitors[2])]
    assert len(heard(other)) == 1


def test_p13_a_watcher_that_does_not_care_lives(start, caplog):
    watcher, watched = start(Doer), start(Doer)
    watcher.ask(lambda me: me.monitor(watched))
    ended(watched, ERROR)
    assert watcher.ask(lambda _: "alive") == "alive"
    assert "does not care" in caplog.text


def test_p14_a_monitor_of_the_dead_reports_noproc_at_once(start):
    witness, dead = start(Witness), ended(start(Doer))
    monitor = witness.ask(lambda me: me.monitor(dead))
    assert heard(witness) == [Down(monitor, dead, NOPROC)]


@pytest.mark.parametrize("dead_before", [True, False])
def test_p15_nothing_is_heard_of_a_monitor_after_demonitor(start, dead_before):
    """The report has arrived and waits when `demonitor` is called; that of another monitor stays."""
    witness, watched = start(Witness), start(Doer)

    def watch_and_stop_watching(me):
        if dead_before:
            ended(watched)
        kept, dropped = me.monitor(watched), me.monitor(watched)
        if not dead_before:
            ended(watched)
        me.demonitor(dropped)
        me.demonitor(dropped)
        return kept

    kept = witness.ask(watch_and_stop_watching)
    assert heard(witness) == [Down(kept, watched, NOPROC if dead_before else SHUTDOWN)]


@pytest.mark.parametrize("end", [lambda ref: ref.stop(), lambda ref: ref.kill()], ids=["stop", "kill"])
def test_p16_exactly_one_down_per_monitor_after_names_are_free(start, end):
    registry, lookups = Registry(), []

    class Looks(Witness):
        def on_down(self, down):
            lookups.append(registry.whereis("watched"))
            super().on_down(down)

    witness = start(Looks)
    watched = start(Doer, options=StartOptions(name="watched", registry=registry))
    monitors = witness.ask(lambda me: [me.monitor(watched) for _ in range(2)])
    end(watched)
    assert watched.exited.wait(BOUND_S)
    assert [down.monitor for down in heard(witness)] == monitors
    assert lookups == [None, None]


def test_p16_the_name_is_free_already_when_the_down_is_sent(start):
    """The next actor may take it before the watcher gets its turn: it did not have to wait for anybody."""
    registry = Registry()
    options = StartOptions(name="one", registry=registry)
    successors = []

    class Succeeds(Witness):
        def on_down(self, down):
            successors.append(start(Doer, options=options))

    witness, first = start(Succeeds), start(Doer, options=options)
    witness.ask(lambda me: me.monitor(first))
    first.kill()
    assert first.exited.wait(BOUND_S)
    witness.ask(lambda _: None)
    assert [registry.whereis("one")] == successors


def test_p16_an_exit_becomes_visible_in_one_order(start):
    """Dead, mailbox closed, names free; then askers, links, monitors; `exited` last."""
    seen = []

    class Looks(Registry):
        def release(self, name, cell):
            with pytest.raises(NoProc):
                cell.ref.tell("too late")
            seen.append((cell.ref.is_alive(), asked.done, len(cell.links), len(cell.watchers), cell.exited.is_set()))
            super().release(name, cell)

    witness = start(Witness)
    watched = start(Doer, options=StartOptions(name="watched", registry=Looks()))
    witness.ask(lambda me: (me.link(watched), me.monitor(watched)))
    asked = watched.ask(lambda _: Event().wait(), block=False)
    watched.kill()
    assert watched.exited.wait(BOUND_S)
    assert seen == [(False, False, 1, 1, False)]
    assert asked.done


def test_p16_an_exit_and_a_down_of_one_death_both_come_once(start):
    witness, watched = start(Witness), start(Doer)
    monitor = witness.ask(lambda me: (me.link(watched), me.monitor(watched))[1])
    watched.kill()
    assert watched.exited.wait(BOUND_S)
    assert heard(witness) == [Exit(watched, KILLED), Down(monitor, watched, KILLED)]


def test_p17_signals_of_one_sender_keep_their_order(start):
    witness, sender = start(Witness), start(Doer)
    reasons = [SHUTDOWN, NORMAL, ERROR, KILLED] * 5
    sender.ask(lambda _: [witness.exit(reason) for reason in reasons])
    assert [exit_.reason for exit_ in heard(witness)] == reasons


def test_p17_messages_of_one_sender_keep_their_order(start):
    ref, sender, got = start(Doer), start(Doer), []
    sender.ask(lambda _: [ref.tell(lambda _, n=n: got.append(n)) for n in range(500)])
    ref.ask(lambda _: None)
    assert got == list(range(500))


def test_p17_what_a_dying_actor_has_sent_arrives_although_it_is_dead(start):
    ref, sender, got = start(Doer), start(Doer), []

    def send_and_die(_me):
        ref.tell(lambda _: got.append("sent"))
        raise ERROR

    sender.tell(send_and_die)
    assert sender.exited.wait(BOUND_S)
    ref.ask(lambda _: None)
    assert got == ["sent"]
