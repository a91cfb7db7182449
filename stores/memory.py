"""The memory adapter: same meaning as LMDB's, kept in this process and lost with it."""

import secrets
from bisect import bisect_left, insort
from collections import Counter

from gevent.monkey import get_original

from taskward.stores.contract import Table, Write
from taskward.stores.errors import StoreClosed
from taskward.stores.layout import STORE_ID_BYTES, TABLES

_allocate_lock = get_original("_thread", "allocate_lock")


class _Rows:
    """One table: a dict, and its keys in order."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.values: dict[bytes, bytes] = {}
        self.keys: list[bytes] = []
        self.groups: Counter[bytes] = Counter()

    def put(self, key: bytes, value: bytes) -> None:
        if key not in self.values:
            insort(self.keys, key)
            self.groups[key[: self.table.group]] += 1
        self.values[key] = value

    def delete(self, key: bytes) -> None:
        if self.values.pop(key, None) is not None:
            del self.keys[bisect_left(self.keys, key)]
            self.groups[key[: self.table.group]] -= 1


class MemoryBackend:
    """A volatile store: nothing survives the process, and it says so."""

    single_writer = True
    durable_renew = False
    volatile = True

    def __init__(self) -> None:
        self.store_id = secrets.token_bytes(STORE_ID_BYTES)
        self.epoch = 1
        self._rows = {table: _Rows(table) for table in TABLES}
        self._lock = _allocate_lock()
        self._closed = False

    def read(self) -> "_MemoryView":
        """Open a read view; writers wait until it is closed, in the same turn of the hub."""
        self._check_open()
        return _MemoryView(self._rows, self._lock)

    def commit(self, writes: list[Write]) -> None:
        """Apply all writes at once."""
        self._check_open()
        with self._lock:
            for table, key, value in writes:
                if value is None:
                    self._rows[table].delete(key)
                else:
                    self._rows[table].put(key, value)

    def grow(self) -> bool:
        """Memory has no map to grow."""
        return False

    def raise_epoch(self) -> None:
        """Make every lease granted so far stale."""
        self._check_open()
        self.epoch += 1

    def close(self) -> None:
        """Forget everything."""
        self._closed = True
        self._rows = {table: _Rows(table) for table in TABLES}

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed


class _MemoryView:
    def __init__(self, rows: dict[Table, _Rows], lock: object) -> None:
        self._rows = rows
        self._lock: object = lock
        lock.acquire()  # type: ignore[attr-defined]  # a native lock, untyped

    def get(self, table: Table, key: bytes) -> bytes | None:
        return self._rows[table].values.get(key)

    def seek(self, table: Table, start: bytes) -> tuple[bytes, bytes] | None:
        rows = self._rows[table]
        place = bisect_left(rows.keys, start)
        if place == len(rows.keys):
            return None
        return rows.keys[place], rows.values[rows.keys[place]]

    def count(self, table: Table, group: bytes = b"") -> int:
        rows = self._rows[table]
        return rows.groups[group] if group else len(rows.keys)

    def close(self) -> None:
        self._lock.release()  # type: ignore[attr-defined]
