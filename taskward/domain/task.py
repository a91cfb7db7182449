"""The task as a client may see it: status, message, times, and what belongs to the status."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from taskward.domain.json_value import JsonObject

FIRST_POLL_MS = 100
LONGEST_POLL_MS = 5_000
POLL_SHARE_OF_AGE = 10


class Status(StrEnum):
    """The five statuses of SEP-2663, spelt as on the wire."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def terminal(self) -> bool:
        """Whether a task in this status never changes again (I2)."""
        return self in TERMINAL


TERMINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The public part of a task.

    Attributes:
        task_id: the id that its client holds.
        status: see `Status`.
        status_message: one sentence for a person, or `None`.
        created_at_ms: store clock at creation, ms since the epoch.
        updated_at_ms: store clock at the last revision, ms since the epoch.
        ttl_ms: how long from creation the task is kept, in ms; `None` = for ever.
        poll_interval_ms: frozen when the task ends; `None` while it lives (then it grows with age).
        input_requests: the outstanding questions by key.
        result: what the call produced, if completed.
        error: the JSON-RPC error object, if failed.
    """

    task_id: str
    status: Status = Status.WORKING
    status_message: str | None = None
    created_at_ms: int
    updated_at_ms: int
    ttl_ms: int | None
    poll_interval_ms: int | None = None
    input_requests: Mapping[str, JsonObject] = field(default_factory=dict)
    result: JsonObject | None = None
    error: JsonObject | None = None

    @property
    def expires_at_ms(self) -> int | None:
        """When the task may be forgotten (creation plus TTL, store clock ms), or `None`."""
        return None if self.ttl_ms is None else self.created_at_ms + self.ttl_ms

    def expired(self, now_ms: int) -> bool:
        """Tell whether the TTL has passed at `now_ms` of the store clock."""
        return self.expires_at_ms is not None and now_ms >= self.expires_at_ms

    def poll_ms(self, now_ms: int) -> int:
        """Give the poll interval to advertise at `now_ms`: short at first, growing with age, frozen at the end."""
        return (
            self.poll_interval_ms if self.poll_interval_ms is not None else poll_interval(now_ms - self.created_at_ms)
        )

    def to_map(self) -> JsonObject:
        """Give the stored form."""
        return {
            "status": self.status.value,
            "message": self.status_message,
            "created": self.created_at_ms,
            "updated": self.updated_at_ms,
            "ttl": self.ttl_ms,
            "poll": self.poll_interval_ms,
            "asks": dict(self.input_requests),
            "result": self.result,
            "error": self.error,
        }

    @classmethod
    def from_map(cls, task_id: str, data: Mapping[str, Any]) -> Self:
        """Read the stored form; the id comes from the key it was stored under."""
        return cls(
            task_id=task_id,
            status=Status(data["status"]),
            status_message=data["message"],
            created_at_ms=data["created"],
            updated_at_ms=data["updated"],
            ttl_ms=data["ttl"],
            poll_interval_ms=data["poll"],
            input_requests=data["asks"],
            result=data["result"],
            error=data["error"],
        )


def poll_interval(age_ms: int) -> int:
    """Give the interval to advertise to a client for a live task of this age, in ms (clients obey it literally)."""
    return max(FIRST_POLL_MS, min(LONGEST_POLL_MS, age_ms // POLL_SHARE_OF_AGE))
