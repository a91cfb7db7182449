"""Work: what a task is to do, in JSON, complete enough to run it again after a crash.

A descriptor holds no runtime state and no secret of the request (I10): only what the application's
`work_builder` chose to keep.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from taskward.domain.errors import InvalidValue
from taskward.domain.json_value import JsonObject, check_json
from taskward.domain.retry import RetryPolicy

TOOL_CALL = "tools/call"
MAX_INPUT_BYTES = 256 * 1024
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One durable unit of work.

    Attributes:
        type: names the executor's branch; `"tools/call"` is the built-in one.
        input: JSON-safe input, kept as it is.
        idempotency_key: stable across attempts; equals the task id.
        retry_policy: the delays between attempts that an executor may ask for.
    """

    type: str
    input: JsonObject
    idempotency_key: str
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)

    def check(self, *, max_input_bytes: int = MAX_INPUT_BYTES) -> Self:
        """Refuse work that could not be read back.

        Args:
            max_input_bytes: the longest allowed input, in bytes of compact JSON.

        Raises:
            InvalidValue: the message names the path of the fault.
        """
        if not self.type or not self.idempotency_key:
            raise InvalidValue("work needs a type and an idempotency key, both non-empty")
        check_json(self.input, max_bytes=max_input_bytes, path="work.input")
        return self

    def to_map(self) -> JsonObject:
        """Give the stored form."""
        return {
            "v": VERSION,
            "type": self.type,
            "input": self.input,
            "key": self.idempotency_key,
            "retry": self.retry_policy.to_map(),
        }

    @classmethod
    def from_map(cls, data: Mapping[str, Any]) -> Self:
        """Read the stored form.

        Raises:
            InvalidValue: it is of another version.
        """
        if data.get("v") != VERSION:
            raise InvalidValue(f"work of version {data.get('v')!r} is not one this program can read")
        return cls(
            type=data["type"],
            input=data["input"],
            idempotency_key=data["key"],
            retry_policy=RetryPolicy.from_map(data["retry"]),
        )
