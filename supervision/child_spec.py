"""What a supervisor knows of a child: how to start it, when to restart it, how long to let it end. Data only."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from taskward.actors import Actor

BRUTAL_KILL: int = 0
"""Shutdown without grace."""

INFINITY = None
"""Shutdown without a limit."""

DEFAULT_SHUTDOWN_MS = 5_000

_BY_KIND: Any = object()


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
        shutdown_ms: grace when it is stopped; `BRUTAL_KILL`, or `INFINITY`. By default 5,000 ms, and
            `INFINITY` for supervisors, whose own children bound it (S5).
        name: its name in the supervisor's registry.
    """

    id: str
    actor: type[Actor]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    restart: Restart = Restart.PERMANENT
    shutdown_ms: int | None = _BY_KIND
    name: str | None = None

    def __post_init__(self) -> None:
        if self.shutdown_ms is _BY_KIND:
            supervises = getattr(self.actor, "supervises", False)
            object.__setattr__(self, "shutdown_ms", INFINITY if supervises else DEFAULT_SHUTDOWN_MS)


_VALID: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "id": (lambda value: isinstance(value, str) and value != "", "a text that is not empty"),
    "actor": (lambda value: isinstance(value, type) and issubclass(value, Actor), "a class of actors"),
    "restart": (lambda value: isinstance(value, Restart), "one of `Restart`"),
    "shutdown_ms": (
        lambda value: value is INFINITY or (isinstance(value, int | float) and value >= 0),
        "`BRUTAL_KILL`, `INFINITY`, or milliseconds",
    ),
}


def check(specs: list[ChildSpec]) -> None:
    """Raise `BadSpec` if one of the children is not well described, or two have one id (S4)."""
    for spec in specs:
        for name, (valid, expected) in _VALID.items():
            value = getattr(spec, name)
            if not valid(value):
                raise BadSpec(f"{name} of child {spec.id!r} is {value!r}; it has to be {expected}")
    for id_, count in Counter(spec.id for spec in specs).items():
        if count > 1:
            raise BadSpec(f"{count} children are called {id_!r}; give each an id of its own")
