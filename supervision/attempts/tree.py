"""The application's tree: the task system, its children in the order they depend on each other.

Owns what outlives a store actor: the environment, the writer thread, the roster, the feed.
"""

import logging
import sys
from dataclasses import dataclass, field, replace

from taskward.actors import ActorDeadError, ActorRef, NamedRef, Registry, StartOptions, stop_actor
from taskward.stores import contract as c
from taskward.stores.actor import StoreActor
from taskward.stores.clock import Clock, StoreClock, SystemClock
from taskward.stores.committer import Committer
from taskward.stores.fence import Limits
from taskward.stores.store import Store, clock_mark
from taskward.supervision import ChildSpec, DynamicSupervisor, Supervisor
from taskward.supervision.attempts.attempt import MAX_RESULT_BYTES, Equipment
from taskward.supervision.attempts.executor import WorkExecutor
from taskward.supervision.attempts.feed import Feed
from taskward.supervision.attempts.instrument import Instrument, log_event
from taskward.supervision.attempts.roster import Roster
from taskward.supervision.attempts.runner import COOPERATIVE_S, Install, Pause, Runner, StopAll, Sweep, Timing, news
from taskward.supervision.attempts.slots import DEFAULT_MAX_PARKED, DEFAULT_MAX_RUNNING, Slots

log = logging.getLogger("taskward.system")

