"""What an attempt reports, what it may do, and how it is stopped."""

import gevent
import pytest
from gevent.event import Event
from system_rig import BOUND_S, done, hold_out

from taskward import Completed, Failed, Retry
from taskward.domain.task import Status
from taskward.stores import contract as c
from taskward.supervision.attempts.context import InputRefused
from taskward.supervision.attempts.slots import Slots

FORM = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
ERROR = {"code": -32000, "message": "no"}


def test_a_body_runs_once_and_its_outcome_is_kept(start):
    ran = []
    rig = start(lambda work, ctx: ran.append((work.input["name"], ctx.attempt, ctx.task_id)) or done())
    task_id = rig.create("one")
    assert rig.until(task_id, Status.COMPLETED).result["content"][0]["text"] == "done"
    assert ran == [("one", 1, task_id)]


@pytest.mark.parametrize(
    ("outcome", "status", "error"),
    [
        (Failed(ERROR, "no"), Status.FAILED, ERROR),
        (RuntimeError("secret"), Status.FAILED, {"code": -32603}),
        ("no outcome at all", Status.FAILED, {"code": -32603}),
        (None, Status.FAILED, {"code": -32603}),
        (Completed({"resultType": "complete", "x": float("nan")}), Status.FAILED, {"code": -32603}),
        (Completed({"resultType": "complete", "x": object()}), Status.FAILED, {"code": -32603}),
    ],
)
def test_whatever_a_body_gives_the_task_ends(start, outcome, status, error):
    def body(work, ctx):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    rig = start(body)
    task = rig.until(rig.create(), status)
    assert {**task.error, **error} == task.error and "secret" not in str(task.error)


def test_a_result_over_its_limit_fails_the_task_with_a_sentence(start):
    rig = start(lambda work, ctx: done("x" * 2_000), max_result_bytes=1_000)
    assert "at most 1000 bytes" in rig.until(rig.create(), Status.FAILED).error["message"]


def test_a_retry_is_made_by_another_attempt_after_its_delay(start):
    def body(work, ctx):
        return Retry("not yet") if ctx.attempt < 3 else done(f"attempt {ctx.attempt}")

    rig = start(body)
    task = rig.until(rig.create(delays=[20, 20]), Status.COMPLETED)
    assert task.result["content"][0]["text"] == "attempt 3"
    assert [what["generation"] for what in rig.heard("attempt_start")] == ["1", "2", "3"]


def test_only_so_many_run_at_once_and_the_rest_waits_its_turn(start):
    go, running, peak = Event(), set(), []

    def body(work, ctx):
        running.add(ctx.task_id)
        peak.append(len(running))
        assert go.wait(BOUND_S)
        running.discard(ctx.task_id)
        return done()

    rig = start(body, max_running=3)
    ids = [rig.create() for _ in range(10)]
    rig.until_event("attempt_start", 3)
    assert {rig.task(task_id).status for task_id in ids} == {Status.WORKING}
    go.set()
    for task_id in ids:
        rig.until(task_id, Status.COMPLETED)
    assert max(peak) == 3


def test_a_parked_attempt_holds_no_slot(start):
    def body(work, ctx):
        return done(str(ctx.elicit("go", "Go?", FORM).content["ok"])) if work.input["name"] == "ask" else done()

    rig = start(body, max_running=1)
    asking = rig.create("ask")
    rig.until(asking, Status.INPUT_REQUIRED)
    rig.until(rig.create("other"), Status.COMPLETED)
    rig.answer(asking)
    assert rig.until(asking, Status.COMPLETED).result["content"][0]["text"] == "True"


def test_one_too_many_parked_is_told_so(start):
    refusals = []

    def body(work, ctx):
        try:
            ctx.elicit("go", "Go?", FORM)
        except InputRefused as refusal:
            refusals.append(str(refusal))
        return done()

    rig = start(body, max_parked=1)
    first = rig.create()
    rig.until(first, Status.INPUT_REQUIRED)
    rig.until(rig.create(), Status.COMPLETED)
    assert len(refusals) == 1 and "max_parked" in refusals[0]


def test_i8_a_cancel_stops_a_body_at_its_next_word_to_the_context(start):
    began, ended = Event(), Event()

    def body(work, ctx):
        began.set()
        try:
            ctx.sleep(BOUND_S)
        finally:
            ended.set()

    rig = start(body)
    task_id = rig.create()
    assert began.wait(BOUND_S)
    assert isinstance(rig.cancel(task_id), c.Committed)
    assert ended.wait(BOUND_S)
    rig.until_event("attempt_stop")
    assert rig.task(task_id).status is Status.CANCELLED and len(rig.heard("attempt_start")) == 1


def test_a_body_that_swallows_everything_is_abandoned_counted_and_fenced(start):
    """It cannot be stopped in-process: nobody waits for it for ever, and nothing of it is applied."""
    began, go, refused = Event(), Event(), []

    def body(work, ctx):
        began.set()
        hold_out(go)
        return done("too late")

    rig = start(body)
    task_id = rig.create()
    assert began.wait(BOUND_S)
    rig.cancel(task_id)
    assert rig.until_event("abandoned")["task"] == task_id
    assert rig.system.slots.running == 0 and len(rig.system.roster) == 0
    go.set()
    refused.append(rig.until_event("stale_write_refused"))
    assert rig.task(task_id).status is Status.CANCELLED and refused[0]["task"] == task_id


def test_progress_is_coalesced_and_the_last_word_is_kept(start):
    def body(work, ctx):
        for step in range(1_000):
            ctx.progress(f"step {step}")
        ctx.sleep(0.1)
        return done()

    rig = start(body, progress_interval_ms=20)
    task_id = rig.create()
    task = rig.until(task_id, Status.COMPLETED)
    assert task.status_message == "step 999"


def test_a_context_that_outlives_its_attempt_does_nothing(start):
    kept = []
    rig = start(lambda work, ctx: kept.append(ctx) or done())
    task_id = rig.create()
    before = rig.until(task_id, Status.COMPLETED)
    for use in (lambda: kept[0].progress("late"), lambda: kept[0].elicit("late", "?", FORM), lambda: kept[0].sleep(0)):
        with pytest.raises(Exception, match="Do not keep it"):
            use()
    assert rig.task(task_id) == before


def test_an_expired_tasks_body_is_stopped_when_it_is_reaped(start):
    began = Event()

    def body(work, ctx):
        began.set()
        ctx.sleep(BOUND_S)

    from taskward.supervision.attempts.runner import Timing

    rig = start(body, timing=Timing(reap_interval_ms=50, shutdown_ms=100, kill_after_ms=100))
    task_id = rig.create(ttl_ms=100)
    assert began.wait(BOUND_S)
    rig.until_event("attempt_stop")
    assert rig.task(task_id) == c.TaskNotFound()


def test_slots_serve_returning_bodies_before_new_work():
    slots = Slots(max_running=1, max_parked=1)
    assert slots.acquire(b"a") and slots.park(b"a") and slots.acquire(b"b")
    waiting = slots.resume(b"a")
    assert not waiting.is_set() and slots.free == 0
    slots.release(b"b")
    assert waiting.is_set() and not slots.acquire(b"c")
    slots.release(b"a")
    slots.release(b"a")
    assert (slots.running, slots.parked, slots.free) == (0, 0, 1)
    with gevent.Timeout(BOUND_S):
        assert slots.wait_idle(0)
