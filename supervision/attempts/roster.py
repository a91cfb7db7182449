"""The roster: which attempt runs which task now. Outlives the runner, so that its successor finds them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gevent.event import Event

from taskward.actors import ActorRef
from taskward.stores.contract import Lease
from taskward.supervision.attempts.token import Token


@dataclass(slots=True, kw_only=True)
class Entry:
    """One live attempt.

    Attributes:
        ref: its actor.
        lease: the lease it writes under.
        token: its execution token.
        stopping: whether the runner has asked it to go; its death is then no crash.
    """

    ref: "ActorRef[Any]"
    lease: Lease
    token: Token
    stopping: bool = False


class Roster:
    """Live attempts by task key: at most one a task."""

    def __init__(self) -> None:
        self._entries: dict[bytes, Entry] = {}
        self._empty = Event()
        self._empty.set()

    def __contains__(self, key: bytes) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries.values()))

    def get(self, key: bytes) -> Entry | None:
        """Give the live attempt of a task, if there is one."""
        return self._entries.get(key)

    def install(self, entry: Entry) -> None:
        """Enter an attempt; its task must have none."""
        assert entry.lease.key not in self._entries, "two attempts of one task"
        self._entries[entry.lease.key] = entry
        self._empty.clear()

    def remove(self, key: bytes) -> Entry | None:
        """Strike an attempt: from now on it is nobody."""
        entry = self._entries.pop(key, None)
        if not self._entries:
            self._empty.set()
        return entry

    def wait_empty(self, seconds: float) -> bool:
        """Wait for at most `seconds` until no attempt is left; tell whether that is so."""
        return bool(self._empty.wait(seconds))
