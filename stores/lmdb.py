"""The LMDB adapter: one environment, one writer thread, one sync a commit.

The hub never begins a write transaction and never yields inside a read one. Keeps bytes, decides
nothing.
"""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gevent
import lmdb

from taskward.stores import directory
from taskward.stores.codec import read_meta, seal
from taskward.stores.contract import Table, Write
from taskward.stores.errors import MapIsFull, StoreBroken, StoreClosed, StoreFull, StoreUnreadable
from taskward.stores.layout import META, TABLES

SCHEMA = {"format": 1, "min_reader": 1}
ENGINE = 0
MAX_TABLES = 16
DEFAULT_MAP_BYTES = 64 * 1024**3
MAX_MAP_BYTES = 1024**4
LITTLE_ROOM_BYTES = 1024**2

NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})


class LmdbBackend:
    """A store in a directory of its own; made by `open`."""

    single_writer = True
    durable_renew = False
    volatile = False

    def __init__(self, path: Path, lock: directory.DirectoryLock, env: Any, store_id: bytes) -> None:
        self._path = path
        self._lock = lock
        self._env: Any = env
        self._pid = os.getpid()
        self._inode = (path / directory.DATA).stat().st_ino
        self._broken: str | None = None
        self._tables = {table: env.open_db(table.name.encode(), **_flags(table)) for table in TABLES}
        self.store_id = store_id
        self.epoch = 0

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        open_wait_ms: int = 0,
        map_bytes: int = DEFAULT_MAP_BYTES,
        sleep: Callable[[float], object] = gevent.sleep,
    ) -> "LmdbBackend":
        """Open the store in a directory, or make one; the boot epoch is raised and durable on return.

        Args:
            path: the directory; made if it is not there.
            open_wait_ms: how long to wait for another holder of the directory to let go.
            map_bytes: first size of the memory map; address space, not memory or disk. It grows by itself.
            sleep: how to wait for another holder.

        Raises:
            StoreBusy: another holder kept it; the sentence names it.
            StoreUnreadable: it is not a store, or not one that this version can read. Nothing was touched.
        """
        path = Path(path)
        _make(path)
        directory.refuse_strangers(path)
        lock = directory.DirectoryLock(path, wait_ms=open_wait_ms, sleep=sleep)
        env = None
        try:
            store_id = directory.identify(path)
            env = _environment(path, map_bytes)
            backend = cls(path, lock, env, store_id)
            backend._check_schema()
            backend.raise_epoch()
            directory.settle(path)
        except BaseException:
            if env is not None:
                env.close()
            lock.release()
            raise
        return backend

    def read(self) -> "_LmdbView":
        """Open a read view of what is durable now."""
        self._check_usable()
        return _LmdbView(self._env.begin(), self._tables)

    def commit(self, writes: list[Write]) -> None:
        """Make all writes durable as one transaction, or none; begin, puts and commit in one native thread.

        Raises:
            MapIsFull: nothing was applied; `grow`, then try again.
            StoreFull: nothing was applied, the disk has no room.
            StoreBroken: nothing can be known or done; open the store again.
        """
        self._check_usable()
        self._check_in_place()
        try:
            with self._env.begin(write=True) as txn:
                self._apply(txn, writes)
        except lmdb.MapFullError:
            raise MapIsFull from None
        except lmdb.Error as error:
            raise self._what_failed(error) from error

    def grow(self) -> bool:
        """Double the map, on the hub and between two transactions; tell whether there was room to."""
        size = self._env.info()["map_size"]
        if size >= MAX_MAP_BYTES:
            return False
        self._env.set_mapsize(min(size * 2, MAX_MAP_BYTES))
        return True

    def raise_epoch(self) -> None:
        """Make every lease granted so far stale, durably."""
        epoch = read_meta(self, b"epoch", 0) + 1
        self.commit([(META, b"epoch", seal(b"epoch", epoch))])
        self.epoch = epoch

    def close(self) -> None:
        """Close the environment and let go of the directory; a second call does nothing."""
        env, self._env = self._env, None
        if env is not None:
            env.close()
            self._lock.release()

    def _apply(self, txn: Any, writes: list[Write]) -> None:
        for table, key, value in writes:
            db, group = self._tables[table], table.group
            if group:
                if value is None:
                    txn.delete(key[:group], key[group:], db=db)
                else:
                    txn.put(key[:group], key[group:], db=db)
            elif value is None:
                txn.delete(key, db=db)
            else:
                txn.put(key, value, db=db)

    def _check_schema(self) -> None:
        schema = read_meta(self, b"schema", None)
        if schema is None:
            self.commit(
                [
                    (META, b"schema", seal(b"schema", SCHEMA)),
                    (META, b"store_id", seal(b"store_id", self.store_id)),
                ]
            )
        elif schema["min_reader"] > SCHEMA["format"]:
            raise StoreUnreadable(
                f"The store in {self._path} was written by a newer version (format {schema['format']}). "
                "Nothing was touched; use that version."
            )
        elif read_meta(self, b"store_id", b"") != self.store_id:
            raise StoreUnreadable(
                f"The data file in {self._path} belongs to another store than its store.id says. "
                "Nothing was touched; put the two that belong together back."
            )

    def _check_usable(self) -> None:
        if self._env is None:
            raise StoreClosed
        if self._broken is not None:
            raise StoreBroken(self._broken)
        if os.getpid() != self._pid:
            raise StoreClosed("An LMDB store does not cross fork(). Open it in the child, after the parent closed it.")

    def _check_in_place(self) -> None:
        """An unlinked file would go on "committing" to nowhere."""
        try:
            inode = (self._path / directory.DATA).stat().st_ino
        except FileNotFoundError:
            inode = -1
        if inode != self._inode:
            raise self._break(f"The data file in {self._path} was removed or replaced while it was open.")

    def _what_failed(self, error: Exception) -> StoreFull | StoreBroken:
        """Tell a full disk, after which the environment is fine, from a failed one, after which nothing is."""
        code = getattr(error, "code", None)
        room = shutil.disk_usage(self._path).free
        if code in NO_ROOM or (code == errno.EIO and room < LITTLE_ROOM_BYTES):
            try:
                self._env.begin().abort()
            except lmdb.Error:
                pass  # the failed write was that of the meta page: the environment is lost
            else:
                return StoreFull(f"The disk under {self._path} has no room ({error}). Nothing was applied; free space.")
        return self._break(f"The disk under {self._path} failed: {error}. Check it, then open the store again.")

    def _break(self, sentence: str) -> StoreBroken:
        """Fail-stop: no more writes are tried in this process."""
        self._broken = sentence
        return StoreBroken(sentence)


