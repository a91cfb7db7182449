"""Restarts: who is started again after which end, and whom a strategy takes along."""

import contextlib

import gevent
import pytest
from gevent.event import Event
from supervised import BOUND_S, Child, refs, specs

from taskward.actors import (
    KILLED,
    NOPROC,
    NORMAL,
    SHUTDOWN,
    Abandoned,
    MailboxFull,
    NamedRef,
    Shutdown,
)
from taskward.supervision import ChildSpec, Restart, Strategy, Supervisor, which_children
from taskward.supervision.restart import Verdict, taken_along, verdict

ERROR = ValueError("a crash")
ORDERLY = [NORMAL, SHUTDOWN, Shutdown("why")]
ABNORMAL = [KILLED, NOPROC, Abandoned(), ERROR, SystemExit(0), gevent.GreenletExit()]


def end(ref, reason):
    """End an actor from within; return when its supervisor has been told."""
    if reason is KILLED:
        ref.kill()
    else:
        ref.tell(lambda me: me.exit(reason))
    assert ref.exited.wait(BOUND_S)


def until_all_run(supervisor):
    with gevent.Timeout(BOUND_S):
        while not all(refs(supervisor).values()):
            gevent.sleep(0)


@pytest.mark.parametrize("reason", ORDERLY + ABNORMAL, ids=repr)
@pytest.mark.parametrize("restart", Restart, ids=lambda restart: restart.value)
def test_r1_and_r2_the_decision_is_the_manuals(restart, reason):
    expected = {
        Restart.PERMANENT: Verdict.RESTART,
        Restart.TRANSIENT: Verdict.KEEP if reason in ORDERLY else Verdict.RESTART,
        Restart.TEMPORARY: Verdict.DROP,
    }
    assert verdict(restart, reason) is expected[restart]


@pytest.mark.parametrize("reason", [*ORDERLY, KILLED, ERROR], ids=repr)
@pytest.mark.parametrize("restart", Restart)
def test_r1_a_child_is_restarted_as_decided(start, restart, reason):
    log = []
    supervisor = start(Supervisor, specs(log, "a", restart=restart))
    before = refs(supervisor)["a"]
    end(before, reason)
    after = refs(supervisor)
    if verdict(restart, reason) is Verdict.RESTART:
        assert after["a"] is not before
        assert after["a"].is_alive()
        assert [child.restarts for child in which_children(supervisor)] == [1]
    elif restart is Restart.TRANSIENT:
        assert after == {"a": None}
    else:
        assert after == {}
    assert log.count("+a") == (2 if after.get("a") else 1)


def test_r2_a_transient_child_that_ended_normally_keeps_its_spec_and_its_place(start):
    log = []
    supervisor = start(Supervisor, specs(log, *"abc", restart=Restart.TRANSIENT))
    end(refs(supervisor)["b"], NORMAL)
    assert [(id_, ref is not None) for id_, ref in refs(supervisor).items()] == [("a", True), ("b", False), ("c", True)]
    supervisor.stop()
    assert log[3:] == ["-b", "-c", "-a"]


STRATEGIES = {
    Strategy.ONE_FOR_ONE: ("b", []),
    Strategy.REST_FOR_ONE: ("bcd", ["-d", "-c"]),
    Strategy.ONE_FOR_ALL: ("abcd", ["-d", "-c", "-a"]),
}


@pytest.mark.parametrize("ended", "abcd")
def test_r3_r4_r5_whom_a_strategy_takes_along(ended):
    later = "abcd"["abcd".index(ended) :]
    assert taken_along(Strategy.ONE_FOR_ONE, "abcd", ended) == [ended]
    assert taken_along(Strategy.ONE_FOR_ALL, "abcd", ended) == list("abcd")
    assert taken_along(Strategy.REST_FOR_ONE, "abcd", ended) == list(later)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.value)
def test_r3_r4_r5_others_are_stopped_in_reverse_then_all_are_started_in_order(start, strategy):
    log = []
    supervisor = start(Supervisor, specs(log, *"abcd"), strategy=strategy.value)
    before = refs(supervisor)
    log.clear()
    end(before["b"], ERROR)
    after = refs(supervisor)
    restarted, stopped = STRATEGIES[strategy]
    assert log == ["-b", *stopped, *(f"+{name}" for name in restarted)]
    assert list(after) == list("abcd")
    assert {name for name in after if after[name] is not before[name]} == set(restarted)
    assert all(ref.is_alive() for ref in after.values())


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE], ids=lambda strategy: strategy.value)
def test_r6_a_temporary_sibling_that_was_stopped_is_not_restarted(start, strategy):
    log = []
    temporary = specs(log, "b", restart=Restart.TEMPORARY)
    supervisor = start(Supervisor, specs(log, "a") + temporary + specs(log, "c"), strategy=strategy)
    end(refs(supervisor)["a"], ERROR)
    assert list(refs(supervisor)) == ["a", "c"]
    assert log.count("+b") == log.count("-b") == 1


def test_r4_a_transient_child_that_had_ended_is_started_again_with_all_others(start):
    log = []
    children = specs(log, "a") + specs(log, "b", restart=Restart.TRANSIENT)
    supervisor = start(Supervisor, children, strategy=Strategy.ONE_FOR_ALL)
    end(refs(supervisor)["b"], NORMAL)
    end(refs(supervisor)["a"], ERROR)
    assert all(ref is not None for ref in refs(supervisor).values())


def test_r12_a_restart_of_all_counts_once_whatever_else_dies_with_it(start):
    """Two of three die in one turn of the hub; the second was stopped by then as a sibling, and is not counted."""
    log = []
    supervisor = start(Supervisor, specs(log, *"abc"), strategy=Strategy.ONE_FOR_ALL, max_restarts=1)
    before = refs(supervisor)
    before["a"].kill()
    before["b"].kill()
    assert before["c"].exited.wait(BOUND_S)
    after = refs(supervisor)
    assert all(ref.is_alive() for ref in after.values())
    assert log.count("+a") == log.count("+b") == log.count("+c") == 2


