"""The state machine: the only code in the project that changes a task's status.

`TRANSITIONS` says what may happen in which status and where it may lead; the reducers say how the
snapshot changes. Pure: time is an argument, effects are returned as data and done elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from taskward.domain import event as ev
from taskward.domain.json_value import digest
from taskward.domain.snapshot import Snapshot
from taskward.domain.task import Status

W, I = Status.WORKING, Status.INPUT_REQUIRED  # noqa: E741 - two letters keep the table a table
C, F, X = Status.COMPLETED, Status.FAILED, Status.CANCELLED

TRANSITIONS: Mapping[Status, Mapping[type[ev.Event], frozenset[Status]]] = {
    W: {
        ev.Progress: frozenset({W}),
        ev.InputRequested: frozenset({I}),
        ev.InputResponsesAccepted: frozenset({W}),
        ev.RetryRequested: frozenset({W, F}),
        ev.RetryRescheduled: frozenset({W}),
        ev.TtlChanged: frozenset({W}),
        ev.Completed: frozenset({C}),
        ev.Failed: frozenset({F}),
        ev.Cancelled: frozenset({X}),
    },
    I: {
        ev.Progress: frozenset({I}),
        ev.InputRequested: frozenset({I}),
        ev.InputResponsesAccepted: frozenset({I, W}),
        ev.RetryRequested: frozenset({W, F}),
        ev.TtlChanged: frozenset({I}),
        ev.Completed: frozenset({C}),
        ev.Failed: frozenset({F}),
        ev.Cancelled: frozenset({X}),
    },
    C: {},
    F: {},
    X: {},
}


@dataclass(frozen=True, slots=True)
class Ended:
    """The task reached a terminal status."""


@dataclass(frozen=True, slots=True)
class InputAsked:
    """A question is outstanding under `key`."""

    key: str


@dataclass(frozen=True, slots=True)
class InputAnswered:
    """Answers under these keys moved to the inbox."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The next attempt may start at `at_ms` of the store clock, not before."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class TtlSet:
    """The record is to be kept until `expires_at_ms` of the store clock; `None` = for ever."""

    expires_at_ms: int | None


Effect = Ended | InputAsked | InputAnswered | RetryScheduled | TtlSet


@dataclass(frozen=True, slots=True)
class DuplicateInputKey:
    """Another question was asked under this key before; keys are unique for a task's life."""

    key: str


@dataclass(frozen=True, slots=True)
class InputKindNotDeclared:
    """The client did not declare that it can answer this kind of question."""

    kind: str


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """This event cannot happen to a task in this status."""

    event: str
    status: Status


Reason = DuplicateInputKey | InputKindNotDeclared | NotAllowed


@dataclass(frozen=True, slots=True)
class Applied:
    """The event happened: the next snapshot, and what has to be done about it."""

    snapshot: Snapshot
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The event changes nothing: the task has ended, or it says what is already so."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Rejected:
    """The event must not happen."""

    reason: Reason


Outcome = Applied | Unchanged | Rejected


def apply(snapshot: Snapshot, event: ev.Event, now_ms: int) -> Outcome:
    """Let one event happen to one task.

    Args:
        snapshot: the state before.
        event: what happened.
        now_ms: the store clock at the commit, ms since the epoch.

    Returns:
        `Applied` with the next revision, `Unchanged` (always, for a terminal task: I2), or `Rejected`.
    """
    status = snapshot.task.status
    if status.terminal:
        return Unchanged(snapshot)
    allowed = TRANSITIONS[status].get(type(event))
    if allowed is None:
        return Rejected(NotAllowed(event.kind, status))
    outcome = _REDUCERS[type(event)](snapshot, event, now_ms)
    if isinstance(outcome, Applied):
        assert outcome.snapshot.task.status in allowed, (status, event.kind, outcome.snapshot.task.status)
    return outcome


def input_kind(request: Mapping[str, Any]) -> str:
    """Name the client capability that a question needs: `sampling`, `roots`, `elicitation.form`, `elicitation.url`."""
    method = request["method"]
    if method == ev.ELICITATION:
        return f"elicitation.{request['params'].get('mode', 'form')}"
    return str(method).split("/", 1)[0]


def _next(snapshot: Snapshot, now_ms: int, *, task: Mapping[str, Any] | None = None, **changes: Any) -> Snapshot:
    changed = replace(snapshot.task, updated_at_ms=now_ms, **(task or {}))
    return replace(snapshot, revision=snapshot.revision + 1, task=changed, **changes)


