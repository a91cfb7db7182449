"""The store's directory: who holds it, whose it is, and whether its file is what it was.

Everything here happens before LMDB maps anything, because LMDB trusts its file: a truncated one is
a SIGBUS, an empty one is silently a new store. Bad input is refused and left untouched.
"""

import errno
import fcntl
import os
import secrets
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from taskward.stores.errors import StoreBusy, StoreUnreadable
from taskward.stores.layout import STORE_ID_BYTES

DATA, LOCK, IDENTITY, NEW_IDENTITY = "data.mdb", "store.lock", "store.id", "store.id.new"
ENGINE_LOCK = "lock.mdb"
TITLE = b"taskward store\n"
POLL_S = 0.05

_META = struct.Struct("<IIQQI44x48xQQ")
"""LMDB 0.9's `MDB_meta`: magic, version, address, map size, page size, …, last page, transaction."""
_META_AT = 16
_MAGIC, _FORMAT = 0xBEEFC0DE, 1


class DirectoryLock:
    """The exclusive right to one store directory, held by the kernel: it ends with the process.

    Args:
        path: the directory; made if it is not there.
        wait_ms: how long to wait for another holder to let go.
        sleep: how to wait between two tries, in seconds; the kernel has no event for it.

    Raises:
        StoreBusy: another holder kept it; the sentence names it.
    """

    def __init__(self, path: Path, *, wait_ms: int, sleep: Callable[[float], object]) -> None:
        self._fd = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._acquire(path, wait_ms, sleep)
        except BaseException:
            os.close(self._fd)
            raise
        holder = f"process {os.getpid()} on {socket.gethostname()}"
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, holder.encode(), 0)

    def _acquire(self, path: Path, wait_ms: int, sleep: Callable[[float], object]) -> None:
        for _ in range(max(0, round(wait_ms / 1000 / POLL_S))):
            if self._try():
                return
            sleep(POLL_S)
        if not self._try():
            holder = os.pread(self._fd, 200, 0).decode(errors="replace") or "another process"
            raise StoreBusy(f"The store in {path} is in use by {holder}. Stop it, or use another directory.")

    def _try(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in {errno.EWOULDBLOCK, errno.EAGAIN}:
                return False
            raise
        return True

    def release(self) -> None:
        """Let go."""
        os.close(self._fd)


def refuse_strangers(path: Path) -> None:
    """Refuse a directory that holds something else, before anything is made in it.

    Raises:
        StoreUnreadable: it does; nothing was touched.
    """
    names = {entry.name for entry in path.iterdir()}
    if names & {IDENTITY, NEW_IDENTITY} or names <= {LOCK}:
        return
    raise StoreUnreadable(
        f"{path} is not empty and is not a taskward store (it holds {min(names)!r}). "
        "Nothing in it was touched; name another directory."
    )


def identify(path: Path) -> bytes:
    """Find out which store this is; an empty directory is given an identity, which `settle` makes final.

    Returns:
        The store's id.

    Raises:
        StoreUnreadable: its file is not whole. Nothing was touched.
    """
    if (path / IDENTITY).exists():
        store_id = _read_identity(path / IDENTITY)
        check_data_file(path / DATA)
        return store_id
    if (path / NEW_IDENTITY).exists():  # died while it was made: nothing in it was ever acknowledged
        for name in (DATA, ENGINE_LOCK):
            (path / name).unlink(missing_ok=True)
    store_id = secrets.token_bytes(STORE_ID_BYTES)
    _write_synced(path / NEW_IDENTITY, TITLE + store_id.hex().encode() + b"\n")
    return store_id


def settle(path: Path) -> None:
    """Make a fresh directory's identity final: from now on its data file has to be there."""
    if (path / NEW_IDENTITY).exists():
        (path / NEW_IDENTITY).rename(path / IDENTITY)
        _sync_directory(path)


def check_data_file(path: Path) -> None:
    """Refuse a data file that LMDB would crash on or silently start afresh.

    Raises:
        StoreUnreadable: it is missing, no LMDB file, or shorter than its last page.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_META_AT + _META.size)
            first = _read_meta(path, head)
            file.seek(first[4])
            second = _read_meta(path, file.read(_META_AT + _META.size))
    except FileNotFoundError:
        raise StoreUnreadable(_spoilt(path, "it is missing")) from None
    newest = max(first, second, key=lambda meta: meta[6])
    needed = (newest[5] + 1) * first[4]
    if size < needed:
        raise StoreUnreadable(_spoilt(path, f"it has {size} bytes of the {needed} that it needs"))


def _read_meta(path: Path, head: bytes) -> tuple[int, ...]:
    if len(head) < _META_AT + _META.size:
        raise StoreUnreadable(_spoilt(path, "it is cut off"))
    meta = _META.unpack_from(head, _META_AT)
    if meta[0] != _MAGIC or meta[1] != _FORMAT or meta[4] < _META_AT + _META.size:
        raise StoreUnreadable(_spoilt(path, "its head is not that of an LMDB file of this format"))
    return meta


def _spoilt(path: Path, how: str) -> str:
    return f"{path} cannot be read: {how}. Nothing was touched; restore the directory from a backup."


def _read_identity(path: Path) -> bytes:
    text = path.read_bytes()
    try:
        if text.startswith(TITLE):
            store_id = bytes.fromhex(text[len(TITLE) :].decode().strip())
            if len(store_id) == STORE_ID_BYTES:
                return store_id
    except ValueError:
        pass  # refused below, with the same sentence as any other damage
    raise StoreUnreadable(_spoilt(path, "it does not name a store"))


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
