"""When the leases of this boot run out: in memory, on the monotonic clock.

Not persisted: a reopened store has a new epoch, so every earlier lease is dead whatever was written.
"""

from collections.abc import Iterable
from heapq import heappop, heappush

from taskward.stores import contract as c


class Deadlines:
    """Lease deadlines by task key."""

    def __init__(self) -> None:
        self._until: dict[bytes, int] = {}
        self._heap: list[tuple[int, bytes]] = []
        self._overdue: dict[bytes, None] = {}

    def __len__(self) -> int:
        return len(self._until)

    def grant(self, key: bytes, until_ms: int) -> None:
        """Let the lease on `key` live until this moment of the monotonic clock."""
        self._until[key] = until_ms
        self._overdue.pop(key, None)
        heappush(self._heap, (until_ms, key))

    def forget(self, key: bytes) -> None:
        """Hold no deadline for `key` any more."""
        self._until.pop(key, None)
        self._overdue.pop(key, None)

    def expired(self, key: bytes, now_ms: int) -> bool:
        """Tell whether the lease on `key` ran out."""
        until = self._until.get(key)
        return until is not None and until <= now_ms

    def overdue(self, now_ms: int, limit: int) -> list[bytes]:
        """Give the keys of up to `limit` leases that ran out, in O(log n) each."""
        while self._heap and self._heap[0][0] <= now_ms:
            until, key = heappop(self._heap)
            if self._until.get(key) == until:
                self._overdue[key] = None
        return [key for key, _ in zip(self._overdue, range(limit), strict=False)]

    def note(self, op: c.Operation, result: c.Result, transitions: Iterable[c.Transition], now_ms: int) -> None:
        """Learn from a decided operation: what was granted, renewed, or is over."""
        for transition in transitions:
            if _unleased(transition):
                self.forget(transition.key)
        for lease, lease_ms in _granted(op, result):
            self.grant(lease.key, now_ms + lease_ms)


def _unleased(transition: c.Transition) -> bool:
    snapshot = transition.snapshot
    over = snapshot.task.status.terminal or snapshot.retry_at_ms is not None
    return over or transition.kind in {"released", "reaped"}


def _granted(op: c.Operation, result: c.Result) -> Iterable[tuple[c.Lease, int]]:
    match op, result:
        case c.Create(claim=c.ClaimTerms(lease_ms=ms)), c.Created(claimed=c.Claimed(lease)):
            return [(lease, ms)]
        case c.Claim(terms=c.ClaimTerms(lease_ms=ms)), c.Claimed(lease):
            return [(lease, ms)]
        case c.ClaimNext(terms=c.ClaimTerms(lease_ms=ms)), c.Claims(claimed):
            return [(one.lease, ms) for one in claimed]
        case c.Renew(leases=leases, lease_ms=ms), c.Renewed(stale):
            return [(lease, ms) for lease in leases if lease not in stale]
        case _:
            return []
