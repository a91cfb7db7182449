"""Stories: a part of the tree dies while tasks run. I4: identity, token, actor, claim, install, in this order.

What must hold: every task ends, one attempt at a time is current, and a replaced attempt's late word is refused.
"""

import gc

import gevent
import pytest
from gevent.event import Event
from system_rig import BOUND_S, done, hold_out

from taskward.actors import SHUTDOWN, Shutdown
from taskward.domain.task import Status
from taskward.stores import contract as c
from taskward.supervision.attempts.runner import Runner, Sweep, Timing


class Bodies:
    """Bodies that wait for a sign, and remember who ran."""

    def __init__(self):
        self.began = []
        self.heard = Event()
        self.go = Event()

    def __call__(self, work, ctx):
        self.began.append((ctx.task_id, ctx.attempt))
        self.heard.set()
        assert self.go.wait(BOUND_S)
        return done(f"attempt {ctx.attempt}")

    def until(self, count):
        with gevent.Timeout(BOUND_S, AssertionError(f"{count} bodies did not begin: {self.began}")):
            while len(self.began) < count:
                self.heard.wait()
                self.heard.clear()


@pytest.fixture(params=["memory", "lmdb"])
def running(start, request):
    """A system with three running tasks."""
    bodies = Bodies()
    rig = start(bodies, adapter=request.param)
    ids = [rig.create() for _ in range(3)]
    bodies.until(3)
    return rig, bodies, ids


def results(rig, ids):
    return [rig.until(task_id, Status.COMPLETED).result["content"][0]["text"] for task_id in ids]


def test_a_runner_that_crashes_is_replaced_and_takes_its_attempts_over(running):
    """The runner dies: its successor replaces each attempt under a higher generation of the same epoch."""
    rig, bodies, ids = running
    old = [entry.ref for entry in rig.system.roster]
    runner = rig.actor("runner")
    runner.kill()
    rig.successor("runner", runner)
    bodies.until(6)
    assert all(not ref.is_alive() for ref in old)
    bodies.go.set()
    assert results(rig, ids) == ["attempt 2"] * 3
    starts = rig.heard("attempt_start")
    assert {what["epoch"] for what in starts} == {starts[0]["epoch"]}
    assert sorted(what["generation"] for what in starts) == ["1"] * 3 + ["2"] * 3
    assert len(rig.heard("replaced")) == 3


def test_a_runner_that_was_killed_is_forgotten(running):
    """Whatever killed it: nothing that outlives runners keeps a dead one, or goes on telling it what happens."""
    rig, _, _ = running
    for _ in range(2):
        runner = rig.actor("runner")
        runner.kill()
        rig.successor("runner", runner)
    del runner
    gc.collect()
    assert sum(isinstance(thing, Runner) for thing in gc.get_objects()) == 1


def test_a_store_actor_that_crashes_takes_everything_after_it_along(running):
    """rest_for_one: the epoch rises without reopening, all attempts are new, the fence holds (I3)."""
    rig, bodies, ids = running
    leases = [entry.lease for entry in rig.system.roster]
    epoch = rig.backend.epoch
    runner = rig.actor("runner")
    rig.actor("store").kill()
    rig.successor("runner", runner)
    bodies.until(6)
    assert rig.backend.epoch == epoch + 1
    for lease in leases:
        assert rig.system.store.execute(c.Release(lease=lease)) == c.StaleLease()
    bodies.go.set()
    assert results(rig, ids) == ["attempt 2"] * 3


def test_the_attempts_supervisor_that_crashes_takes_the_runner_along(running):
    rig, bodies, ids = running
    runner = rig.actor("runner")
    rig.actor("attempts").kill()
    rig.successor("runner", runner)
    bodies.until(6)
    bodies.go.set()
    assert results(rig, ids) == ["attempt 2"] * 3


def test_an_attempt_that_is_killed_gives_its_claim_back_and_is_counted(running):
    """Nobody but the runner hears of it: the task goes on in another attempt, and `crashes` is one."""
    rig, bodies, ids = running
    [victim] = [entry for entry in rig.system.roster if entry.lease.task_id == ids[0]]
    victim.ref.kill()
    bodies.until(4)
    view = rig.system.store.execute(c.WorkerGet(lease=rig.system.roster.get(victim.lease.key).lease))
    assert view.snapshot.crashes == 1
    bodies.go.set()
    assert results(rig, ids) == ["attempt 2", "attempt 1", "attempt 1"]


