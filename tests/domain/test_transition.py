"""The transition table under any history: what may happen to a task, and what never does."""

from dataclasses import replace

import pytest
from domain.strategies import (
    BARE_FORM,
    ERROR,
    FORM,
    KEYS,
    KIND_OF,
    KINDS,
    LIVE,
    NOW,
    PROFILE,
    errors,
    events,
    events_of,
    json_objects,
    json_values,
    lively,
    messages,
    moments,
    questions,
    requests,
    snapshots,
)
from hypothesis import example, given
from hypothesis import strategies as st

from taskward.domain import event as ev
from taskward.domain.retry import RetryPolicy
from taskward.domain.snapshot import Snapshot
from taskward.domain.task import TERMINAL, Status, Task
from taskward.domain.transition import (
    TRANSITIONS,
    Applied,
    DuplicateInputKey,
    Ended,
    InputAnswered,
    InputAsked,
    InputKindNotDeclared,
    NotAllowed,
    Rejected,
    RetryScheduled,
    TtlSet,
    Unchanged,
    apply,
    input_kind,
)
from taskward.domain.work import Work

ASK_A = ev.InputRequested(key="a", request=FORM)
STEP_MS = st.integers(0, 10**7)


def live(delays=(), declared=KINDS, **changes):
    """A task that has just been created."""
    task = Task(task_id="t", created_at_ms=NOW, updated_at_ms=NOW, ttl_ms=60_000)
    work = Work(type="tools/call", input={}, idempotency_key="t", retry_policy=RetryPolicy.exact(delays))
    return Snapshot(revision=1, task=task, work=work, declared_inputs=frozenset(declared), **changes)


def after(snapshot, *history, now_ms=NOW):
    """The snapshot after these events, all of which must apply."""
    for event in history:
        outcome = apply(snapshot, event, now_ms)
        assert isinstance(outcome, Applied), (event, outcome)
        snapshot = outcome.snapshot
    return snapshot


def history(of=events, max_size=12):
    return st.lists(st.tuples(of, STEP_MS), max_size=max_size)


def test_the_table_is_the_one_of_the_design():
    working, asking, completed, failed, cancelled = Status
    ends = {ev.Completed: {completed}, ev.Failed: {failed}, ev.Cancelled: {cancelled}}
    assert {
        working: {
            ev.Progress: {working},
            ev.InputRequested: {asking},
            ev.InputResponsesAccepted: {working},
            ev.RetryRequested: {working, failed},
            ev.RetryRescheduled: {working},
            ev.TtlChanged: {working},
            **ends,
        },
        asking: {
            ev.Progress: {asking},
            ev.InputRequested: {asking},
            ev.InputResponsesAccepted: {asking, working},
            ev.RetryRequested: {working, failed},
            ev.TtlChanged: {asking},
            **ends,
        },
        completed: {},
        failed: {},
        cancelled: {},
    } == TRANSITIONS


@PROFILE
@given(snapshots(), history())
def test_any_history_moves_only_as_the_table_allows(snapshot, steps):
    now_ms = NOW
    for event, step_ms in steps:
        now_ms += step_ms
        before = snapshot
        outcome = apply(before, event, now_ms)
        if isinstance(outcome, Applied):
            snapshot = outcome.snapshot
            assert snapshot.task.status in TRANSITIONS[before.task.status][type(event)]
            assert snapshot.revision == before.revision + 1
            assert snapshot.task.updated_at_ms == now_ms
            check_kept(before, snapshot)
            check_whole(snapshot)
        elif isinstance(outcome, Unchanged):
            assert outcome.snapshot is before
        else:
            assert isinstance(outcome, Rejected) and not before.task.status.terminal


def check_kept(before, now):
    """What no event touches, and what only grows."""
    for name in ("work", "attempts", "crashes", "interruptions", "declared_inputs"):
        assert getattr(now, name) == getattr(before, name), name
    assert (now.task.task_id, now.task.created_at_ms) == (before.task.task_id, before.task.created_at_ms)
    assert {key: now.inbox[key] for key in before.inbox} == before.inbox
    assert before.input_history.items() <= now.input_history.items()
    assert now.retry_count - before.retry_count in (0, 1)


