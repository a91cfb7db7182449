"""From the words by which an application names its store to an open backend."""

from taskward.domain.errors import TaskwardError
from taskward.stores.contract import Backend
from taskward.stores.lmdb import LmdbBackend
from taskward.stores.memory import MemoryBackend


class UnknownLocation(TaskwardError):
    """Name a store as lmdb:///absolute/dir, lmdb:relative/dir, or memory: (lost with the process)."""


def open_backend(location: str, *, open_wait_ms: int = 0) -> Backend:
    """Open the store that `location` names.

    Args:
        location: `"lmdb:///var/lib/app"`, `"lmdb:relative/dir"` or `"memory:"`.
        open_wait_ms: how long to wait for another holder to let go, in ms.

    Raises:
        UnknownLocation: it names no kind of store.
        StoreBusy: another holder kept it.
        StoreUnreadable: there is something else at that place.
    """
    kind, colon, path = location.partition(":")
    if kind == "memory" and colon and not path:
        return MemoryBackend()
    if kind == "lmdb" and path.removeprefix("//"):
        return LmdbBackend.open(path.removeprefix("//"), open_wait_ms=open_wait_ms)
    raise UnknownLocation(f"{location!r} names no store. {UnknownLocation.__doc__}")
