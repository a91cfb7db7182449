"""A future that is set once: Pykka's `Future` on a bare switch of the hub.

Waits cooperatively on the hub's thread and natively on any other. Never raises `gevent.Timeout`, so
that a foreign `with gevent.Timeout` is not mistaken for its own.
"""

import sys
from queue import Full
from typing import Any, TypeVar

import pykka
from gevent import getcurrent
from gevent._hub_local import get_hub_if_exists
from gevent.monkey import get_original

T = TypeVar("T")

get_ident = get_original("_thread", "get_ident")
_allocate_lock = get_original("_thread", "allocate_lock")

PENDING = object()


class OneShotFuture(pykka.Future[T]):
    """The answer to one ask; made on the hub's thread or on the asker's own."""

    def __init__(self) -> None:
        super().__init__()
        self._value: Any = PENDING
        self._error: BaseException | None = None
        self._waiting: list[Any] = []
        self._locks: list[Any] = []
        self._loop: Any = None
        self._thread = 0

    @property
    def done(self) -> bool:
        """Whether the answer is there."""
        return self._value is not PENDING

    def set(self, value: Any = None) -> None:
        """Answer.

        Raises:
            queue.Full: it was answered before, as in Pykka.
        """
        if self._value is not PENDING or self._get_hook is not None:
            raise Full
        self._value = value
        self._wake()

    def set_exception(self, exc_info: Any = None) -> None:
        """Answer with an error: `(type, value, traceback)`, by default the one being handled."""
        kind, error, traceback = exc_info or sys.exc_info()
        if error is None:
            error = kind() if kind is not None else RuntimeError("no exception is being handled")
        self.set_error(error.with_traceback(traceback) if traceback is not None else error)

    def set_error(self, error: BaseException) -> None:
        """Answer with an error."""
        if self._value is not PENDING or self._get_hook is not None:
            raise Full
        self._error = error
        self._value = None
        self._wake()

    def set_get_hook(self, func: Any) -> None:
        """Compute the value at the first `get`; see Pykka."""
        if self._value is not PENDING:
            raise Full
        super().set_get_hook(func)

    def get(self, *, timeout: float | None = None) -> Any:
        """Wait for the answer for at most `timeout` seconds; `None` waits without limit.

        Raises:
            pykka.Timeout: it did not come in time.
            BaseException: the error that it was answered with.
        """
        if self._get_hook is not None:
            return super().get(timeout=timeout)
        if not self.wait(timeout):
            raise pykka.Timeout(f"{timeout} seconds")
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for at most `timeout` seconds; tell whether the answer is there."""
        if self._value is PENDING:
            hub = get_hub_if_exists()
            if hub is not None and self._loop in (None, hub.loop):
                self._wait_here(hub, timeout)
            else:  # a thread without a hub, or a second thread that waits for the same answer
                self._wait_natively(timeout)
        return self._value is not PENDING

    def _wait_here(self, hub: Any, timeout: float | None) -> None:
        me = getcurrent()
        if me is hub:
            raise RuntimeError("the hub itself must not wait for an answer; ask from a greenlet")
        self._loop, self._thread = hub.loop, get_ident()
        expired: list[bool] = []
        timer = None
        if timeout is not None:
            timer = hub.loop.timer(max(timeout, 0.0))
            timer.start(self._expire, me, expired)
        self._waiting.append(me)
        try:
            while self._value is PENDING and not expired:
                hub.switch()
        finally:
            if me in self._waiting:
                self._waiting.remove(me)
            if timer is not None:
                timer.stop()
                timer.close()

    def _expire(self, waiter: Any, expired: list[bool]) -> None:
        expired.append(True)
        if waiter in self._waiting:
            self._waiting.remove(waiter)
            waiter.switch()

    def _wait_natively(self, timeout: float | None) -> None:
        lock = _allocate_lock()
        lock.acquire()
        self._locks.append(lock)
        if self._value is PENDING:
            lock.acquire(timeout=-1 if timeout is None else timeout)

    def _wake(self) -> None:
        for lock in self._locks:
            lock.release()
        if self._waiting:
            run = self._loop.run_callback if get_ident() == self._thread else self._loop.run_callback_threadsafe
            run(self._notify)

    def _notify(self) -> None:
        """Runs in the hub: switch to each waiter that is still there, and to none that was killed meanwhile."""
        while self._waiting:
            self._waiting.pop(0).switch()
