"""Retry policies: an exact, finite list of delays, fixed when the task is created.

A policy is data that is stored with the work, so a restart has nothing to re-evaluate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from taskward.domain.errors import InvalidValue

MAX_DELAYS = 100
MAX_DELAY_MS = 31 * 24 * 3_600_000
VERSION = 1


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often an executor may ask for another attempt, and after how long.

    Attributes:
        delays_ms: the wait before each retry, in ms; empty (the default) means no retry.
    """

    delays_ms: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.delays_ms) > MAX_DELAYS:
            raise InvalidValue(f"a retry policy has at most {MAX_DELAYS} delays, not {len(self.delays_ms)}")
        for delay in self.delays_ms:
            if type(delay) is not int or not 0 <= delay <= MAX_DELAY_MS:
                raise InvalidValue(f"a retry delay is an integer of 0 to {MAX_DELAY_MS} ms, not {delay!r}")

    @classmethod
    def exact(cls, delays_ms: Sequence[int]) -> Self:
        """Retry after exactly these delays, in ms, and no more."""
        return cls(tuple(delays_ms))

    @classmethod
    def fixed(cls, delay_ms: int, *, retries: int) -> Self:
        """Retry `retries` times, `delay_ms` apart."""
        return cls((delay_ms,) * retries)

    @classmethod
    def exponential(cls, first_ms: int, *, retries: int, factor: float = 2.0, max_ms: int = MAX_DELAY_MS) -> Self:
        """Retry `retries` times, each wait `factor` times the one before, none above `max_ms`."""
        if retries > MAX_DELAYS:
            raise InvalidValue(f"a retry policy has at most {MAX_DELAYS} delays, not {retries}")
        waits: list[float] = [first_ms]
        while len(waits) < retries:
            waits.append(min(waits[-1] * factor, max_ms))
        return cls(tuple(round(min(wait, max_ms)) for wait in waits[:retries]))

    def delay_ms(self, retry_count: int) -> int | None:
        """Give the wait before retry number `retry_count` (from 0), or `None` when the list is used up."""
        return self.delays_ms[retry_count] if retry_count < len(self.delays_ms) else None

    def to_map(self) -> dict[str, Any]:
        """Give the stored form."""
        return {"v": VERSION, "delays_ms": list(self.delays_ms)}

    @classmethod
    def from_map(cls, data: Mapping[str, Any]) -> Self:
        """Read the stored form.

        Raises:
            InvalidValue: it is of another version or holds an impossible delay.
        """
        if data.get("v") != VERSION:
            raise InvalidValue(f"a retry policy of version {data.get('v')!r} is not one this program can read")
        return cls(tuple(data["delays_ms"]))
