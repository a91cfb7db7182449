"""The supervisor: who starts, watches, restarts and stops whom. Knows processes, never tasks.

Source: OTP's `supervisor`; defaults as in Elixir (3 restarts in 5 s).
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from taskward.actors import (
    KILLED,
    Actor,
    ActorRef,
    ActorStartError,
    Exit,
    ExitReason,
    Shutdown,
    is_abnormal,
    stop_actor,
)
from taskward.supervision.child_spec import BadSpec, ChildSpec, Restart, Strategy, check
from taskward.supervision.restart import Intensity, Verdict, taken_along, verdict
from taskward.supervision.starting import start_under
from taskward.supervision.watch import ChildInfo, WhichChildren

log = logging.getLogger("taskward.supervision")

MAX_RESTARTS = 3
MAX_SECONDS = 5.0


@dataclass(slots=True)
class _Child:
    """One child, running or not."""

    spec: ChildSpec
    ref: ActorRef[Any] | None = None
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class _TryAgain:
    """A restart whose initialisation failed is tried again, with whatever waits in the mailbox between (R10, R11)."""

    id: str


class Supervisor(Actor):
    """A supervisor of a fixed list of children.

    Args:
        children: in start order.
        strategy: whom a restart takes along.
        max_restarts: so many within `max_seconds`; at one more it stops everything and exits.
        max_seconds: the window, in seconds.

    Raises:
        BadSpec: this cannot be supervised; nothing was started.
    """

    trap_exit = True
    supervises = True
    init_timeout_ms = None  # the children's own limits bound it

    def __init__(
        self,
        children: Sequence[ChildSpec],
        *,
        strategy: str | Strategy = Strategy.ONE_FOR_ONE,
        max_restarts: int = MAX_RESTARTS,
        max_seconds: float = MAX_SECONDS,
    ) -> None:
        super().__init__()
        check(list(children))
        if max_restarts < 0 or max_seconds <= 0:
            raise BadSpec(f"{max_restarts} restarts in {max_seconds} s: neither may be negative, nor the window empty")
        self._children = {spec.id: _Child(spec) for spec in children}
        self._strategy = Strategy(strategy)
        self._intensity = Intensity(max_restarts, max_seconds)

    def on_start(self) -> None:
        """Start the children in order; if one fails, stop those before it in reverse (S1, S2)."""
        for child in self._children.values():
            try:
                self._start_child(child)
            except ActorStartError as error:
                self._stop_all()
                raise ActorStartError(child.spec.id, error.reason) from error

    def on_receive(self, message: object) -> object:
        """Answer who the children are; whatever else comes is logged, never fatal (S19)."""
        match message:
            case WhichChildren():
                return [self._info(child) for child in self._children.values()]
            case _TryAgain(id_):
                child = self._children.get(id_)
                if child is not None and child.ref is None:
                    self._restart(child)
            case _:
                log.warning("%s got an unknown message: %r", self, message)
        return None

    def on_exit(self, exit_: Exit) -> None:
        """Do about a child's end what its spec says."""
        child = next((child for child in self._children.values() if child.ref is exit_.ref), None)
        if child is None:
            return
        child.ref = None
        decided = verdict(child.spec.restart, exit_.reason)
        level = logging.ERROR if is_abnormal(exit_.reason) else logging.INFO
        log.log(level, "%s: child %s ended (%s): %s", self, child.spec.id, exit_.reason, decided.value)
        if decided is Verdict.DROP:
            del self._children[child.spec.id]
        elif decided is Verdict.RESTART:
            self._restart(child)

    def terminate(self, reason: ExitReason) -> None:
        """Stop the children in reverse order; nothing is restarted any more (S1, S13)."""
        self._stop_all()

    def _restart(self, child: _Child) -> None:
        window = self._intensity
        if not window.allow(time.monotonic()):
            why = (
                f"{child.spec.id!r} had to be restarted more than {window.max_restarts} times in {window.max_seconds} s"
            )
            log.error("%s gives up: %s", self, why)
            self.exit(Shutdown(why))
        child.restarts += 1
        group = [self._children[id_] for id_ in taken_along(self._strategy, list(self._children), child.spec.id)]
        for other in reversed(group):
            self._stop_child(other)
        for other in group:
            if other is not child and other.spec.restart is Restart.TEMPORARY:
                del self._children[other.spec.id]
            elif not self._start_again(other):
                self.send_after(0, _TryAgain(other.spec.id))
                return

    def _start_again(self, child: _Child) -> bool:
        try:
            self._start_child(child)
        except ActorStartError as error:
            log.error("%s: child %s did not start again: %r", self, child.spec.id, error.reason)  # noqa: TRY400
            return False
        return True

    def _start_child(self, child: _Child) -> None:
        spec = child.spec
        self._see_off_orphan(spec)
        registry = self._cell.registry
        child.ref = start_under(self.actor_ref, spec.actor, spec.args, spec.kwargs, registry=registry, name=spec.name)

    def _see_off_orphan(self, spec: ChildSpec) -> None:
        """Wait until the child of a killed supervisor that still has this name is gone (N3)."""
        registry = self._cell.registry
        holder = None if registry is None or spec.name is None else registry.whereis(spec.name)
        parent = None if holder is None else holder.cell.parent
        if parent is not None and parent.is_set() and getattr(parent.ref.actor_class, "supervises", False):
            assert holder is not None
            stop_actor(holder, shutdown_ms=spec.shutdown_ms)

    def _stop_all(self) -> None:
        for child in reversed(self._children.values()):
            self._stop_child(child)

    def _stop_child(self, child: _Child) -> None:
        ref, child.ref = child.ref, None
        if ref is None:
            return
        self.unlink(ref)  # its exit is awaited here, not heard of (S9)
        outcome = stop_actor(ref, shutdown_ms=child.spec.shutdown_ms)
        if is_abnormal(outcome.reason) and not (outcome.killed and outcome.reason is KILLED):
            log.error("%s: child %s ended otherwise than asked: %s", self, child.spec.id, outcome.reason)

    @staticmethod
    def _info(child: _Child) -> ChildInfo:
        return ChildInfo(child.spec.id, child.ref, child.restarts)
