"""Supervisors as in OTP: who starts, watches, restarts and stops whom. Knows processes, never tasks."""

if __name__ != "taskward.supervision":  # pragma: no cover - reached only by the wrong import
    raise ImportError(
        f"import this room as 'taskward.supervision', not as '{__name__}': a second copy would have its own globals"
    )

from taskward.supervision.child_spec import BRUTAL_KILL, INFINITY, BadSpec, ChildSpec, Restart, Strategy
from taskward.supervision.dynamic import DynamicSupervisor, MaxChildren, start_child, start_children
from taskward.supervision.supervisor import Supervisor
from taskward.supervision.watch import ChildInfo, Node, render_tree, tree, which_children

__all__ = [
    "BRUTAL_KILL",
    "INFINITY",
    "BadSpec",
    "ChildInfo",
    "ChildSpec",
    "DynamicSupervisor",
    "MaxChildren",
    "Node",
    "Restart",
    "Strategy",
    "Supervisor",
    "render_tree",
    "start_child",
    "start_children",
    "tree",
    "which_children",
]
