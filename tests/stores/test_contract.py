"""What every adapter has to mean by the operations of the contract."""

import pytest
from store_rig import ERROR, FORM, LEASE_MS, RESULT

from taskward.domain import event as ev
from taskward.domain.task import Status
from taskward.domain.transition import DuplicateInputKey, InputKindNotDeclared
from taskward.stores import contract as c
from taskward.stores.fence import Limits

# --- creating and reading


def test_a_created_task_is_found_by_its_scope_and_by_nobody_else(rig):
    """I9: a foreign id, an unknown one and junk are one answer."""
    task_id = rig.create(principal="alice")
    assert rig.get(task_id, "alice").task.status is Status.WORKING
    _, unknown = rig.store.mint()
    answers = {rig.get(task_id, "bob"), rig.get(unknown, "alice"), rig.get("no such id", "alice"), rig.get("", "alice")}
    assert answers == {c.TaskNotFound()}


@pytest.mark.parametrize("action", ["update", "cancel"])
def test_a_foreign_scope_cannot_write_either(rig, action):
    task_id, lease = rig.create(claim=True)
    rig.ask(lease)
    event = ev.Cancelled(message=None) if action == "cancel" else ev.InputResponsesAccepted(responses={"go": {}})
    assert rig.commit(rig.access(task_id, action, "bob"), event) == c.TaskNotFound()
    assert rig.task(task_id).status is Status.INPUT_REQUIRED


def test_an_access_allows_its_own_action_only(rig):
    task_id = rig.create()
    refused = rig.commit(rig.access(task_id, "get"), ev.Cancelled(message=None))
    assert type(refused).__name__ == "NotAllowed" and rig.task(task_id).status is Status.WORKING


def test_an_expired_task_is_unknown_before_it_is_reaped(rig):
    task_id = rig.create(ttl_ms=1_000)
    rig.clock.advance(999)
    assert isinstance(rig.get(task_id), c.Found)
    rig.clock.advance(1)
    assert rig.get(task_id) == c.TaskNotFound()
    assert rig.claim(task_id) == c.TaskNotFound() and rig.claimed_ids() == []


def test_work_comes_back_as_it_was_given(rig):
    _task_id, lease = rig.create(claim=True, text="ä\u2028\U0001f600", delays=[5, 10])
    work = rig.do(c.WorkerGet(lease=lease)).snapshot.work
    assert work.input == {"name": "t", "arguments": {"text": "ä\u2028\U0001f600"}}
    assert work.idempotency_key == lease.task_id and list(work.retry_policy.delays_ms) == [5, 10]


def test_creation_by_client_key_is_named_but_refused(rig):
    key, task_id = rig.store.mint()
    task = rig.do(c.WorkerGet(lease=rig.create(claim=True)[1])).snapshot.work
    op = c.Create(access=rig.access(task_id, "create"), key=key, work=task, ttl_ms=None, client_key="mine")
    assert isinstance(rig.do(op), c.Unsupported) and rig.get(task_id) == c.TaskNotFound()


@pytest.mark.parametrize("limit", ["max_stored", "max_active", "max_active_per_scope"])
def test_a_full_limit_refuses_the_next_create_by_its_name(make_rig, limit):
    """I11."""
    rig = make_rig(limits=Limits(**{limit: 2}))
    first, lease = rig.create(claim=True)
    rig.create()
    assert rig.try_create() == c.CapacityExceeded(limit)
    assert isinstance(
        rig.try_create(principal="bob"), c.Created if limit == "max_active_per_scope" else c.CapacityExceeded
    )
    rig.complete(lease)
    assert isinstance(rig.try_create(), c.CapacityExceeded if limit == "max_stored" else c.Created)
    assert rig.task(first).status is Status.COMPLETED


# --- claims


def test_a_claim_is_granted_once_and_raises_the_generation_never_the_revision(rig):
    task_id = rig.create()
    before = rig.get(task_id).revision
    claimed = rig.claim(task_id)
    assert (claimed.lease.generation, claimed.lease.epoch) == (1, rig.backend.epoch)
    assert (claimed.snapshot.attempts, claimed.snapshot.revision) == (1, before)
    assert isinstance(rig.claim(task_id), c.Unavailable) and rig.claimed_ids() == []


