"""Time, injected: the clock of the machine, a manual one for tests, and the store clock over either.

Lease deadlines use the monotonic side and are never persisted. Everything persisted uses the store
clock, which never runs backwards, whatever the wall does.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """What the program knows about time."""

    def wall_ms(self) -> int:
        """Give ms since the epoch; may step."""

    def monotonic_ms(self) -> int:
        """Give ms since some moment; never steps."""


class SystemClock:
    """The machine's clocks."""

    def wall_ms(self) -> int:
        """Give ms since the epoch."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        """Give ms on CLOCK_MONOTONIC."""
        return time.monotonic_ns() // 1_000_000


class ManualClock:
    """A clock that a test moves.

    Args:
        wall_ms: what the wall shows first.
    """

    def __init__(self, wall_ms: int = 1_800_000_000_000) -> None:
        self._wall = wall_ms
        self._monotonic = 0

    def wall_ms(self) -> int:
        """Give ms since the epoch."""
        return self._wall

    def monotonic_ms(self) -> int:
        """Give ms since this clock was made."""
        return self._monotonic

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self._wall += ms
        self._monotonic += ms

    def step_wall(self, ms: int) -> None:
        """Set the wall forward or back, as an operator or NTP does."""
        self._wall += ms


class StoreClock:
    """The clock of one open store: from `max(wall, mark)` on at the monotonic pace.

    Args:
        clock: the clocks under it.
        mark_ms: the latest moment that the store has seen; it never shows an earlier one.
    """

    def __init__(self, clock: Clock, mark_ms: int = 0) -> None:
        self._clock = clock
        self._origin = max(clock.wall_ms(), mark_ms) - clock.monotonic_ms()

    def now_ms(self) -> int:
        """Give ms since the epoch, never less than before."""
        return self._origin + self._clock.monotonic_ms()

    def monotonic_ms(self) -> int:
        """Give ms on the monotonic clock, for deadlines."""
        return self._clock.monotonic_ms()
