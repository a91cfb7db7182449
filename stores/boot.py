"""One boot of one store, as decisions see it: a view, and which leases ran out."""

from dataclasses import dataclass
from typing import Self

from taskward.stores import contract as c
from taskward.stores.deadlines import Deadlines
from taskward.stores.fence import Limits

NO_DEADLINES = Deadlines()


@dataclass(slots=True)
class BootView:
    """Implements `fence.Boot`.

    Attributes:
        view: what is durable, or an overlay over it.
        store_id: identity of the store.
        epoch: the current boot epoch.
        limits: see `Limits`.
        deadlines: of the leases of this boot.
        monotonic_ms: now, for the deadlines.
    """

    view: c.View
    store_id: bytes
    epoch: int
    limits: Limits
    deadlines: Deadlines
    monotonic_ms: int

    @classmethod
    def of(
        cls, backend: c.Backend, view: c.View, limits: Limits, deadlines: Deadlines = NO_DEADLINES, now_ms: int = 0
    ) -> Self:
        """Look at a backend's current boot.

        Args:
            backend: the open store.
            view: what to look at, of this store.
            limits: see `Limits`.
            deadlines: of the leases of this boot; a mere read needs none.
            now_ms: the monotonic clock, for the deadlines.
        """
        return cls(view, backend.store_id, backend.epoch, limits, deadlines, now_ms)

    def get(self, table: c.Table, key: bytes) -> bytes | None:
        """Give the value under `key`, or `None`."""
        return self.view.get(table, key)

    def seek(self, table: c.Table, start: bytes) -> tuple[bytes, bytes] | None:
        """Give the first key not below `start` and its value, or `None`."""
        return self.view.seek(table, start)

    def count(self, table: c.Table, group: bytes = b"") -> int:
        """Give the number of keys in a table, or in one of its groups."""
        return self.view.count(table, group)

    def lease_expired(self, key: bytes) -> bool:
        """Tell whether the lease of this epoch on `key` was not renewed in time."""
        return self.deadlines.expired(key, self.monotonic_ms)

    def expired_leases(self, limit: int) -> list[bytes]:
        """Give the keys of up to `limit` leases of this epoch that were not renewed in time."""
        return self.deadlines.overdue(self.monotonic_ms, limit)
