"""What a supervisor knows of a child: how to start it, when to restart it, how long to let it end. Data only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from taskward.actors import Actor

BRUTAL_KILL: int = 0
"""Shutdown without grace."""

INFINITY = None
"""Shutdown without a limit."""

DEFAULT_SHUTDOWN_MS = 5_000


class Restart(Enum):
    """When a child that ended is started again."""

    PERMANENT = "permanent"
    TRANSIENT = "transient"
    TEMPORARY = "temporary"


class Strategy(Enum):
    """Whom a restart takes along."""

    ONE_FOR_ONE = "one_for_one"
    ONE_FOR_ALL = "one_for_all"
    REST_FOR_ONE = "rest_for_one"


class BadSpec(ValueError):
    """These children cannot be supervised; the sentence says why. Nothing was started."""


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """One child.

    Attributes:
        id: unique under its supervisor.
        actor: its class.
        args: for the constructor.
        kwargs: likewise.
        restart: see `Restart`.
        shutdown_ms: grace when it is stopped; `BRUTAL_KILL`, or `INFINITY` (for supervisors).
        name: its name in the supervisor's registry.
    """

    id: str
    actor: type[Actor]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    restart: Restart = Restart.PERMANENT
    shutdown_ms: int | None = DEFAULT_SHUTDOWN_MS
    name: str | None = None


def check(specs: list[ChildSpec]) -> None:
    """Raise `BadSpec` if two children have one id (S4)."""
    ids = [spec.id for spec in specs]
    for spec in specs:
        if ids.count(spec.id) > 1:
            raise BadSpec(f"two children are called {spec.id!r}; give each an id of its own")
        if spec.shutdown_ms is not None and spec.shutdown_ms < 0:
            raise BadSpec(f"shutdown_ms of {spec.id!r} is negative; use BRUTAL_KILL for no grace")