class _LmdbView:
    def __init__(self, txn: Any, tables: dict[Table, Any]) -> None:
        self._txn = txn
        self._tables = tables
        self._cursors: dict[Table, Any] = {}

    def get(self, table: Table, key: bytes) -> bytes | None:
        if not table.group:
            value: bytes | None = self._txn.get(key, db=self._tables[table])
            return value
        found = self._cursor(table).set_key_dup(key[: table.group], key[table.group :])
        return b"" if found else None

    def seek(self, table: Table, start: bytes) -> tuple[bytes, bytes] | None:
        cursor, group = self._cursor(table), table.group
        if not group:
            return (cursor.key(), cursor.value()) if cursor.set_range(start) else None
        inside, rest = start[:group], start[group:]
        found = cursor.set_range_dup(inside, rest) if rest else cursor.set_range(inside)
        if not found and rest:
            found = cursor.set_range(inside + b"\0")
        return (cursor.key() + cursor.value(), b"") if found else None

    def count(self, table: Table, group: bytes = b"") -> int:
        if not group:
            entries: int = self._txn.stat(self._tables[table])["entries"]
            return entries
        cursor = self._cursor(table)
        return cursor.count() if cursor.set_key(group) else 0

    def close(self) -> None:
        for cursor in self._cursors.values():
            cursor.close()
        self._txn.abort()

    def _cursor(self, table: Table) -> Any:
        cursor = self._cursors.get(table)
        if cursor is None:
            cursor = self._cursors[table] = self._txn.cursor(db=self._tables[table])
        return cursor


def _flags(table: Table) -> dict[str, bool]:
    """A grouped table is `dupsort`: LMDB counts a group in O(1). `dupfixed` could not seek by a part of a key."""
    return {"dupsort": True} if table.group else {}


def _make(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise StoreUnreadable(f"{path} is not a directory. Name another place for the store.") from None
    except PermissionError:
        raise StoreUnreadable(f"{path} cannot be made: permission denied. Make it, or name another place.") from None
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        raise StoreUnreadable(f"{path} cannot be written by this user. Change its owner, or name another place.")


def _environment(path: Path, map_bytes: int) -> Any:
    try:
        env = lmdb.open(
            str(path), map_size=map_bytes, max_dbs=MAX_TABLES, max_spare_txns=1, mode=0o600, lib_version=ENGINE
        )
    except lmdb.Error as error:
        raise StoreUnreadable(f"LMDB cannot open {path}: {error}. Restore the directory from a backup.") from error
    env.reader_check()
    return env
