"""Slots: how many attempts may run at once, and how many may wait parked for their user.

Knows keys, not tasks or actors. Sets, not counters: a key is running, parked, or neither, and
releasing twice is harmless.
"""

from collections import deque

from gevent.event import Event

DEFAULT_MAX_RUNNING = 64
DEFAULT_MAX_PARKED = 10_000


class Slots:
    """The running and the parked attempts of one runner.

    Args:
        max_running: attempts that may run at once.
        max_parked: attempts that may wait for their user, holding no running slot.
    """

    def __init__(self, *, max_running: int = DEFAULT_MAX_RUNNING, max_parked: int = DEFAULT_MAX_PARKED) -> None:
        self._max_running = max_running
        self._max_parked = max_parked
        self._running: set[bytes] = set()
        self._parked: set[bytes] = set()
        self._resuming: deque[tuple[bytes, Event]] = deque()
        self._idle = Event()
        self._idle.set()

    @property
    def free(self) -> int:
        """Slots that new work may take; bodies whose answer has come are served before it."""
        return max(0, self._max_running - len(self._running) - len(self._resuming))

    @property
    def running(self) -> int:
        """Attempts that hold a running slot."""
        return len(self._running)

    @property
    def parked(self) -> int:
        """Attempts that wait for their user."""
        return len(self._parked)

    def wait_idle(self, seconds: float) -> bool:
        """Wait for at most `seconds` until nothing runs (parked attempts may be left); tell whether that is so."""
        return bool(self._idle.wait(seconds))

    def acquire(self, key: bytes) -> bool:
        """Take a running slot for `key`, if one is free or it has one."""
        if key not in self._running and not self.free:
            return False
        self._run(key)
        return True

    def release(self, key: bytes) -> None:
        """Give back whatever `key` holds."""
        self._running.discard(key)
        self._parked.discard(key)
        self._resuming = deque(entry for entry in self._resuming if entry[0] != key)
        self._hand_on()

    def park(self, key: bytes) -> bool:
        """Trade the running slot of `key` for a parking place; `False` if none is left."""
        if len(self._parked) >= self._max_parked:
            return False
        self._running.discard(key)
        self._parked.add(key)
        self._hand_on()
        return True

    def resume(self, key: bytes) -> Event:
        """Ask for a running slot again, ahead of new work.

        Returns:
            An event that is set once `key` is running; it may be set already.
        """
        self._parked.discard(key)
        granted = Event()
        self._resuming.append((key, granted))
        self._hand_on()
        return granted

    def _hand_on(self) -> None:
        while self._resuming and len(self._running) < self._max_running:
            key, granted = self._resuming.popleft()
            self._run(key)
            granted.set()
        if not self._running:
            self._idle.set()

    def _run(self, key: bytes) -> None:
        self._running.add(key)
        self._idle.clear()
