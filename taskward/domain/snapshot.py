"""A task's whole state at one revision: the public part, and what its attempts need."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from taskward.domain.json_value import JsonObject
from taskward.domain.task import Task
from taskward.domain.work import Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One revision of one task.

    Attributes:
        revision: rises by one with each applied event; claims never change it.
        task: the public part.
        work: what the task is to do; immutable.
        retry_count: retries scheduled so far.
        retry_at_ms: no attempt starts before this moment of the store clock (I7); `None` = not in back-off.
        last_failure: the error of the last retry request.
        input_history: digest of each question ever asked, by its key (keys are unique for life).
        inbox: accepted answers by key, kept until the record is reaped (I6).
        attempts: claims granted so far.
        crashes: attempts that died without an outcome.
        interruptions: attempts under which the server died.
        declared_inputs: the kinds of question that the client can answer.
    """

    revision: int
    task: Task
    work: Work
    retry_count: int = 0
    retry_at_ms: int | None = None
    last_failure: JsonObject | None = None
    input_history: Mapping[str, str] = field(default_factory=dict)
    inbox: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 0
    crashes: int = 0
    interruptions: int = 0
    declared_inputs: frozenset[str] = frozenset()

    def to_map(self) -> JsonObject:
        """Give the stored form, without the work, which is stored once and apart."""
        return {
            "rev": self.revision,
            "task": self.task.to_map(),
            "retries": self.retry_count,
            "retry_at": self.retry_at_ms,
            "failure": self.last_failure,
            "asked": dict(self.input_history),
            "inbox": dict(self.inbox),
            "attempts": self.attempts,
            "crashes": self.crashes,
            "interruptions": self.interruptions,
            "declared": sorted(self.declared_inputs),
        }

    @classmethod
    def from_map(cls, task_id: str, data: Mapping[str, Any], work: Work) -> Self:
        """Read the stored form."""
        return cls(
            revision=data["rev"],
            task=Task.from_map(task_id, data["task"]),
            work=work,
            retry_count=data["retries"],
            retry_at_ms=data["retry_at"],
            last_failure=data["failure"],
            input_history=data["asked"],
            inbox=data["inbox"],
            attempts=data["attempts"],
            crashes=data["crashes"],
            interruptions=data["interruptions"],
            declared_inputs=frozenset(data["declared"]),
        )
