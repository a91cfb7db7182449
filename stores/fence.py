"""What every decision stands on: the view of one boot, the limits, the decision itself, the fence.

Pure: no clock, no randomness, no I/O.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from taskward.stores import contract as c
from taskward.stores.codec import seal
from taskward.stores.indexes import index_writes
from taskward.stores.layout import EVENT, TASK, after, event_key
from taskward.stores.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits that are decided inside a transaction, so that no race can pass them.

    Attributes:
        max_active: tasks that have not ended, over all scopes.
        max_active_per_scope: the same, of one scope.
        max_stored: tasks on disk, ended ones included.
        max_crashes: attempts of one task that may die without an outcome.
        max_interruptions: attempts of one task under which the server may die.
    """

    max_active: int = 100_000
    max_active_per_scope: int = 1_000
    max_stored: int = 2_000_000
    max_crashes: int = 5
    max_interruptions: int = 25


class Boot(c.View, Protocol):
    """A view that also knows the boot: which store and epoch this is, and which leases ran out.

    Attributes:
        store_id: identity of the store.
        epoch: the current boot epoch.
        limits: see `Limits`.
    """

    store_id: bytes
    epoch: int
    limits: Limits

    def lease_expired(self, key: bytes) -> bool:
        """Tell whether the lease of this epoch on `key` was not renewed in time."""

    def expired_leases(self, limit: int) -> list[bytes]:
        """Give the keys of up to `limit` leases of this epoch that were not renewed in time."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What an operation comes to."""

    result: c.Result
    writes: tuple[c.Write, ...] = ()
    transitions: tuple[c.Transition, ...] = ()


def lease_current(view: Boot, record: Record, lease: c.Lease) -> bool:
    """Tell whether a lease is the one that may write now (I3): every part of it has to match.

    A lease that ran out but was not claimed away is still current: only a newer claim ends it.
    """
    return (
        lease.store == view.store_id
        and epoch_current(view, lease.epoch)
        and generation_current(record, lease.generation)
        and record.epoch == lease.epoch
        and record.leased
        and record.nonce == lease.nonce
    )


def epoch_current(view: Boot, epoch: int) -> bool:
    """Tell whether an epoch is the one of this boot: every open kills all earlier leases."""
    return epoch == view.epoch


def generation_current(record: Record, generation: int) -> bool:
    """Tell whether a generation is the newest of its task: every claim replaces the attempt before."""
    return record.generation == generation


def event_write(record: Record, event_id: str, kind: str, now_ms: int) -> c.Write:
    """Give the write that keeps one event in the task's history."""
    said = {"rev": record.snapshot.revision, "kind": kind, "at": now_ms}
    place = event_key(record.key, event_id)
    return EVENT, place, seal(place, said)


def change(before: Record | None, after: Record) -> list[c.Write]:
    """Give all writes that lead from one state of a record to the next."""
    return [(TASK, after.key, after.sealed()), *index_writes(before, after)]


def key_range(view: c.View, table: c.Table, start: bytes, stop: bytes) -> Iterator[bytes]:
    """Give the keys of a table from `start` up to `stop`."""
    found = view.seek(table, start)
    while found is not None and found[0] < stop:
        yield found[0]
        found = view.seek(table, after(found[0]))
