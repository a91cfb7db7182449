"""What can go wrong with a store as a whole. Refusals of one operation are values (`contract.py`)."""

from taskward.domain.errors import TaskwardError


class StoreError(TaskwardError):
    """The store cannot be used as asked."""


class StoreClosed(StoreError):
    """The store is closed. Open it again before using it."""


class StoreBusy(StoreError):
    """Another process or another part of this one has the store open. Stop the holder, or use another directory."""


class StoreUnreadable(StoreError):
    """The directory does not hold a store that this program can read. Nothing in it was touched."""


class StoreFull(StoreError):
    """There is no room for this write; nothing of it was applied. Free space or raise the map size."""


class StoreBroken(StoreError):
    """The disk failed under the store: no more writes are tried. Check the disk, then open the store again."""


class MapIsFull(StoreFull):
    """The memory map is too small for this write; nothing of it was applied. It can grow."""
