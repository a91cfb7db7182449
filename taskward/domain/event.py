"""Everything that can happen to a task, one frozen class each, and nothing else can.

An event carries its own id, stable across retries of the same report, so that it is applied at most
once in a task's life (I5). Construction validates shape; `transition.apply` decides meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar
from uuid import uuid4

from taskward.domain.errors import InvalidValue
from taskward.domain.json_value import JsonObject, check_json

VERSION = 1

ELICITATION, SAMPLING, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
QUESTIONS = (ELICITATION, SAMPLING, ROOTS)
"""What a client can be asked, by method."""

FORM_PARAMS: Mapping[str, type] = {"message": str, "requestedSchema": dict}
URL_PARAMS: Mapping[str, type] = {"message": str, "url": str}


def new_event_id() -> str:
    """Give a fresh unguessable event id."""
    return uuid4().hex


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    event_id: str = field(default_factory=new_event_id)

    def __post_init__(self) -> None:
        _need(isinstance(self.event_id, str) and self.event_id != "", "an event id is a string, and not empty")
        self._check()

    def _check(self) -> None:
        """Refuse a wrong shape; each event knows its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(_Event):
    """The attempt says how far it is."""

    kind: ClassVar[str] = "progress"
    message: str

    def _check(self) -> None:
        _need(isinstance(self.message, str), f"a progress message is a string, not a {type(self.message).__name__}")


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRequested(_Event):
    """The attempt asks its user; `request` is `{method, params}` as on the wire."""

    kind: ClassVar[str] = "input_requested"
    key: str
    request: JsonObject

    def _check(self) -> None:
        _need(isinstance(self.key, str) and self.key != "", "the key of a question is a string, and not empty")
        check_question(self.request, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputResponsesAccepted(_Event):
    """The client answered; unknown and answered keys are ignored."""

    kind: ClassVar[str] = "input_responses_accepted"
    responses: Mapping[str, Any]

    def _check(self) -> None:
        named = isinstance(self.responses, Mapping) and all(isinstance(key, str) for key in self.responses)
        _need(named, "answers come by the keys of their questions, which are strings")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRequested(_Event):
    """The executor asks for another attempt after the next delay of the policy."""

    kind: ClassVar[str] = "retry_requested"
    error: JsonObject
    message: str | None = None

    def _check(self) -> None:
        check_error(self.error)
        _check_last_words(self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRescheduled(_Event):
    """An operator moves the next attempt of a task in back-off; `at_ms` is store clock."""

    kind: ClassVar[str] = "retry_rescheduled"
    at_ms: int

    def _check(self) -> None:
        _need(type(self.at_ms) is int and self.at_ms >= 0, "a moment is an integer of ms since the epoch")


@dataclass(frozen=True, slots=True, kw_only=True)
class TtlChanged(_Event):
    """The task is to be kept for `ttl_ms` from its creation; `None` = for ever."""

    kind: ClassVar[str] = "ttl_changed"
    ttl_ms: int | None

    def _check(self) -> None:
        lasting = self.ttl_ms is None or (type(self.ttl_ms) is int and self.ttl_ms > 0)
        _need(lasting, "a TTL is a positive integer of ms, or None for ever")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed(_Event):
    """The call produced a result; a tool's own error is a result with `isError: true`."""

    kind: ClassVar[str] = "completed"
    result: JsonObject

    def _check(self) -> None:
        _need(isinstance(self.result, dict), f"a result is a JSON object, not a {type(self.result).__name__}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(_Event):
    """The call ended in a JSON-RPC error `{code, message, data?}`."""

    kind: ClassVar[str] = "failed"
    error: JsonObject
    message: str | None = None

    def _check(self) -> None:
        check_error(self.error)
        _check_last_words(self.message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled(_Event):
    """Its client, or an operator, ended the task."""

    kind: ClassVar[str] = "cancelled"
    message: str | None = None

    def _check(self) -> None:
        _check_last_words(self.message)


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


def check_error(error: Any) -> None:
    """Refuse what is not a JSON-RPC error object.

    Raises:
        InvalidValue: it is not `{code, message, data?}` in JSON.
    """
    known = isinstance(error, dict) and error.keys() <= {"code", "message", "data"}
    fit = known and type(error.get("code")) is int and isinstance(error.get("message"), str)
    _need(fit, "an error is an object of an integer code, a message that is a string, and perhaps data")
    check_json(error, max_bytes=None, path="error")


def check_question(request: Any, key: str) -> None:
    """Refuse what no client can be asked: the store would keep a question that nobody can answer.

    Args:
        request: `{method, params}` as on the wire.
        key: names the question in the message.

    Raises:
        InvalidValue: the sentence says what is wrong.
    """
    check_json({key: request}, max_bytes=None, path="question")
    method = request.get("method") if isinstance(request, dict) else None
    _need(method in QUESTIONS, f"the question {key!r} needs a method, one of {', '.join(QUESTIONS)}")
    params = request.get("params", {})
    given = method == ROOTS or "params" in request
    _need(given and isinstance(params, dict), f"the question {key!r} needs params, and they are an object")
    if method == ELICITATION:
        mode = params.get("mode", "form")
        _need(mode in ("form", "url"), f"the question {key!r} has the mode {mode!r:.80}; it is 'form' or 'url'")
        needed = FORM_PARAMS if mode == "form" else URL_PARAMS
        whole = all(isinstance(params.get(name), kind) for name, kind in needed.items())
        _need(whole, f"the question {key!r} of mode {mode!r} needs {' and '.join(needed)}")


def _check_last_words(message: Any) -> None:
    _need(message is None or isinstance(message, str), f"a status message is a string, not a {type(message).__name__}")


def _need(fit: bool, sentence: str) -> None:
    if not fit:
        raise InvalidValue(sentence)


def event_to_map(event: Event) -> JsonObject:
    """Give the stored form of any event."""
    values = {f.name: getattr(event, f.name) for f in fields(event)}
    return {"v": VERSION, "kind": event.kind, **values}


def event_from_map(data: Mapping[str, Any]) -> Event:
    """Read the stored form of any event.

    Raises:
        InvalidValue: its kind, version or shape is not one this program knows.
    """
    values = dict(data)
    version, kind = values.pop("v", None), values.pop("kind", None)
    cls = EVENTS.get(kind) if isinstance(kind, str) else None
    if version != VERSION or cls is None:
        raise InvalidValue(f"event {kind!r} of version {version!r} is not one this program can read")
    if values.keys() != {f.name for f in fields(cls)}:
        raise InvalidValue(f"event {kind!r} does not have the fields that version {VERSION} has")
    return cls(**values)
