"""The restart decision: pure, and the manual's tables word for word. Source: OTP's `supervisor`."""

from collections.abc import Mapping, Sequence
from enum import Enum

from taskward.actors import ExitReason, is_abnormal
from taskward.supervision.child_spec import Restart, Strategy


class Verdict(Enum):
    """What becomes of a child that ended."""

    RESTART = "restart"
    KEEP = "keep its spec, stopped"
    DROP = "drop it"


VERDICTS: Mapping[Restart, tuple[Verdict, Verdict]] = {
    #                  normal end       abnormal end
    Restart.PERMANENT: (Verdict.RESTART, Verdict.RESTART),
    Restart.TRANSIENT: (Verdict.KEEP, Verdict.RESTART),
    Restart.TEMPORARY: (Verdict.DROP, Verdict.DROP),
}


def verdict(restart: Restart, reason: ExitReason) -> Verdict:
    """Decide about a child that ended (R1, R2)."""
    return VERDICTS[restart][is_abnormal(reason)]


def taken_along(strategy: Strategy, ids: Sequence[str], ended: str) -> list[str]:
    """Give whom a restart stops and starts as well, the ended child included, in start order (R3 to R5)."""
    match strategy:
        case Strategy.ONE_FOR_ONE:
            return [ended]
        case Strategy.ONE_FOR_ALL:
            return list(ids)
        case Strategy.REST_FOR_ONE:
            return list(ids[ids.index(ended) :])


class Intensity:
    """The sliding window of restarts.

    Args:
        max_restarts: so many are allowed within the window; one more is too many (R7).
        max_seconds: length of the window, on the monotonic clock (R9).
    """

    def __init__(self, max_restarts: int, max_seconds: float) -> None:
        self.max_restarts = max_restarts
        self.max_seconds = max_seconds
        self._restarts: list[float] = []

    def allow(self, now_s: float) -> bool:
        """Count one restart; tell whether it is still allowed."""
        self._restarts = [then for then in self._restarts if now_s - then <= self.max_seconds]
        self._restarts.append(now_s)
        return len(self._restarts) <= self.max_restarts
