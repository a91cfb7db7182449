"""The overlay: what a batch has decided so far, laid over what is durable. Knows bytes only."""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable

from taskward.stores.contract import Table, View, Write


class Overlay:
    """A view of `base` with writes applied to it in memory.

    Args:
        base: what is durable; stays open as long as this is used.
    """

    def __init__(self, base: View) -> None:
        self._base = base
        self._values: defaultdict[Table, dict[bytes, bytes | None]] = defaultdict(dict)
        self._keys: defaultdict[Table, list[bytes]] = defaultdict(list)
        self._more: defaultdict[tuple[Table, bytes], int] = defaultdict(int)

    def __bool__(self) -> bool:
        return any(self._values.values())

    def apply(self, writes: Iterable[Write]) -> None:
        """Lay writes over what is there; later ones win."""
        for table, key, value in writes:
            self._count(table, key, value)
            if key not in self._values[table]:
                insort(self._keys[table], key)
            self._values[table][key] = value

    def writes(self) -> list[Write]:
        """Give all writes as one set, by table and key: LMDB likes order."""
        return [(table, key, self._values[table][key]) for table, keys in self._keys.items() for key in keys]

    def get(self, table: Table, key: bytes) -> bytes | None:
        """Give the value under `key`, or `None`."""
        laid = self._values.get(table)
        if laid is not None and key in laid:
            return laid[key]
        return self._base.get(table, key)

    def seek(self, table: Table, start: bytes) -> tuple[bytes, bytes] | None:
        """Give the first key not below `start` and its value, or `None`."""
        laid, under = self._seek_laid(table, start), self._seek_under(table, start)
        if laid is None or under is None:
            return laid or under
        return min(laid, under)

    def count(self, table: Table, group: bytes = b"") -> int:
        """Give the number of keys in a table, or in one of its groups."""
        return self._base.count(table, group) + self._more[table, group]

    def _seek_laid(self, table: Table, start: bytes) -> tuple[bytes, bytes] | None:
        keys = self._keys.get(table, [])
        for place in range(bisect_left(keys, start), len(keys)):
            value = self._values[table][keys[place]]
            if value is not None:
                return keys[place], value
        return None

    def _seek_under(self, table: Table, start: bytes) -> tuple[bytes, bytes] | None:
        laid = self._values.get(table, {})
        found = self._base.seek(table, start)
        while found is not None and found[0] in laid:
            found = self._base.seek(table, found[0] + b"\0")
        return found

    def _count(self, table: Table, key: bytes, value: bytes | None) -> None:
        change = (value is not None) - (self.get(table, key) is not None)
        self._more[table, b""] += change
        if table.group:
            self._more[table, key[: table.group]] += change
