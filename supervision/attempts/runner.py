"""The runner: which task runs in which attempt. Claims, installs, replaces, renews, reaps.

Keeps no truth: all of it can be rebuilt from the store and the roster. Does no store I/O for an
attempt; attempts report for themselves.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import gevent

from taskward.actors import Actor, ActorDeadError, Down, NamedRef, is_abnormal, stop_actor
from taskward.domain.transition import Ended, InputAnswered, RetryScheduled
from taskward.stores import contract as c
from taskward.supervision import start_children
from taskward.supervision.attempts.attempt import Attempt, Equipment, Run
from taskward.supervision.attempts.roster import Entry, Roster
from taskward.supervision.attempts.token import Token

log = logging.getLogger("taskward.runner")

CLAIM_BATCH = 64
RECHECK_MS = 500
COOPERATIVE_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How often the runner does what.

    Attributes:
        lease_ms: how long a lease lives without renewal.
        heartbeat_ms: how often leases are renewed, and lost wake-ups made good.
        reap_interval_ms: how often expired tasks are forgotten.
        shutdown_ms: grace of an attempt between the exit signal and the kill.
        kill_after_ms: how long a kill is re-sent before the attempt is abandoned.
    """

    lease_ms: int = 30_000
    heartbeat_ms: int = 10_000
    reap_interval_ms: int = 60_000
    shutdown_ms: int = 5_000
    kill_after_ms: int = 1_000


@dataclass(frozen=True, slots=True)
class Install:
    """A claim was granted: run it."""

    claimed: c.Claimed


@dataclass(frozen=True, slots=True)
class Sweep:
    """There may be claimable work: take as much as there are slots."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The task has ended without its attempt: stop the attempt."""

    key: bytes


@dataclass(frozen=True, slots=True)
class DueAt:
    """A back-off ends at this moment of the store clock."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Due:
    """The moment that a timer was set for has come."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Beat:
    """Renew the leases, and look for what a lost wake-up left behind."""


@dataclass(frozen=True, slots=True)
class ReapNow:
    """Forget what has expired."""