def check_whole(snapshot):
    """What belongs to a status is there, and nothing else."""
    task = snapshot.task
    assert (task.status is Status.INPUT_REQUIRED) == bool(task.input_requests)
    assert (task.status is Status.COMPLETED) == (task.result is not None)
    assert (task.status is Status.FAILED) == (task.error is not None)
    assert task.status.terminal == (task.poll_interval_ms is not None)
    assert not task.input_requests.keys() & snapshot.inbox.keys()
    assert snapshot.input_history.keys() >= task.input_requests.keys() | snapshot.inbox.keys()


@PROFILE
@given(snapshots(tuple(TERMINAL)), events, moments)
def test_i2_an_ended_task_never_changes(snapshot, event, now_ms):
    outcome = apply(snapshot, event, now_ms)
    assert isinstance(outcome, Unchanged) and outcome.snapshot is snapshot
    assert snapshot.task.poll_ms(now_ms) == snapshot.task.poll_interval_ms


@PROFILE
@given(snapshots(LIVE), events_of(ev.Completed, ev.Failed, ev.Cancelled), moments)
def test_an_end_is_reached_at_once_and_holds_its_outcome(snapshot, event, now_ms):
    outcome = apply(snapshot, event, now_ms)
    assert isinstance(outcome, Applied) and outcome.effects == (Ended(),)
    ended = outcome.snapshot
    assert ended.task.poll_interval_ms == snapshot.task.poll_ms(now_ms)
    assert ended.retry_at_ms is None and ended.task.input_requests == {}
    match event:
        case ev.Completed(result=result):
            assert (ended.task.status, ended.task.result) == (Status.COMPLETED, result)
            assert ended.task.status_message == snapshot.task.status_message
        case ev.Failed(error=error, message=message):
            assert (ended.task.status, ended.task.error) == (Status.FAILED, error)
            assert ended.task.status_message == (error["message"] if message is None else message)
        case ev.Cancelled(message=message):
            assert (ended.task.status, ended.task.status_message) == (Status.CANCELLED, message)


# --- questions and answers


@PROFILE
@given(
    st.frozensets(st.sampled_from(KINDS)),
    st.lists(events_of(ev.InputRequested, ev.InputResponsesAccepted, ev.RetryRequested, ev.Progress), max_size=14),
)
@example(KINDS, [ev.InputRequested(key="a", request=FORM), ev.InputRequested(key="a", request=BARE_FORM)])
@example(KINDS, [ASK_A, ev.InputResponsesAccepted(responses={"a": 1}), ev.Progress(message="x"), ASK_A])
@example(KINDS, [ASK_A, ev.RetryRequested(error=ERROR), ASK_A, ASK_A])
def test_questions_and_answers_follow_a_model_of_their_own(declared, history):
    """Keys are unique for life; the same question re-attaches; an answer stays (I6) and is not asked for again."""
    snapshot = live([1] * 20, declared)
    asked, outstanding, answered = {}, set(), {}
    for event in history:
        outcome = apply(snapshot, event, NOW)
        if isinstance(event, ev.InputRequested):
            kind = next(kind for request, kind in KIND_OF if request == event.request)
            if asked.get(event.key, event.request) != event.request:
                assert outcome == Rejected(DuplicateInputKey(event.key))
            elif event.key in outstanding or event.key in answered:
                assert isinstance(outcome, Unchanged)
            elif kind not in declared:
                assert outcome == Rejected(InputKindNotDeclared(kind))
            else:
                assert isinstance(outcome, Applied) and outcome.effects == (InputAsked(event.key),)
                asked[event.key] = event.request
                outstanding.add(event.key)
        elif isinstance(event, ev.InputResponsesAccepted):
            taken = {key: value for key, value in event.responses.items() if key in outstanding}
            if taken:
                assert isinstance(outcome, Applied) and outcome.effects == (InputAnswered(tuple(taken)),)
                answered |= taken
                outstanding -= taken.keys()
            else:
                assert isinstance(outcome, Unchanged)
        elif isinstance(event, ev.RetryRequested):
            assert isinstance(outcome, Applied)
            outstanding.clear()
        snapshot = outcome.snapshot if isinstance(outcome, Applied) else snapshot
        assert snapshot.task.input_requests == {key: asked[key] for key in outstanding}
        assert snapshot.inbox == answered and snapshot.input_history.keys() == asked.keys()
        assert snapshot.task.status is (Status.INPUT_REQUIRED if outstanding else Status.WORKING)