STORE, ATTEMPTS, RUNNER = "store", "attempts", "runner"
SWITCH_INTERVAL_S = 0.0005
LAST_WORDS_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What may be set about a task system; every limit has its refusal (see docs/architecture.md).

    Attributes:
        max_running: attempts that run at once; more wait in the queue as `working`.
        max_parked: attempts that wait for their user without a running slot.
        max_result_bytes: the longest result that is kept.
        progress_interval_ms: a chatty tool commits at most one message in this time.
        drain_ms: how long `stop` lets attempts finish.
        switch_interval_s: the interpreter's thread switch interval while running; `None` = leave it.
        timing: the runner's intervals.
        limits: what is decided inside the store.
    """

    max_running: int = DEFAULT_MAX_RUNNING
    max_parked: int = DEFAULT_MAX_PARKED
    max_result_bytes: int = MAX_RESULT_BYTES
    progress_interval_ms: int = 250
    drain_ms: int = 10_000
    switch_interval_s: float | None = SWITCH_INTERVAL_S
    timing: Timing = field(default_factory=Timing)
    limits: Limits = field(default_factory=Limits)


class TaskSystem:
    """The running heart of a server: store actor, attempts, runner, under one supervisor.

    Args:
        backend: an open store; the system closes it when it stops.
        executor: who runs the work.
        scope: whose tasks a principal may see, or `SHARED`.
        settings: see `Settings`.
        instrument: hears what happens.
        clock: the time.
    """

    def __init__(
        self,
        backend: c.Backend,
        executor: WorkExecutor,
        *,
        scope: c.Scope,
        settings: Settings | None = None,
        instrument: Instrument = log_event,
        clock: Clock | None = None,
    ) -> None:
        self._settings = settings or Settings()
        self._backend = backend
        self._committer = Committer(backend)
        self.registry = Registry()
        self.feed = Feed()
        self.slots = Slots(max_running=self._settings.max_running, max_parked=self._settings.max_parked)
        self.roster = Roster()
        self._clock = StoreClock(clock or SystemClock(), clock_mark(backend))
        self.store = Store(
            NamedRef(self.registry, STORE), backend, self._clock, scope=scope, limits=self._settings.limits
        )
        self._kit = Equipment(
            store=self.store,
            feed=self.feed,
            slots=self.slots,
            executor=executor,
            instrument=instrument,
            progress_interval_ms=self._settings.progress_interval_ms,
            max_result_bytes=self._settings.max_result_bytes,
        )
        self._runner = NamedRef(self.registry, RUNNER)
        self.feed.listen_to_all(self._tell_runner)
        self._root: ActorRef[Supervisor] | None = None
        self._switch_interval: float | None = None
        self._draining = False

    @property
    def running(self) -> bool:
        """Whether the tree is up and takes tasks."""
        return self._root is not None and self._root.is_alive()

    @property
    def exit_reason(self) -> object:
        """Why the tree ended, if it did."""
        return None if self._root is None else self._root.exit_reason

    def start(self) -> None:
        """Start the tree: recovery begins at once.

        Raises:
            ActorStartError: a child could not start; nothing is left running.
        """
        if self._settings.switch_interval_s is not None:
            self._switch_interval = sys.getswitchinterval()
            sys.setswitchinterval(self._settings.switch_interval_s)
        self._root = Supervisor.start_with(
            StartOptions(name="system", registry=self.registry), self._children(), strategy="rest_for_one"
        )

    def _children(self) -> list[ChildSpec]:
        timing = self._settings.timing
        attempts = NamedRef(self.registry, ATTEMPTS)
        store_args = (self._backend, self._committer, self._clock, self._settings.limits, self.feed.publish)
        return [
            ChildSpec(STORE, StoreActor, store_args, name=STORE),
            ChildSpec(ATTEMPTS, DynamicSupervisor, name=ATTEMPTS),
            ChildSpec(RUNNER, Runner, (self._kit, self.roster, attempts, timing), name=RUNNER),
        ]

    def _tell_runner(self, transition: c.Transition) -> None:
        """Called between two commits; told by name, so that a runner which was replaced leaves nothing behind."""
        for message in news(transition, self.roster):
            self._runner.cast(message)

    def create(self, op: c.Create) -> c.CreateResult:
        """Keep a new task, and run it at once if a slot is free. On disk when this returns (SEP-2663).

        Args:
            op: the create, without claim terms.
        """
        if not self.running or self._draining:
            return c.StoreUnavailable("the task system is not running, or it is stopping")
        claim = self.store.terms(RUNNER, self._settings.timing.lease_ms) if self.slots.acquire(op.key) else None
        created = self.store.execute(replace(op, claim=claim))
        if isinstance(created, c.Created) and created.claimed is not None:
            self._hand_over(created.claimed)
        else:
            self.slots.release(op.key)
            self._runner.cast(Sweep())
        return created

    def _hand_over(self, claimed: c.Claimed) -> None:
        try:
            self._runner.tell(Install(claimed))
        except ActorDeadError:  # its successor claims it like any other, once it is given back
            self.slots.release(claimed.lease.key)
            self.store.execute(c.Release(lease=claimed.lease))

    def stop(self, *, drain_ms: int | None = None, shutdown_ms: int | None = None) -> None:
        """Stop: let attempts finish, stop the rest and give their claims back, close the store.

        Interrupted attempts burn nothing. Bounded by the sum of both times, `timing.kill_after_ms` and a second.

        Args:
            drain_ms: how long attempts may finish, in ms; by default `settings.drain_ms`.
            shutdown_ms: grace of those that do not, between the exit signal and the kill, in ms; by default
                `settings.timing.shutdown_ms`.
        """
        settings = self._settings
        drain = settings.drain_ms if drain_ms is None else drain_ms
        grace = settings.timing.shutdown_ms if shutdown_ms is None else shutdown_ms
        try:
            if self.running:
                self._drain(drain, grace)
        finally:
            self._close()

    def _drain(self, drain_ms: int, shutdown_ms: int) -> None:
        self._draining = True
        self._runner.cast(Pause())
        self.slots.wait_idle(drain_ms / 1000)
        self._runner.cast(StopAll(shutdown_ms))
        ladder_s = COOPERATIVE_S + (shutdown_ms + self._settings.timing.kill_after_ms) / 1000
        if not self.roster.wait_empty(ladder_s + LAST_WORDS_S):
            log.error("%d attempts did not stop; their claims are void at the next start", len(self.roster))

    def _close(self) -> None:
        if self._root is not None:
            stop_actor(self._root, shutdown_ms=self._settings.timing.shutdown_ms)
        self._committer.close()
        self._backend.close()
        if self._switch_interval is not None:
            sys.setswitchinterval(self._switch_interval)
            self._switch_interval = None