def test_a_create_may_carry_the_first_claim(rig):
    task_id, lease = rig.create(claim=True)
    assert lease.generation == 1 and isinstance(rig.claim(task_id), c.Unavailable)


def test_superseding_takes_a_current_lease_over_and_a_stale_one_not(rig):
    task_id, first = rig.create(claim=True)
    second = rig.claim(task_id, supersedes=first)
    assert second.lease.generation == 2
    assert rig.claim(task_id, supersedes=first) == c.StaleLease()
    assert isinstance(rig.complete(second.lease), c.Committed)


def test_an_ended_task_is_not_superseded(rig):
    task_id, lease = rig.create(claim=True)
    rig.cancel(task_id)
    assert isinstance(rig.claim(task_id, supersedes=lease), c.Unavailable)


def test_a_lease_that_runs_out_can_be_claimed_away_and_one_that_is_renewed_cannot(rig):
    kept_id, kept = rig.create(claim=True)
    lost_id, lost = rig.create(claim=True)
    rig.clock.advance(LEASE_MS - 1)
    assert rig.do(c.Renew(leases=(kept,), lease_ms=LEASE_MS)) == c.Renewed()
    assert rig.claimed_ids() == []
    rig.clock.advance(1)
    assert rig.claimed_ids() == [lost_id]
    assert rig.complete(lost) == c.StaleLease() and isinstance(rig.complete(kept), c.Committed)
    assert rig.task(kept_id).status is Status.COMPLETED and rig.task(lost_id).status is Status.WORKING


def test_a_lease_that_ran_out_but_was_not_claimed_away_still_counts(rig):
    """Being late is no crime as long as nobody has taken over: only a newer claim ends a lease."""
    _task_id, lease = rig.create(claim=True)
    rig.clock.advance(LEASE_MS * 2)
    assert isinstance(rig.complete(lease), c.Committed)


def test_one_batch_claims_an_expired_lease_once(rig):
    task_id, _ = rig.create(claim=True)
    rig.clock.advance(LEASE_MS)
    assert rig.claimed_ids(limit=1) == [task_id] and rig.claimed_ids(limit=1) == []


def test_a_released_task_can_be_claimed_at_once(rig):
    task_id, lease = rig.create(claim=True)
    assert rig.do(c.Release(lease=lease)) == c.Released()
    assert rig.complete(lease) == c.StaleLease()
    [again] = rig.claim_next().claimed
    assert again.lease.task_id == task_id and (again.lease.generation, again.snapshot.crashes) == (2, 0)


def test_new_work_is_claimed_fairly_over_scopes(rig):
    """Oldest first within a scope, one a scope in turn, starting behind the scope that was served last."""

    def create(principal):
        rig.clock.advance(1)
        return rig.create(principal=principal)

    crowd = [create("crowd") for _ in range(5)]
    lonely = create("lonely")
    first = rig.claim_next(limit=2)
    assert {claimed.lease.task_id for claimed in first.claimed} == {crowd[0], lonely} and first.more
    late = create("lonely")
    rest = rig.claim_next(limit=10, after_scope=first.last_scope)
    ids = [claimed.lease.task_id for claimed in rest.claimed]
    assert set(ids[:2]) == {crowd[1], late} and ids[2:] == crowd[2:] and not rest.more


def test_a_task_whose_attempts_keep_dying_is_given_up_inside_the_claim(make_rig):
    rig = make_rig(limits=Limits(max_crashes=2))
    task_id = rig.create()
    for _ in range(3):
        rig.do(c.Release(lease=rig.claim(task_id).lease, crashed=True))
    assert isinstance(rig.claim(task_id), c.Quarantined)
    task = rig.task(task_id)
    assert task.status is Status.FAILED and "max_crashes" in task.error["message"]
    assert rig.claimed_ids() == []


# --- events


