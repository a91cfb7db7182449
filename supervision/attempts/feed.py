"""The feed: committed transitions go out to whoever waits for them, after the commit and never before.

Called by the store actor between two batches: nothing here blocks, and a listener that fails is
logged and does not disturb the others.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from taskward.stores.contract import Transition

log = logging.getLogger("taskward.feed")

Listener = Callable[[Transition], None]


class Feed:
    """Fan-out of committed transitions, in commit order."""

    def __init__(self) -> None:
        self._by_key: defaultdict[bytes, list[Listener]] = defaultdict(list)
        self._all: list[Listener] = []

    def publish(self, transitions: Sequence[Transition]) -> None:
        """Tell every listener, in order. Listeners must not block."""
        for transition in transitions:
            for listener in (*self._all, *self._by_key.get(transition.key, ())):
                self._tell(listener, transition)

    @contextmanager
    def listening(self, key: bytes, listener: Listener) -> Iterator[None]:
        """Listen to one task for the length of a `with` block."""
        self._by_key[key].append(listener)
        try:
            yield
        finally:
            self._by_key[key].remove(listener)
            if not self._by_key[key]:
                del self._by_key[key]

    def listen_to_all(self, listener: Listener) -> None:
        """Listen to every task for the life of this feed: not for an actor, which may be killed and replaced."""
        self._all.append(listener)

    @staticmethod
    def _tell(listener: Listener, transition: Transition) -> None:
        try:
            listener(transition)
        except Exception:
            log.exception("a listener of the feed failed on %s of %s", transition.kind, transition.key.hex())
