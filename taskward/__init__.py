"""Durable tasks for MCP tools: on disk before the client hears of them, supervised, fenced, recoverable.

>>> from taskward import SHARED, Server, TaskContext
"""

from taskward.domain.errors import TaskwardError
from taskward.domain.retry import RetryPolicy
from taskward.domain.work import Work
from taskward.mcp.tools import ProtocolError, ToolError
from taskward.server import Server
from taskward.stores.store import SHARED
from taskward.supervision.attempts.context import Answer, TaskContext
from taskward.supervision.attempts.executor import WorkExecutor
from taskward.supervision.attempts.outcome import Completed, Failed, Retry
from taskward.supervision.attempts.tree import Settings, TaskSystem
from taskward.version import __version__

__all__ = [
    "SHARED",
    "Answer",
    "Completed",
    "Failed",
    "ProtocolError",
    "Retry",
    "RetryPolicy",
    "Server",
    "Settings",
    "TaskContext",
    "TaskSystem",
    "TaskwardError",
    "ToolError",
    "Work",
    "WorkExecutor",
    "__version__",
]
