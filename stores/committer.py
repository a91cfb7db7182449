"""The committer: one native thread in which every write transaction begins and ends.

The only place where the hub waits for the disk. It belongs to the task system and outlives the
store actor, so that a successor can wait for the job that its predecessor left behind.
"""

import logging
from collections.abc import Callable
from typing import Any

from gevent.threadpool import ThreadPool

from taskward.stores.contract import Backend, Write
from taskward.stores.errors import MapIsFull, StoreError

log = logging.getLogger("taskward.store")

WATCHDOG_S = 60.0


class CommitOverdue(StoreError):
    """A commit did not end in time, so its outcome is unknown. Check the disk."""


class Committer:
    """Commits for one backend, one job at a time.

    Args:
        backend: where to.
        watchdog_s: how long one commit may take before its outcome is called unknown.
    """

    def __init__(self, backend: Backend, *, watchdog_s: float = WATCHDOG_S) -> None:
        self._backend = backend
        self._watchdog_s = watchdog_s
        self._pool = ThreadPool(1)
        self._job: Any = None
        self._adopted = False

    def adopt(self) -> None:
        """Serve one store actor. A second one first waits for the job in flight, then makes all leases stale.

        Raises:
            StoreError: the job does not end, or the epoch could not be raised.
        """
        if self._adopted:
            self._settle()
            self._run(self._backend.raise_epoch)
        self._adopted = True

    def commit(self, writes: list[Write]) -> None:
        """Make writes durable; returns after the sync.

        Raises:
            StoreFull: nothing was applied.
            StoreBroken: the disk failed.
            CommitOverdue: the watchdog gave up; the job goes on.
        """
        while True:
            try:
                self._run(self._backend.commit, writes)
            except MapIsFull:
                if not self._backend.grow():
                    raise
            else:
                return

    def close(self) -> None:
        """Wait, bounded, for the job in flight, and end the thread; one that hangs in the kernel is left behind."""
        try:
            self._settle()
        except CommitOverdue:
            log.error("a commit hangs; its thread is left behind")  # noqa: TRY400 - a traceback says no more
            return
        self._pool.kill()

    def _settle(self) -> None:
        if self._job is not None:
            self._job.wait(self._watchdog_s)
            if not self._job.ready():
                raise CommitOverdue

    def _run(self, work: Callable[..., None], *args: Any) -> None:
        self._settle()
        self._job = self._pool.spawn(_outcome, work, *args)
        self._settle()
        failure = self._job.get()
        if failure is not None:
            raise failure


def _outcome(work: Callable[..., None], *args: Any) -> Exception | None:
    """Runs in the native thread. Failures are values here: gevent prints what a pool thread raises."""
    try:
        work(*args)
    except Exception as failure:  # noqa: BLE001 - raised again on the hub
        return failure
    return None