@PROFILE
@given(snapshots(LIVE), history(lively, 8))
def test_i6_an_accepted_answer_stays_and_is_never_asked_for_again(snapshot, steps):
    inbox, now_ms = dict(snapshot.inbox), NOW
    for event, step_ms in steps:
        now_ms += step_ms
        outcome = apply(snapshot, event, now_ms)
        snapshot = outcome.snapshot if isinstance(outcome, Applied) else snapshot
        assert {kept: snapshot.inbox[kept] for kept in inbox} == inbox
        inbox = dict(snapshot.inbox)
    able = replace(snapshot, declared_inputs=frozenset(KINDS))
    for key in inbox:
        for request, _ in KIND_OF:
            assert not isinstance(apply(able, ev.InputRequested(key=key, request=request), now_ms), Applied)


@PROFILE
@given(snapshots((Status.INPUT_REQUIRED,)), json_values, moments)
def test_an_answer_to_everything_sets_the_task_to_work(snapshot, answer, now_ms):
    responses = dict.fromkeys([*snapshot.task.input_requests, "never-asked"], answer)
    outcome = apply(snapshot, ev.InputResponsesAccepted(responses=responses), now_ms)
    assert outcome.snapshot.task.status is Status.WORKING
    assert outcome.snapshot.inbox == {**snapshot.inbox, **dict.fromkeys(snapshot.task.input_requests, answer)}


@PROFILE
@given(st.lists(requests, min_size=3, max_size=3), st.sets(st.sampled_from(KEYS), max_size=3), json_values)
def test_a_partial_answer_leaves_the_rest_outstanding(asked, answered, answer):
    snapshot = after(live(), *(ev.InputRequested(key=k, request=r) for k, r in zip(KEYS, asked, strict=True)))
    outcome = apply(snapshot, ev.InputResponsesAccepted(responses=dict.fromkeys(answered, answer)), NOW)
    left = {key: request for key, request in snapshot.task.input_requests.items() if key not in answered}
    assert isinstance(outcome, Applied if answered else Unchanged)
    assert outcome.snapshot.task.input_requests == left
    assert outcome.snapshot.task.status is (Status.INPUT_REQUIRED if left else Status.WORKING)


@PROFILE
@given(questions, st.sampled_from(KEYS), requests)
def test_a_question_asked_before_a_retry_may_be_asked_again_after_it(asked, key, request):
    """The body is re-run: an unanswered question is outstanding once more, under its key and no other text."""
    snapshot = after(live([0]), *(ev.InputRequested(key=k, request=r) for k, r in asked.items()))
    snapshot = after(snapshot, ev.RetryRequested(error=ERROR))
    assert snapshot.task.input_requests == {}
    again = apply(snapshot, ev.InputRequested(key=key, request=request), NOW)
    if asked.get(key, request) == request:
        assert again.snapshot.task.input_requests == {key: request}
    else:
        assert again == Rejected(DuplicateInputKey(key))


def test_equal_questions_are_equal_whatever_the_order_of_their_members():
    turned = {"params": dict(reversed(FORM["params"].items())), "method": FORM["method"]}
    asked = after(live(), ev.InputRequested(key="a", request=FORM))
    assert isinstance(apply(asked, ev.InputRequested(key="a", request=turned), NOW), Unchanged)


@pytest.mark.parametrize(("request_", "kind"), KIND_OF)
def test_a_question_needs_the_capability_that_it_names(request_, kind):
    assert input_kind(request_) == kind
    others = [other for other in KINDS if other != kind]
    asking = ev.InputRequested(key="a", request=request_)
    assert apply(live(declared=others), asking, NOW) == Rejected(InputKindNotDeclared(kind))
    assert isinstance(apply(live(declared=[kind]), asking, NOW), Applied)


