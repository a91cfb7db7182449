"""One attempt of one task: an actor whose life is a pipeline of execute, then settle.

Speaks to the store itself, under its own lease. Does not know the runner, slots' limits or retries.
"""

import logging
from dataclasses import dataclass

import gevent

from taskward.actors import Actor
from taskward.domain import event as ev
from taskward.domain.errors import InvalidValue
from taskward.domain.json_value import check_json
from taskward.stores import contract as c
from taskward.stores.store import Store
from taskward.supervision.attempts.durable_context import DurableContext
from taskward.supervision.attempts.executor import WorkExecutor
from taskward.supervision.attempts.feed import Feed
from taskward.supervision.attempts.instrument import Instrument
from taskward.supervision.attempts.outcome import INTERNAL_ERROR, Completed, Failed, Retry, event_of, internal_failure
from taskward.supervision.attempts.slots import Slots
from taskward.supervision.attempts.token import AttemptStopped, Token

log = logging.getLogger("taskward.attempts")

MAX_RESULT_BYTES = 4 * 1024 * 1024
SETTLE_TRIES = 20
SETTLE_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What every attempt of a task system is given.

    Attributes:
        store: the front door of the store.
        feed: where answers are heard of.
        slots: where attempts park.
        executor: who runs the work.
        instrument: who hears of it.
        progress_interval_ms: a chatty tool commits at most one message in this time.
        max_result_bytes: the longest result that is kept, as compact JSON.
    """

    store: Store
    feed: Feed
    slots: Slots
    executor: WorkExecutor
    instrument: Instrument
    progress_interval_ms: int = 250
    max_result_bytes: int = MAX_RESULT_BYTES


@dataclass(frozen=True, slots=True)
class Run:
    """Tells an attempt to begin; sent once its identity is entered, so that its body never speaks before."""


class Attempt(Actor):
    """One attempt of one task.

    Args:
        equipment: see `Equipment`.
        claimed: the claim that it runs under.
        token: its execution token.
    """

    mailbox_limit = 16

    def __init__(self, equipment: Equipment, claimed: c.Claimed, token: Token) -> None:
        super().__init__()
        self._kit = equipment
        self._claimed = claimed
        self._token = token

    def on_receive(self, message: object) -> None:
        """Live: execute, settle, stop."""
        assert isinstance(message, Run)
        event = self._execute()
        if event is not None:
            self._settle(event)
        self.stop()

    def _execute(self) -> ev.Event | None:
        """Run the body to the event that reports its outcome; `None` if it was stopped first."""
        ctx = DurableContext(
            store=self._kit.store,
            feed=self._kit.feed,
            slots=self._kit.slots,
            claimed=self._claimed,
            token=self._token,
            progress_interval_ms=self._kit.progress_interval_ms,
        )
        try:
            outcome = self._kit.executor.execute(self._claimed.snapshot.work, ctx)
        except AttemptStopped:
            return None
        except Exception:
            log.exception("task %s: the executor raised", self._claimed.lease.task_id)
            outcome = internal_failure()
        finally:
            ctx.close()
        return self._reportable(outcome)

    def _reportable(self, outcome: object) -> ev.Event:
        if not isinstance(outcome, Completed | Failed | Retry):
            log.error("task %s: the executor returned %r", self._claimed.lease.task_id, type(outcome))
            outcome = internal_failure()
        if isinstance(outcome, Completed):
            outcome = self._checked(outcome)
        return event_of(outcome)

    def _checked(self, outcome: Completed) -> Completed | Failed:
        try:
            check_json(outcome.result, max_bytes=self._kit.max_result_bytes, path="result")
        except InvalidValue as error:
            sentence = f"The tool's result cannot be kept: {error}"
            return Failed({"code": INTERNAL_ERROR, "message": sentence}, sentence)
        return outcome

    def _settle(self, event: ev.Event) -> None:
        """Report the outcome, asking again under the same event id while the store is away (I5)."""
        for _ in range(SETTLE_TRIES):
            if self._token.refused:
                self._count_refused(event)
                return
            match self._kit.store.execute(c.Commit(authority=self._claimed.lease, event=event)):
                case c.StoreUnavailable() | c.OutcomeUnknown():
                    gevent.sleep(SETTLE_PAUSE_S)
                case c.StaleLease() | c.TaskNotFound():
                    self._count_refused(event)
                    return
                case _:
                    return
        raise TimeoutError(f"the store did not take the outcome of {self._claimed.lease.task_id}")

    def _count_refused(self, event: ev.Event) -> None:
        self._kit.instrument(
            "stale_write_refused", {"count": 1}, {"task": self._claimed.lease.task_id, "event": event.kind}
        )
