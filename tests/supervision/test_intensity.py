"""Restart intensity: so many in the window, and no more; then everything stops, and the parent decides."""

import pytest
from supervised import BOUND_S, refs, specs

from taskward.actors import Shutdown, is_abnormal
from taskward.supervision import ChildSpec, Restart, Strategy, Supervisor
from taskward.supervision.restart import Intensity


def crash(ref):
    ref.tell(lambda _me: 1 / 0)
    assert ref.exited.wait(BOUND_S)


WINDOWS = {
    "one_more_than_allowed": (3, 5.0, [0, 1, 2, 3], [True, True, True, False]),
    "none_allowed": (0, 5.0, [0], [False]),
    "slides": (1, 1.0, [0, 2.1, 4.2, 6.3, 8.4], [True] * 5),
    "slides_past_a_burst": (2, 1.0, [0, 0.1, 1.3, 1.4], [True, True, True, True]),
    "burst_across_a_border": (2, 1.0, [0.9, 1.0, 1.1], [True, True, False]),
    "not_in_whole_seconds": (1, 1.0, [0.0, 1.1, 1.9], [True, True, False]),
    "all_at_once": (2, 5.0, [7, 7, 7], [True, True, False]),
}


@pytest.mark.parametrize("case", WINDOWS)
def test_r7_r8_r9_the_window(case):
    max_restarts, max_seconds, times, expected = WINDOWS[case]
    window = Intensity(max_restarts, max_seconds)
    assert [window.allow(time) for time in times] == expected


def test_r9_the_window_forgets_what_is_past():
    window = Intensity(5, 1.0)
    assert all(window.allow(2.0 * second) for second in range(10_000))


@pytest.mark.parametrize("max_restarts", [0, 1, 3])
def test_r7_r8_one_restart_too_many_stops_all_children_in_reverse_and_ends_in_shutdown(start, max_restarts):
    log = []
    supervisor = start(Supervisor, specs(log, *"abc"), max_restarts=max_restarts, max_seconds=60)
    for _ in range(max_restarts):
        crash(refs(supervisor)["b"])
    last = refs(supervisor)
    log.clear()
    crash(last["b"])
    assert supervisor.exited.wait(BOUND_S)
    assert log == ["-b", "-c", "-a"]
    assert isinstance(supervisor.exit_reason, Shutdown)
    assert "'b'" in supervisor.exit_reason.why
    assert not is_abnormal(supervisor.exit_reason)


def test_r9_restarts_that_are_far_enough_apart_go_on_for_ever(start):
    """Each crash waits until the last one is out of the window, which is only as long as that."""
    log = []
    supervisor = start(Supervisor, specs(log, "a"), max_restarts=1, max_seconds=0.01)
    for _ in range(5):
        crash(refs(supervisor)["a"])
        assert not supervisor.exited.wait(0.02)
    assert log.count("+a") == 6


def test_r7_ends_that_need_no_restart_are_not_counted(start):
    log = []
    supervisor = start(Supervisor, specs(log, *"abcdef", restart=Restart.TEMPORARY), max_restarts=0)
    for ref in refs(supervisor).values():
        crash(ref)
    assert refs(supervisor) == {}


def test_r7_the_crashes_of_all_children_share_one_window(start):
    log = []
    supervisor = start(Supervisor, specs(log, *"abc"), max_restarts=2, max_seconds=60)
    for name in "abc":
        crash(refs(supervisor)[name])
    assert supervisor.exited.wait(BOUND_S)


@pytest.mark.parametrize("strategy", Strategy, ids=lambda strategy: strategy.value)
def test_r13_the_parent_restarts_a_supervisor_that_gave_up_and_the_totals_multiply(start, strategy):
    """One restart allowed on each level: two lives under each of two supervisors are four."""
    log = []
    inner = ChildSpec("inner", Supervisor, (specs(log, "a"),), {"max_restarts": 1, "max_seconds": 60})
    outer = start(Supervisor, [inner], strategy=strategy, max_restarts=1, max_seconds=60)
    lives = 0
    while outer.is_alive():
        supervisor = refs(outer)["inner"]
        while supervisor.is_alive():
            crash(refs(supervisor)["a"])
            lives += 1
            if lives % 2 == 0:
                assert supervisor.exited.wait(BOUND_S)
        if lives == 4:
            assert outer.exited.wait(BOUND_S)
    assert lives == log.count("+a") == log.count("-a") == 4
    assert isinstance(outer.exit_reason, Shutdown)


def test_r13_a_transient_supervisor_that_gave_up_is_not_restarted(start):
    """`shutdown` is an orderly end."""
    log = []
    inner = ChildSpec(
        "inner", Supervisor, (specs(log, "a"),), {"max_restarts": 0, "max_seconds": 60}, Restart.TRANSIENT
    )
    outer = start(Supervisor, [inner])
    supervisor = refs(outer)["inner"]
    crash(refs(supervisor)["a"])
    assert supervisor.exited.wait(BOUND_S)
    assert refs(outer) == {"inner": None}