# --- retries


@PROFILE
@given(
    st.lists(st.integers(0, 10**6), max_size=5),
    st.lists(st.tuples(errors, messages, STEP_MS), min_size=6, max_size=6),
)
@example([], [(ERROR, None, 0)] * 6)
def test_retries_follow_the_exact_list_of_delays_and_then_fail(delays, requests_):
    snapshot, now_ms = live(delays), NOW
    for count, (error, message, step_ms) in enumerate(requests_[: len(delays)]):
        now_ms += step_ms
        outcome = apply(snapshot, ev.RetryRequested(error=error, message=message), now_ms)
        assert outcome.effects == (RetryScheduled(now_ms + delays[count]),)
        snapshot = outcome.snapshot
        assert (snapshot.retry_at_ms, snapshot.retry_count) == (now_ms + delays[count], count + 1)
        assert snapshot.last_failure == error and snapshot.task.error is None
        assert (snapshot.task.status, snapshot.task.status_message) == (Status.WORKING, message)
    error, message, _ = requests_[len(delays)]
    outcome = apply(snapshot, ev.RetryRequested(error=error, message=message), now_ms)
    assert outcome.effects == (Ended(),)
    assert (outcome.snapshot.task.status, outcome.snapshot.task.error) == (Status.FAILED, error)
    assert outcome.snapshot.retry_count == len(delays) and outcome.snapshot.retry_at_ms is None


@PROFILE
@given(snapshots(LIVE), errors, moments)
def test_a_retry_from_any_live_snapshot(snapshot, error, now_ms):
    delays = snapshot.work.retry_policy.delays_ms
    outcome = apply(snapshot, ev.RetryRequested(error=error), now_ms)
    if snapshot.retry_count < len(delays):
        assert outcome.snapshot.retry_at_ms == now_ms + delays[snapshot.retry_count]
    else:
        assert outcome.snapshot.task.error == error and outcome.snapshot.task.status is Status.FAILED


@PROFILE
@given(snapshots(LIVE), st.integers(0, NOW), moments)
def test_only_a_task_in_back_off_is_rescheduled(snapshot, at_ms, now_ms):
    outcome = apply(snapshot, ev.RetryRescheduled(at_ms=at_ms), now_ms)
    if snapshot.retry_at_ms is None:
        assert outcome == Rejected(NotAllowed("retry_rescheduled", snapshot.task.status))
    else:
        assert outcome.effects == (RetryScheduled(at_ms),)
        assert outcome.snapshot == replace(
            snapshot,
            revision=snapshot.revision + 1,
            retry_at_ms=at_ms,
            task=replace(snapshot.task, updated_at_ms=now_ms),
        )


# --- progress and TTL


@PROFILE
@given(snapshots(LIVE), st.text(max_size=5), moments)
def test_progress_changes_the_message_and_nothing_else(snapshot, message, now_ms):
    once = apply(snapshot, ev.Progress(message=message), now_ms)
    if snapshot.task.status_message == message:
        assert isinstance(once, Unchanged)
        return
    told = replace(snapshot.task, status_message=message, updated_at_ms=now_ms)
    assert once == Applied(replace(snapshot, revision=snapshot.revision + 1, task=told))
    assert isinstance(apply(once.snapshot, ev.Progress(message=message), now_ms + 1), Unchanged)


@PROFILE
@given(snapshots(LIVE), st.none() | st.integers(1, 10**9), moments)
def test_a_changed_ttl_is_told_with_the_moment_it_means(snapshot, ttl_ms, now_ms):
    outcome = apply(snapshot, ev.TtlChanged(ttl_ms=ttl_ms), now_ms)
    until = None if ttl_ms is None else snapshot.task.created_at_ms + ttl_ms
    assert outcome.effects == (TtlSet(until),)
    assert (outcome.snapshot.task.ttl_ms, outcome.snapshot.task.expires_at_ms) == (ttl_ms, until)
    assert outcome.snapshot.task.status is snapshot.task.status


@PROFILE
@given(json_objects)
def test_a_result_is_kept_exactly_as_it_is(result):
    assert after(live(), ev.Completed(result=result)).task.result is result
