"""Everything that can happen to a task, one frozen class each, and nothing else can.

An event carries its own id, stable across retries of the same report, so that it is applied at most
once in a task's life (I5). Construction validates shape; `transition.apply` decides meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar
from uuid import uuid4

from taskward.domain.errors import InvalidValue
from taskward.domain.json_value import JsonObject

VERSION = 1


def new_event_id() -> str:
    """Give a fresh unguessable event id."""
    return uuid4().hex


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    event_id: str = field(default_factory=new_event_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(_Event):
    """The attempt says how far it is."""

    kind: ClassVar[str] = "progress"
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRequested(_Event):
    """The attempt asks its user; `request` is `{method, params}` as on the wire."""

    kind: ClassVar[str] = "input_requested"
    key: str
    request: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class InputResponsesAccepted(_Event):
    """The client answered; unknown and answered keys are ignored."""

    kind: ClassVar[str] = "input_responses_accepted"
    responses: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRequested(_Event):
    """The executor asks for another attempt after the next delay of the policy."""

    kind: ClassVar[str] = "retry_requested"
    error: JsonObject
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRescheduled(_Event):
    """An operator moves the next attempt of a task in back-off; `at_ms` is store clock."""

    kind: ClassVar[str] = "retry_rescheduled"
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlChanged(_Event):
    """The task is to be kept for `ttl_ms` from its creation; `None` = for ever."""

    kind: ClassVar[str] = "ttl_changed"
    ttl_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed(_Event):
    """The call produced a result; a tool's own error is a result with `isError: true`."""

    kind: ClassVar[str] = "completed"
    result: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(_Event):
    """The call ended in a JSON-RPC error `{code, message, data?}`."""

    kind: ClassVar[str] = "failed"
    error: JsonObject
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled(_Event):
    """Its client, or an operator, ended the task."""

    kind: ClassVar[str] = "cancelled"
    message: str | None = None


Event = (
    Progress
    | InputRequested
    | InputResponsesAccepted
    | RetryRequested
    | RetryRescheduled
    | TtlChanged
    | Completed
    | Failed
    | Cancelled
)

EVENTS: Mapping[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        Progress,
        InputRequested,
        InputResponsesAccepted,
        RetryRequested,
        RetryRescheduled,
        TtlChanged,
        Completed,
        Failed,
        Cancelled,
    )
}


def event_to_map(event: Event) -> JsonObject:
    """Give the stored form of any event."""
    values = {f.name: getattr(event, f.name) for f in fields(event)}
    return {"v": VERSION, "kind": event.kind, **values}


def event_from_map(data: Mapping[str, Any]) -> Event:
    """Read the stored form of any event.

    Raises:
        InvalidValue: its kind or version is not one this program knows.
    """
    values = dict(data)
    version, kind = values.pop("v", None), values.pop("kind", None)
    if version != VERSION or kind not in EVENTS:
        raise InvalidValue(f"event {kind!r} of version {version!r} is not one this program can read")
    return EVENTS[kind](**values)
