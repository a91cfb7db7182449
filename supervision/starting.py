"""Starting a child under a supervisor: linked, in its registry, and whatever fails is one kind of error."""

from collections.abc import Mapping
from typing import Any

from taskward.actors import Actor, ActorRef, ActorStartError, Registry, StartOptions


def start_under(
    parent: ActorRef[Any],
    actor: type[Actor],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    registry: Registry | None,
    name: str | None = None,
) -> ActorRef[Any]:
    """Start an actor as a child.

    Args:
        parent: its supervisor.
        actor: its class.
        args: for its constructor.
        kwargs: likewise.
        registry: where its name, and those of its own children, are kept.
        name: its name there.

    Raises:
        ActorStartError: its constructor or its `on_start` failed, or the name is taken.
    """
    try:
        return actor.start_with(StartOptions(name=name, registry=registry, link_to=parent), *args, **kwargs)
    except ActorStartError:
        raise
    except Exception as error:  # its constructor's
        raise ActorStartError(name or actor.__name__, error) from error
