"""The context of a plain call: the same tool, no task behind it."""

from collections.abc import Mapping
from typing import Any

import gevent

from taskward.domain.json_value import JsonObject
from taskward.mcp.errors import tasks_not_declared
from taskward.supervision.attempts.context import TaskContext


class CallContext(TaskContext):
    """What a tool gets that is called without a task: it can do everything but wait for its user."""

    @property
    def task_id(self) -> None:
        """A plain call has no task."""
        return

    @property
    def attempt(self) -> int:
        """Always the first."""
        return 1

    @property
    def cancelled(self) -> bool:
        """A plain call is not cancelled in this version."""
        return False

    def progress(self, message: str) -> None:
        """Nobody listens to the progress of a plain call."""

    def sleep(self, seconds: float) -> None:
        """Wait; other greenlets run meanwhile."""
        gevent.sleep(seconds)

    def await_inputs(self, requests: Mapping[str, JsonObject]) -> Mapping[str, Any]:
        """Refuse: a plain call cannot wait for its user (-32021, naming the Tasks extension)."""
        raise tasks_not_declared("A question to the user half-way")