@dataclass(frozen=True, slots=True)
class StopAll:
    """Take no new work and stop every attempt, with this grace in ms."""

    shutdown_ms: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Take no new work; let attempts finish."""


class Runner(Actor):
    """The runner of one task system.

    Args:
        kit: what every attempt is given.
        roster: which attempts live.
        attempts: the supervisor under which they are started.
        timing: how often it does what.
    """

    def __init__(self, kit: Equipment, roster: Roster, attempts: NamedRef, timing: Timing) -> None:
        super().__init__()
        self._kit = kit
        self._store = kit.store
        self._roster = roster
        self._attempts = attempts
        self._timing = timing
        self._owner = f"runner-{self.actor_urn}"
        self._cursor = b""
        self._backlog = False
        self._paused = False
        self._keys: dict[object, bytes] = {}
        self._due_ms: int | None = None

    # --- life

    def on_start(self) -> None:
        """Take over what runs and claim what waits; what happens meanwhile is in the mailbox by name already."""
        self._take_over()
        self.actor_ref.tell(Sweep())
        self.send_after(self._timing.heartbeat_ms, Beat())
        self.send_after(self._timing.reap_interval_ms, ReapNow())

    def on_receive(self, message: object) -> None:
        """Dispatch."""
        match message:
            case Install():
                self._install_with_those_behind(message)
            case Sweep():
                self._sweep()
            case Stop(key):
                self._stop_attempt(key)
            case DueAt(at_ms):
                self._wake_at(at_ms)
            case Due(at_ms):
                self._come_due(at_ms)
            case Beat():
                self._beat()
            case ReapNow():
                self._reap()
            case Pause():
                self._paused = True
            case StopAll(shutdown_ms):
                self._stop_all(shutdown_ms)

    def on_down(self, down: Down) -> None:
        """An attempt is gone: strike it, free its slot, and give its claim back if it left no outcome."""
        key = self._keys.pop(down.monitor, None)
        entry = self._roster.get(key) if key is not None else None
        if key is None or entry is None or entry.ref is not down.ref:
            return
        self._roster.remove(key)
        self._kit.slots.release(key)
        if is_abnormal(down.reason) or entry.stopping:
            self._give_back(entry.lease, crashed=is_abnormal(down.reason) and not entry.stopping)
        self._kit.instrument("attempt_stop", {"running": self._kit.slots.running}, {"task": entry.lease.task_id})
        if self._backlog:
            self._sweep()

    # --- claiming and installing

    def _sweep(self) -> None:
        limit = min(self._kit.slots.free, CLAIM_BATCH)
        self._backlog = limit == 0
        if limit == 0 or self._paused:
            return
        terms = self._store.terms(self._owner, self._timing.lease_ms)
        match self._store.execute(c.ClaimNext(terms=terms, limit=limit, after_scope=self._cursor)):
            case c.Claims() as claims:
                self._cursor = claims.last_scope
                self._install(claims.claimed)
                if claims.more:
                    self.actor_ref.tell(Sweep())
                if claims.next_due_ms is not None:
                    self._wake_at(claims.next_due_ms)
            case refusal:
                log.warning("the store did not answer a claim (%s); trying again", type(refusal).__name__)
                self.send_after(RECHECK_MS, Sweep())

    def _install_with_those_behind(self, first: Install) -> None:
        """Install all claims that wait in the mailbox already: one call to the supervisor for many attempts."""
        behind = [message for message, _ in self.drain(CLAIM_BATCH)]
        self._install([one.claimed for one in (first, *behind) if isinstance(one, Install)])
        for other in behind:
            if not isinstance(other, Install):
                self.on_receive(other)

    def _install(self, claims: Sequence[c.Claimed]) -> None:
        """Start an attempt for each granted claim; its identity is entered before its body can speak."""
        if not claims:
            return
        tokens = [Token() for _ in claims]
        for claimed in claims:
            old = self._roster.get(claimed.lease.key)
            if old is not None:  # its lease ran out unrenewed, and this claim took it away
                self._disown(old)
            self._kit.slots.acquire(claimed.lease.key)
        wanted = [(Attempt, (self._kit, claimed, token)) for claimed, token in zip(claims, tokens, strict=True)]
        try:
            started = start_children(self._attempts, wanted)
        except ActorDeadError:
            for claimed in claims:
                self._not_installed(claimed)
            raise
        for claimed, token, ref in zip(claims, tokens, started, strict=True):
            if isinstance(ref, Exception):
                self._not_installed(claimed)
            else:
                self._enter(Entry(ref=ref, lease=claimed.lease, token=token), claimed.snapshot.attempts)

    def _not_installed(self, claimed: c.Claimed) -> None:
        self._kit.slots.release(claimed.lease.key)
        self._give_back(claimed.lease)

    def _enter(self, entry: Entry, attempt: int) -> None:
        lease = entry.lease
        self._roster.install(entry)
        self._keys[self.monitor(entry.ref)] = lease.key
        metadata = {"task": lease.task_id, "epoch": str(lease.epoch), "generation": str(lease.generation)}
        self._kit.instrument("attempt_start", {"attempt": attempt}, metadata)
        entry.ref.cast(Run())

    def _take_over(self) -> None:
        """Replace each attempt that a runner before this one left running, in the order of I4."""
        for entry in self._roster:
            self._disown(entry)
            terms = self._store.terms(self._owner, self._timing.lease_ms)
            claim = c.Claim(key=entry.lease.key, terms=terms, supersedes=entry.lease)
            result = self._store.execute(claim)
            if isinstance(result, c.Claimed):
                self._install([result])
            self._kit.instrument("replaced", {"count": 1}, {"task": entry.lease.task_id})

    def _disown(self, entry: Entry) -> None:
        """The first steps of I4: identity, token, confirmed exit (or abandoned: the fence holds either way)."""
        self._roster.remove(entry.lease.key)
        entry.token.refuse()
        stop_actor(entry.ref, shutdown_ms=0, kill_after_ms=self._timing.kill_after_ms)
        self._kit.slots.release(entry.lease.key)

    def _give_back(self, lease: c.Lease, *, crashed: bool = False) -> None:
        result = self._store.execute(c.Release(lease=lease, crashed=crashed))
        if not isinstance(result, c.Released | c.StaleLease | c.TaskNotFound):
            log.warning("the claim of %s was not given back; its lease will run out", lease.task_id)

    # --- stopping

    def _stop_attempt(self, key: bytes, shutdown_ms: int | None = None) -> None:
        entry = self._roster.get(key)
        if entry is None or entry.stopping:
            return
        entry.stopping = True
        entry.token.cancel()
        gevent.spawn(self._ladder, entry, self._timing.shutdown_ms if shutdown_ms is None else shutdown_ms)

    def _ladder(self, entry: Entry, shutdown_ms: int) -> None:
        """Cooperative token, exit signal and grace, kill, abandon: in a greenlet of its own, always bounded."""
        if entry.ref.exited.wait(COOPERATIVE_S):
            return
        entry.token.refuse()
        outcome = stop_actor(entry.ref, shutdown_ms=shutdown_ms, kill_after_ms=self._timing.kill_after_ms)
        if outcome.abandoned:
            log.error("the attempt of %s cannot be stopped; it is abandoned and fenced", entry.lease.task_id)
            self._kit.instrument("abandoned", {"count": 1}, {"task": entry.lease.task_id})

    def _stop_all(self, shutdown_ms: int) -> None:
        self._paused = True
        for entry in self._roster:
            self._stop_attempt(entry.lease.key, shutdown_ms)

    # --- time

    def _wake_at(self, at_ms: int) -> None:
        """Make a back-off's end prompt; its truth is in the store, so a lost timer only delays it to the next beat."""
        if self._due_ms is not None and self._due_ms <= at_ms:
            return
        self._due_ms = at_ms
        self.send_after(max(0, at_ms - self._store.now_ms()), Due(at_ms))

    def _come_due(self, at_ms: int) -> None:
        if self._due_ms == at_ms:
            self._due_ms = None
        self._sweep()

    def _beat(self) -> None:
        self.send_after(self._timing.heartbeat_ms, Beat())
        leases = tuple(entry.lease for entry in self._roster if not entry.stopping)
        if leases:
            match self._store.execute(c.Renew(leases=leases, lease_ms=self._timing.lease_ms)):
                case c.Renewed(stale):
                    for lease in stale:
                        self._stop_attempt(lease.key)
        self._sweep()

    def _reap(self) -> None:
        self.send_after(self._timing.reap_interval_ms, ReapNow())
        match self._store.execute(c.Reap()):
            case c.Reaped(more=True):
                self.actor_ref.tell(ReapNow())


def news(transition: c.Transition, roster: Roster) -> Iterator[object]:
    """Give what a runner has to hear of a committed transition; whoever is the runner then."""
    key = transition.key
    for effect in transition.effects:
        match effect:
            case Ended() if transition.lease is None and key in roster:
                yield Stop(key)
            case InputAnswered() if key not in roster:
                yield Sweep()
            case RetryScheduled(at_ms):
                yield DueAt(at_ms)
    if transition.kind in {"released", "reaped"}:
        yield Sweep() if transition.kind == "released" else Stop(key)
