"""The dynamic supervisor: many temporary children, started on demand, stopped in parallel. Never tasks.

Source: Elixir's `DynamicSupervisor`. Children are not restarted and their arguments not kept (D4).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from taskward.actors import (
    Actor,
    ActorRef,
    ActorStartError,
    Exit,
    ExitReason,
    NamedRef,
    is_abnormal,
    stop_actors,
)
from taskward.supervision.child_spec import DEFAULT_SHUTDOWN_MS
from taskward.supervision.starting import start_under
from taskward.supervision.watch import ChildInfo, WhichChildren

log = logging.getLogger("taskward.supervision")

DEFAULT_MAX_CHILDREN = 100_000
START_TIMEOUT_S = 30.0


class MaxChildren(Exception):
    """The supervisor has as many children as it may have; nothing was started. Try again later."""


Wanted = tuple[type[Actor], tuple[Any, ...]]
"""A child to start: its class, and the arguments for its constructor."""


@dataclass(frozen=True, slots=True)
class _StartChildren:
    wanted: Sequence[Wanted]


class DynamicSupervisor(Actor):
    """A supervisor of temporary children.

    Args:
        max_children: so many at once at most (D2).
        shutdown_ms: their common grace when it stops (D3).
    """

    trap_exit = True
    supervises = True

    def __init__(
        self, *, max_children: int = DEFAULT_MAX_CHILDREN, shutdown_ms: int | None = DEFAULT_SHUTDOWN_MS
    ) -> None:
        super().__init__()
        self._max_children = max_children
        self._shutdown_ms = shutdown_ms
        self._children: dict[ActorRef[Any], None] = {}

    def on_receive(self, message: object) -> object:
        """Start a child, or tell who there is; refusals are answers."""
        match message:
            case _StartChildren(wanted):
                return [self._start_child(actor, args) for actor, args in wanted]
            case WhichChildren():
                return [ChildInfo(str(ref), ref, 0) for ref in self._children]
            case _:
                log.warning("%s got an unknown message: %r", self, message)
                return None

    def on_exit(self, exit_: Exit) -> None:
        """Forget a child that ended."""
        if exit_.ref in self._children:
            del self._children[exit_.ref]
            if is_abnormal(exit_.reason):
                log.error("%s: child %s ended (%s)", self, exit_.ref, exit_.reason)

    def terminate(self, reason: ExitReason) -> None:
        """Stop all children at once, on one timer."""
        stop_actors(list(self._children), shutdown_ms=self._shutdown_ms)

    def _start_child(self, actor: type[Actor], args: tuple[Any, ...]) -> ActorRef[Any] | MaxChildren | ActorStartError:
        if len(self._children) >= self._max_children:
            return MaxChildren(f"{self._max_children} children run already; try again later")
        try:
            ref = start_under(self.actor_ref, actor, args, {}, registry=self._cell.registry)
        except ActorStartError as error:
            return error
        self._children[ref] = None
        return ref


def start_children(
    supervisor: ActorRef[DynamicSupervisor] | NamedRef, wanted: Sequence[Wanted]
) -> list[ActorRef[Any] | MaxChildren | ActorStartError]:
    """Start temporary children in one call; see `start_child` for the refusals, which are answers here.

    Raises:
        ActorDeadError: the supervisor is not there.
    """
    refs: list[ActorRef[Any] | MaxChildren | ActorStartError]
    refs = supervisor.ask(_StartChildren(wanted), timeout=START_TIMEOUT_S)
    return refs


def start_child(supervisor: ActorRef[DynamicSupervisor] | NamedRef, actor: type[Actor], *args: Any) -> ActorRef[Any]:
    """Start a temporary child.

    Args:
        supervisor: a `DynamicSupervisor`.
        actor: the child's class.
        args: for its constructor.

    Raises:
        MaxChildren: there are as many as there may be; nothing was started.
        ActorStartError: the child's constructor or `on_start` failed.
        ActorDeadError: the supervisor is not there.
    """
    [answer] = start_children(supervisor, [(actor, args)])
    if isinstance(answer, Exception):
        raise answer
    return answer
