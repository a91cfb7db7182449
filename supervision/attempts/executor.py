"""Who runs the work: the contract between the runner and the application."""

from typing import Protocol

from taskward.domain.work import Work
from taskward.supervision.attempts.context import TaskContext
from taskward.supervision.attempts.outcome import Outcome


class WorkExecutor(Protocol):
    """Runs one piece of work, on first and on recovery claims alike.

    Its own state is rebuilt by the application at start and is never stored. Recovery is at least
    once: an external effect may happen again, so make it under `ctx.idempotency_key`.
    """

    def execute(self, work: Work, ctx: TaskContext) -> Outcome:
        """Run the work to its outcome.

        Args:
            work: the stored descriptor.
            ctx: the attempt's context.

        Returns:
            `Completed`, `Failed`, or `Retry`. An exception fails the task, masked, and is logged.
        """
