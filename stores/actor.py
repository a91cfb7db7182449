"""The store actor: the only writer. Serialises every decision and commits many in one sync.

It drains its mailbox, decides each operation over the durable state and what the batch has decided
so far, commits all writes in one transaction, publishes the transitions, and only then answers. No
timer window: what queued during a commit is the next batch.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from taskward.actors import NO_REPLY, Actor, From
from taskward.stores import contract as c
from taskward.stores.boot import BootView
from taskward.stores.clock import StoreClock
from taskward.stores.codec import seal
from taskward.stores.committer import Committer
from taskward.stores.deadlines import Deadlines
from taskward.stores.decisions import decide
from taskward.stores.errors import StoreError, StoreFull
from taskward.stores.fence import Decision, Limits
from taskward.stores.layout import CLOCK_KEY, META
from taskward.stores.overlay import Overlay

log = logging.getLogger("taskward.store")

BATCH = 256

Publish = Callable[[Sequence[c.Transition]], None]


@dataclass(slots=True)
class Ticket:
    """An operation on its way: taken by the store actor, or withdrawn by whoever sent it, never both.

    Attributes:
        op: the operation.
        taken: it is being decided, and will be answered with what really happened.
        withdrawn: its sender gave up before it was taken; it is not executed.
    """

    op: c.Operation
    taken: bool = False
    withdrawn: bool = False

    def take(self) -> bool:
        """Take it, unless it was withdrawn."""
        self.taken = not self.withdrawn
        return self.taken


@dataclass(slots=True)
class _Case:
    """One ticket with its verdict."""

    ticket: Ticket
    sender: From | None
    decision: Decision


class StoreActor(Actor):
    """The store actor of one open store.

    Args:
        backend: the adapter.
        committer: its writer thread.
        clock: the store clock.
        limits: what is decided inside a transaction.
        publish: hears committed transitions, in order; must not block.
    """

    trap_exit = True
    init_timeout_ms = None  # bounded by the committer's watchdog

    def __init__(
        self, backend: c.Backend, committer: Committer, clock: StoreClock, limits: Limits, publish: Publish
    ) -> None:
        super().__init__()
        self._backend = backend
        self._committer = committer
        self._clock = clock
        self._limits = limits
        self._publish = publish
        self._deadlines = Deadlines()

    def on_start(self) -> None:
        """Fence whatever a predecessor granted."""
        self._committer.adopt()

    def on_receive(self, message: object) -> object:
        """Handle one batch of tickets."""
        batch = [(message, self.sender()), *self.drain(BATCH - 1)]
        tickets = [(ticket, sender) for ticket, sender in batch if isinstance(ticket, Ticket) and ticket.take()]
        cases, writes = self._decide(tickets)
        try:
            if writes:
                self._committer.commit(writes)
        except StoreFull as full:
            log.error("a batch was refused: %s", full)  # noqa: TRY400 - the sentence says it all
            self._answer(cases, c.StoreUnavailable(str(full)))
        except StoreError as broken:
            self._answer(cases, c.OutcomeUnknown(str(broken)))
            raise  # fail-stop: a successor fences, or the tree gives up
        else:
            self._publish([transition for case in cases for transition in case.decision.transitions])
            self._answer(cases)
        return NO_REPLY

    def _decide(self, tickets: list[tuple[Ticket, From | None]]) -> tuple[list[_Case], list[c.Write]]:
        """Decide in order, each over what those before it will have written. Never yields."""
        now_ms, monotonic_ms = self._clock.now_ms(), self._clock.monotonic_ms()
        with closing(self._backend.read()) as durable:
            overlay = Overlay(durable)
            boot = BootView.of(self._backend, overlay, self._limits, self._deadlines, monotonic_ms)
            cases = [_Case(ticket, sender, self._verdict(boot, ticket.op, now_ms)) for ticket, sender in tickets]
            if overlay:
                overlay.apply([(META, CLOCK_KEY, seal(CLOCK_KEY, now_ms))])
            return cases, overlay.writes()

    def _verdict(self, boot: BootView, op: c.Operation, now_ms: int) -> Decision:
        assert isinstance(boot.view, Overlay)
        try:
            decision = decide(boot, op, now_ms)
        except Exception as error:
            log.exception("%s could not be decided", type(op).__name__)
            return Decision(c.StoreUnavailable(f"it could not be decided: {error}"))
        boot.view.apply(decision.writes)
        self._deadlines.note(op, decision.result, decision.transitions, boot.monotonic_ms)
        return decision

    @staticmethod
    def _answer(cases: list[_Case], failure: c.StoreDown | None = None) -> None:
        """Answer a batch. If it was not committed, every verdict in it stood on writes that are not there."""
        for case in cases:
            if case.sender is not None:
                case.sender.reply(failure or case.decision.result)