def _end(snapshot: Snapshot, now_ms: int, status: Status, **task: Any) -> Applied:
    last_words = {
        "status": status,
        "input_requests": {},
        "poll_interval_ms": snapshot.task.poll_ms(now_ms),
        **task,
    }
    return Applied(_next(snapshot, now_ms, task=last_words, retry_at_ms=None), (Ended(),))


def _fail(snapshot: Snapshot, event: ev.Failed | ev.RetryRequested, now_ms: int) -> Applied:
    message = event.message if event.message is not None else event.error["message"]
    return _end(snapshot, now_ms, Status.FAILED, error=event.error, status_message=message)


def _progress(snapshot: Snapshot, event: ev.Progress, now_ms: int) -> Outcome:
    if event.message == snapshot.task.status_message:
        return Unchanged(snapshot)
    return Applied(_next(snapshot, now_ms, task={"status_message": event.message}))


def _input_requested(snapshot: Snapshot, event: ev.InputRequested, now_ms: int) -> Outcome:
    asked = digest(event.request)
    if snapshot.input_history.get(event.key, asked) != asked:
        return Rejected(DuplicateInputKey(event.key))
    if event.key in snapshot.task.input_requests or event.key in snapshot.inbox:
        return Unchanged(snapshot)
    kind = input_kind(event.request)
    if kind not in snapshot.declared_inputs:
        return Rejected(InputKindNotDeclared(kind))
    outstanding = {**snapshot.task.input_requests, event.key: event.request}
    parked = {"status": Status.INPUT_REQUIRED, "input_requests": outstanding}
    history = {**snapshot.input_history, event.key: asked}
    return Applied(_next(snapshot, now_ms, task=parked, input_history=history), (InputAsked(event.key),))


def _input_accepted(snapshot: Snapshot, event: ev.InputResponsesAccepted, now_ms: int) -> Outcome:
    outstanding = snapshot.task.input_requests
    answered = {key: value for key, value in event.responses.items() if key in outstanding}
    if not answered:
        return Unchanged(snapshot)
    left = {key: request for key, request in outstanding.items() if key not in answered}
    task = {"status": Status.INPUT_REQUIRED if left else Status.WORKING, "input_requests": left}
    inbox = {**snapshot.inbox, **answered}
    return Applied(_next(snapshot, now_ms, task=task, inbox=inbox), (InputAnswered(tuple(answered)),))


def _retry_requested(snapshot: Snapshot, event: ev.RetryRequested, now_ms: int) -> Outcome:
    delay_ms = snapshot.work.retry_policy.delay_ms(snapshot.retry_count)
    if delay_ms is None:
        return _fail(snapshot, event, now_ms)
    at_ms = now_ms + delay_ms
    waiting: dict[str, Any] = {"status": Status.WORKING, "input_requests": {}, "status_message": event.message}
    after = _next(
        snapshot,
        now_ms,
        task=waiting,
        retry_count=snapshot.retry_count + 1,
        retry_at_ms=at_ms,
        last_failure=event.error,
    )
    return Applied(after, (RetryScheduled(at_ms),))


def _retry_rescheduled(snapshot: Snapshot, event: ev.RetryRescheduled, now_ms: int) -> Outcome:
    if snapshot.retry_at_ms is None:
        return Rejected(NotAllowed(event.kind, snapshot.task.status))
    return Applied(_next(snapshot, now_ms, retry_at_ms=event.at_ms), (RetryScheduled(event.at_ms),))


def _ttl_changed(snapshot: Snapshot, event: ev.TtlChanged, now_ms: int) -> Outcome:
    after = _next(snapshot, now_ms, task={"ttl_ms": event.ttl_ms})
    return Applied(after, (TtlSet(after.task.expires_at_ms),))


def _completed(snapshot: Snapshot, event: ev.Completed, now_ms: int) -> Outcome:
    return _end(snapshot, now_ms, Status.COMPLETED, result=event.result)


def _failed(snapshot: Snapshot, event: ev.Failed, now_ms: int) -> Outcome:
    return _fail(snapshot, event, now_ms)


def _cancelled(snapshot: Snapshot, event: ev.Cancelled, now_ms: int) -> Outcome:
    return _end(snapshot, now_ms, Status.CANCELLED, status_message=event.message)


_REDUCERS: Mapping[type[ev.Event], Callable[[Snapshot, Any, int], Outcome]] = {
    ev.Progress: _progress,
    ev.InputRequested: _input_requested,
    ev.InputResponsesAccepted: _input_accepted,
    ev.RetryRequested: _retry_requested,
    ev.RetryRescheduled: _retry_rescheduled,
    ev.TtlChanged: _ttl_changed,
    ev.Completed: _completed,
    ev.Failed: _failed,
    ev.Cancelled: _cancelled,
}