def test_events_lead_a_task_to_its_end(rig):
    task_id, lease = rig.create(claim=True)
    assert rig.commit(lease, ev.Progress(message="half")).snapshot.revision == 2
    assert rig.task(task_id).status_message == "half"
    assert rig.complete(lease).snapshot.task.result == RESULT
    assert rig.task(task_id).status is Status.COMPLETED


def test_i5_an_event_is_applied_once_and_its_replay_gets_the_first_revision(rig):
    _task_id, lease = rig.create(claim=True)
    event = ev.Progress(message="once")
    assert rig.commit(lease, event).snapshot.revision == 2
    rig.commit(lease, ev.Progress(message="later"))
    replayed = rig.commit(lease, event)
    assert isinstance(replayed, c.Replayed) and (replayed.revision, replayed.snapshot.revision) == (2, 3)
    assert replayed.snapshot.task.status_message == "later"


def test_i5_a_replay_is_answered_even_when_the_lease_is_gone(rig):
    """The report that ended the task is asked again after the answer was lost: it must not look refused."""
    _task_id, lease = rig.create(claim=True)
    event = ev.RetryRequested(error=ERROR, message=None)
    rig.commit(lease, event)
    assert isinstance(rig.commit(lease, event), c.Replayed)


def test_an_expected_revision_is_compare_and_set(rig):
    _task_id, lease = rig.create(claim=True)
    conflict = rig.commit(lease, ev.Progress(message="x"), expected_revision=7)
    assert isinstance(conflict, c.RevisionConflict) and conflict.snapshot.revision == 1
    assert isinstance(rig.commit(lease, ev.Progress(message="x"), expected_revision=1), c.Committed)


def all_authorities(rig, task_id, lease):
    return {
        "its worker": (lease, ev.Completed(result={"resultType": "complete", "content": [1]})),
        "its worker, failing": (lease, ev.Failed(error=ERROR, message="x")),
        "its worker, retrying": (lease, ev.RetryRequested(error=ERROR, message="x")),
        "a cancel": (rig.access(task_id, "cancel"), ev.Cancelled(message="x")),
        "an answer": (rig.access(task_id, "update"), ev.InputResponsesAccepted(responses={"go": {}})),
    }


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_i2_an_ended_task_never_changes_again(rig, end):
    """Whoever asks, whatever for: the same bytes, and `Unchanged`, which is no refusal."""
    task_id, lease = rig.create(claim=True, delays=[10])
    rig.ask(lease)
    ends = {"completed": ev.Completed(result=RESULT), "failed": ev.Failed(error=ERROR, message="f")}
    rig.commit(lease, ends[end]) if end in ends else rig.cancel(task_id)
    before = rig.get(task_id)
    for who, (authority, event) in all_authorities(rig, task_id, lease).items():
        assert isinstance(rig.commit(authority, event), c.Unchanged), who
    rig.do(c.Release(lease=lease))
    rig.clock.advance(60_000)
    assert (rig.get(task_id).task, rig.get(task_id).revision) == (before.task, before.revision)
    assert rig.claimed_ids() == []


def test_i8_after_a_cancel_nothing_of_the_worker_is_applied(rig):
    task_id, lease = rig.create(claim=True)
    rig.cancel(task_id)
    assert isinstance(rig.complete(lease), c.Unchanged) and rig.task(task_id).status is Status.CANCELLED
    assert rig.do(c.Renew(leases=(lease,), lease_ms=LEASE_MS)) == c.Renewed(stale=(lease,))


# --- questions


def test_i6_an_answer_is_kept_and_given_to_every_later_attempt(rig):
    task_id, lease = rig.create(claim=True)
    assert rig.ask(lease).snapshot.task.status is Status.INPUT_REQUIRED
    assert rig.answer(task_id).snapshot.task.status is Status.WORKING
    rig.do(c.Release(lease=lease))
    again = rig.claim(task_id)
    assert again.snapshot.inbox["go"]["content"] == {"ok": True}
    asked_again = rig.ask(again.lease)
    assert isinstance(asked_again, c.Unchanged) and asked_again.snapshot.task.input_requests == {}


