"""Which index entries a record has, as a function of the record: so an index can never drift.

The writes of any change are the difference between the entries before and after.
"""

from taskward.domain.task import Status
from taskward.stores.contract import Table, Write
from taskward.stores.layout import ACTIVE, EXPIRY, LEASE, READY, SCHED, due_key, lease_key, ready_key
from taskward.stores.record import Record

Entry = tuple[Table, bytes]


def entries(record: Record | None) -> set[Entry]:
    """Give every index entry of a record; none for no record."""
    if record is None:
        return set()
    key, snapshot = record.key, record.snapshot
    found: set[Entry] = set()
    if snapshot.task.expires_at_ms is not None:
        found.add((EXPIRY, due_key(snapshot.task.expires_at_ms, key)))
    if snapshot.task.status.terminal:
        return found
    found.add((ACTIVE, record.scope + key))
    if record.leased:
        found.add((LEASE, lease_key(record.epoch, key)))
    elif snapshot.retry_at_ms is not None:
        found.add((SCHED, due_key(snapshot.retry_at_ms, key)))
    elif snapshot.task.status is Status.WORKING:
        found.add((READY, ready_key(record.scope, snapshot.task.created_at_ms, key)))
    return found


def index_writes(before: Record | None, after: Record | None) -> list[Write]:
    """Give the index writes that lead from one state of a record to the next."""
    old, new = entries(before), entries(after)
    removed: list[Write] = [(table, key, None) for table, key in old - new]
    added: list[Write] = [(table, key, b"") for table, key in new - old]
    return removed + added