@pytest.mark.parametrize("strategy", Strategy, ids=lambda strategy: strategy.value)
def test_n3_n6_a_named_child_is_restarted_under_its_name_at_the_first_try(start, registry, strategy):
    log = []
    supervisor = start(Supervisor, specs(log, "a", name="a") + specs(log, "b", name="b"), strategy=strategy)
    a, b = NamedRef(registry, "a"), NamedRef(registry, "b")
    for restarts in range(1, 4):
        before = a.resolve(), b.resolve()
        end(before[0], KILLED)
        assert which_children(supervisor)[0].restarts == restarts
        assert a.ask(lambda me: me.name) == "a"
        assert a.resolve() is not before[0]
        assert b.ask(lambda me: me.name) == "b"


@pytest.mark.parametrize("trap_exit", [True, False])
def test_n3_s12_a_killed_supervisor_is_restarted_with_its_named_children_at_the_first_try(start, registry, trap_exit):
    """The children that it left behind are still about to end, and hold their names, when the new ones start."""
    log = []

    class Slow(Child):
        def terminate(self, reason):
            gevent.sleep(0.01)
            super().terminate(reason)

    Slow.trap_exit = trap_exit
    named = [ChildSpec(name, Slow, (name, log), name=name) for name in "abc"]
    outer = start(Supervisor, [ChildSpec("inner", Supervisor, (named,))], max_restarts=1)
    inner = refs(outer)["inner"]
    before = refs(inner)
    inner.kill()
    assert inner.exited.wait(BOUND_S)
    after = refs(refs(outer)["inner"])
    assert [child.restarts for child in which_children(outer)] == [1]
    assert list(after) == ["a", "b", "c"]
    for name in "abc":
        assert not before[name].is_alive()
        assert registry.whereis(name) is after[name]


class Moody(Child):
    """Fails to start as often as it is told to, from its second start on."""

    def __init__(self, name, log, failures, in_constructor=False):
        super().__init__(name, log)
        self._failures = failures
        if in_constructor:
            self._fail_if_told()

    def on_start(self):
        self._fail_if_told()
        super().on_start()

    def _fail_if_told(self):
        if f"+{self.name}" in self.log and self._failures:
            self._failures.pop()
            self.log.append(f"!{self.name}")
            raise ERROR


@pytest.mark.parametrize("in_constructor", [False, True])
def test_r10_a_restart_that_fails_counts_and_is_tried_again_at_once(start, in_constructor):
    log = []
    moody = ChildSpec("b", Moody, ("b", log, [1, 2], in_constructor))
    supervisor = start(Supervisor, [*specs(log, "a"), moody, *specs(log, "c")], max_restarts=3)
    before = refs(supervisor)
    end(before["b"], ERROR)
    until_all_run(supervisor)
    assert log[3:] == ["-b", "!b", "!b", "+b"]
    after = which_children(supervisor)
    assert [child.restarts for child in after] == [0, 3, 0]
    assert (after[0].ref, after[2].ref) == (before["a"], before["c"])


@pytest.mark.parametrize("in_constructor", [False, True])
def test_r10_three_failed_tries_are_too_many_for_an_intensity_of_three(start, in_constructor):
    log = []
    moody = ChildSpec("b", Moody, ("b", log, list(range(100)), in_constructor))
    supervisor = start(Supervisor, [*specs(log, "a"), moody], max_restarts=3)
    end(refs(supervisor)["b"], ERROR)
    assert supervisor.exited.wait(BOUND_S)
    assert log[2:] == ["-b", "!b", "!b", "!b", "-a"]


def test_r10_with_rest_for_one_a_later_one_that_fails_is_tried_again_with_those_after_it(start):
    log = []
    moody = ChildSpec("b", Moody, ("b", log, [1]))
    children = [*specs(log, "a"), moody, *specs(log, "c")]
    supervisor = start(Supervisor, children, strategy=Strategy.REST_FOR_ONE)
    log_before = list(log)
    end(refs(supervisor)["a"], ERROR)
    until_all_run(supervisor)
    assert log == [*log_before, "-a", "-c", "-b", "+a", "!b", "+b", "+c"]


def test_r11_a_supervisor_answers_while_it_retries(start):
    """The child starts once somebody was answered meanwhile; otherwise the retries would exceed the intensity."""
    log, failures = [], list(range(1_000))
    supervisor = start(Supervisor, [ChildSpec("a", Moody, ("a", log, failures))], max_restarts=500)
    end(refs(supervisor)["a"], ERROR)
    assert refs(supervisor) == {"a": None}
    assert failures
    failures.clear()
    until_all_run(supervisor)


def test_r10_a_full_mailbox_does_not_keep_a_supervisor_from_trying_again(start):
    log, born, filled, started = [], [], [], Event()

    class Small(Supervisor):
        mailbox_limit = 3

        def __init__(self, children):
            super().__init__(children)
            born.append(self.actor_ref)

    class Fills(Moody):
        def on_start(self):
            if log[-1:] == ["-a"]:
                with contextlib.suppress(MailboxFull):
                    while True:
                        filled.append(born[0].tell("noise"))
            super().on_start()
            if filled:
                started.set()

    supervisor = start(Small, [ChildSpec("a", Fills, ("a", log, [1, 2]))])
    end(refs(supervisor)["a"], ERROR)
    assert started.wait(BOUND_S)
    assert log == ["+a", "-a", "!a", "!a", "+a"]
    assert len(filled) == 3