def test_a_key_is_unique_for_life(rig):
    _task_id, lease = rig.create(claim=True)
    other = {**FORM, "params": {**FORM["params"], "message": "Another?"}}
    rig.ask(lease)
    assert isinstance(rig.ask(lease), c.Unchanged)
    assert rig.ask(lease, request=other) == DuplicateInputKey("go")


def test_a_kind_that_the_client_cannot_answer_is_refused(rig):
    _task_id, lease = rig.create(claim=True)
    refused = rig.ask(lease, request={"method": "sampling/createMessage", "params": {}})
    assert refused == InputKindNotDeclared("sampling")


def test_a_parked_task_without_an_attempt_is_not_run_until_it_is_answered(rig):
    """Running it again would only repeat its effects to ask the same question."""
    task_id, lease = rig.create(claim=True)
    rig.ask(lease)
    rig.do(c.Release(lease=lease))
    assert rig.claimed_ids() == [] and isinstance(rig.claim(task_id), c.Unavailable)
    rig.answer(task_id)
    assert rig.claimed_ids() == [task_id]


# --- retries


def test_i7_no_attempt_starts_before_its_back_off_ends(rig):
    task_id, lease = rig.create(claim=True, delays=[500, 1_000])
    assert rig.commit(lease, ev.RetryRequested(error=ERROR, message=None)).snapshot.retry_at_ms is not None
    rig.clock.advance(499)
    assert rig.claim(task_id) == c.Deferred(1)
    waiting = rig.claim_next()
    assert waiting.claimed == () and waiting.next_due_ms == rig.store.now_ms() + 1
    rig.clock.advance(1)
    assert rig.claimed_ids() == [task_id]


def test_a_used_up_policy_fails_the_task_in_the_same_transition(rig):
    task_id, lease = rig.create(claim=True, delays=[10])
    rig.commit(lease, ev.RetryRequested(error=ERROR, message=None))
    rig.clock.advance(10)
    [again] = rig.claim_next().claimed
    assert rig.commit(again.lease, ev.RetryRequested(error=ERROR, message="last")).snapshot.task.status is Status.FAILED
    assert rig.task(task_id).error == ERROR


# --- reaping


def test_reaping_forgets_what_has_expired_in_bounded_batches_and_nothing_else(rig):
    kept = rig.create(ttl_ms=None)
    expired = [rig.create(ttl_ms=1_000) for _ in range(5)]
    rig.clock.advance(1_000)
    first = rig.do(c.Reap(limit=3))
    assert (len(first.keys), first.more) == (3, True)
    second = rig.do(c.Reap(limit=3))
    assert (len(second.keys), second.more) == (2, False)
    assert {rig.access(task_id).key for task_id in expired} == {*first.keys, *second.keys}
    assert isinstance(rig.get(kept), c.Found) and rig.claimed_ids() == [kept]


def test_a_worker_of_a_reaped_task_is_told_that_it_is_gone(rig):
    _task_id, lease = rig.create(claim=True, ttl_ms=1_000)
    rig.clock.advance(1_000)
    rig.do(c.Reap())
    assert rig.complete(lease) == c.TaskNotFound()


# --- time


def test_a_wall_that_steps_back_does_not_take_the_store_clock_along(rig):
    before = rig.store.now_ms()
    rig.clock.step_wall(-3_600_000)
    rig.clock.advance(10)
    assert rig.store.now_ms() == before + 10


def test_transitions_are_published_in_order_after_the_commit(rig):
    task_id, lease = rig.create(claim=True)
    rig.commit(lease, ev.Progress(message="half"))
    rig.complete(lease)
    assert [t.kind for t in rig.published] == ["created", "progress", "completed"]
    assert rig.published[-1].snapshot.task == rig.task(task_id) and rig.published[-1].lease == lease


def test_a_refusal_publishes_nothing(rig):
    task_id = rig.create()
    rig.published.clear()
    rig.claim(task_id, supersedes=rig.create(claim=True)[1])
    rig.get(task_id)
    assert [t.kind for t in rig.published] == ["created"]