def test_a_task_that_ended_while_its_runner_was_dead_is_not_installed_again(running):
    rig, bodies, ids = running
    runner = rig.actor("runner")
    runner.kill()
    assert runner.exited.wait(BOUND_S)
    rig.cancel(ids[0])
    rig.successor("runner", runner)
    bodies.until(5)
    bodies.go.set()
    assert results(rig, ids[1:]) == ["attempt 2"] * 2
    assert [attempt for task_id, attempt in bodies.began if task_id == ids[0]] == [1]


def test_a_late_word_of_a_replaced_attempt_is_refused(start):
    """Its body swallows the kill and reports after its successor has begun: one result, that of the successor."""
    first, release = Event(), Event()

    def body(work, ctx):
        if ctx.attempt > 1:
            return done("successor")
        first.set()
        hold_out(release)
        return done("late")

    rig = start(body)
    task_id = rig.create()
    assert first.wait(BOUND_S)
    runner = rig.actor("runner")
    runner.kill()
    rig.successor("runner", runner)
    before = rig.until(task_id, Status.COMPLETED)
    release.set()
    rig.until_event("stale_write_refused")
    assert rig.task(task_id) == before and before.result["content"][0]["text"] == "successor"


def test_a_lease_that_ran_out_unrenewed_is_claimed_away_from_a_live_attempt(start):
    """The runner was held up for longer than a lease lives: one attempt is current, and it is the newer one."""
    bodies = Bodies()
    rig = start(bodies, timing=Timing(lease_ms=20, shutdown_ms=100, kill_after_ms=200))
    task_id = rig.create()
    bodies.until(1)
    [old] = [entry.ref for entry in rig.system.roster]
    gevent.sleep(0.05)  # the lease's time passes
    rig.actor("runner").tell(Sweep())
    bodies.until(2)
    assert old.exited.wait(BOUND_S)
    bodies.go.set()
    assert results(rig, [task_id]) == ["attempt 2"]


def test_parts_that_keep_dying_end_the_system_with_a_reason(running):
    """Restart intensity: the supervisor gives up, says why, and takes all down; the store can be opened again."""
    rig, _, _ = running
    for _ in range(4):
        runner = rig.actor("runner")
        runner.kill()
        assert runner.exited.wait(BOUND_S)
        if rig.system.exit_reason is None:
            gevent.sleep(0)
        with gevent.Timeout(BOUND_S):
            while rig.system.running and rig.actor("runner") in (None, runner):
                gevent.sleep(0.001)
    assert isinstance(rig.system.exit_reason, Shutdown) and "runner" in str(rig.system.exit_reason)
    assert isinstance(rig.try_create(), c.StoreUnavailable)
    rig.stop()


def test_a_stop_gives_claims_back_and_the_next_start_goes_on(start):
    """No interruption is counted: a stop in good order proves nothing about a task."""
    bodies = Bodies()
    rig = start(bodies, adapter="lmdb")
    task_id = rig.create()
    bodies.until(1)
    rig.stop()
    assert rig.system.exit_reason is SHUTDOWN
    bodies.go.set()
    rig = start(bodies, adapter="lmdb")
    assert rig.until(task_id, Status.COMPLETED).result["content"][0]["text"] == "attempt 2"
    assert rig.heard("attempt_start")[0]["generation"] == "2"


def test_draining_lets_running_bodies_finish_and_refuses_new_tasks(start):
    bodies = Bodies()
    rig = start(bodies, adapter="lmdb")
    task_id = rig.create()
    bodies.until(1)
    stopping = gevent.spawn(rig.system.stop, drain_ms=5_000)
    gevent.sleep(0)
    assert isinstance(rig.try_create(), c.StoreUnavailable)
    bodies.go.set()
    stopping.get(timeout=BOUND_S)
    rig = start(bodies, adapter="lmdb")
    assert rig.task(task_id).status is Status.COMPLETED
