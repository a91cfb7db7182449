"""Looking at a running tree: its children, as data and as text. Asks, and changes nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from taskward.actors import ActorDeadError, ActorRef, CallTimeout

LOOK_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class WhichChildren:
    """Ask a supervisor who its children are; it answers with a list of `ChildInfo`."""


@dataclass(frozen=True, slots=True)
class ChildInfo:
    """One child as its supervisor sees it.

    Attributes:
        id: its id.
        ref: its ref; `None` while it is stopped or being restarted.
        restarts: how often it was restarted.
    """

    id: str
    ref: ActorRef[Any] | None
    restarts: int


@dataclass(frozen=True, slots=True)
class Node:
    """One process of a tree.

    Attributes:
        id: its id under its supervisor.
        actor: its class and number; empty if it is not running.
        state: `running` or `stopped`.
        mailbox_length: how many messages wait.
        restarts: how often it was restarted.
        children: its children, if it is a supervisor.
    """

    id: str
    actor: str
    state: str
    mailbox_length: int
    restarts: int
    children: tuple["Node", ...] = ()


def which_children(supervisor: ActorRef[Any]) -> list[ChildInfo]:
    """Ask a supervisor for its children.

    Raises:
        ActorDeadError: it has ended.
    """
    children: list[ChildInfo] = supervisor.ask(WhichChildren(), timeout=LOOK_TIMEOUT_S)
    return children


def tree(root: ActorRef[Any], *, max_children: int = 1_000) -> Node:
    """Give the live tree under `root`.

    Args:
        root: a supervisor.
        max_children: so many children of one supervisor are shown at most.
    """
    return _node(ChildInfo(root.name or "root", root, 0), max_children)


def render_tree(node: Node) -> str:
    """Draw a tree as text, one line a process."""
    return "\n".join(_lines(node, "", ""))


def _node(info: ChildInfo, limit: int) -> Node:
    ref = info.ref
    if ref is None or not ref.is_alive():
        return Node(info.id, "", "stopped", 0, info.restarts)
    children = tuple(_node(child, limit) for child in _children_of(ref)[:limit])
    return Node(info.id, str(ref), "running", ref.mailbox_length, info.restarts, children)


def _children_of(ref: ActorRef[Any]) -> list[ChildInfo]:
    if not getattr(ref.actor_class, "supervises", False):
        return []
    try:
        return which_children(ref)
    except (ActorDeadError, CallTimeout):  # it ended, or is busy starting: the picture is of this moment
        return []


def _lines(node: Node, first: str, rest: str) -> Iterator[str]:
    restarts = f", {node.restarts} restarts" if node.restarts else ""
    yield f"{first}{node.id}  {node.actor or node.state} (mailbox {node.mailbox_length}{restarts})"
    for child in node.children:
        last = child is node.children[-1]
        yield from _lines(child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))
