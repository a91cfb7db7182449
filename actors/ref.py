"""The ref: all that anybody holds of an actor."""

import time
from typing import TYPE_CHECKING, Any, TypeVar

import pykka
from gevent import getcurrent
from gevent.event import Event

from taskward.actors.cell import Cell
from taskward.actors.errors import DeadlockError, NoProc
from taskward.actors.exits import ExitReason
from taskward.actors.future import OneShotFuture
from taskward.actors.mailbox import Envelope

if TYPE_CHECKING:
    from taskward.actors.actor import Actor

A = TypeVar("A", bound="Actor")

DEFAULT_TIMEOUT_S = 5.0


def current_cell() -> Cell | None:
    """Give the control block of the actor whose code runs now, or `None` outside any actor."""
    return getattr(getcurrent(), "cell", None)


class ActorRef(pykka.ActorRef[A]):
    """A ref as in Pykka, with OTP's answers: reasons, bounds and deadlines.

    Args:
        actor: whose.
        cell: its control block.
    """

    def __init__(self, actor: A, cell: Cell) -> None:
        super().__init__(actor)
        self.cell = cell

    @property
    def exited(self) -> Event:
        """Set once the exit is visible everywhere: names free, askers told, links and monitors signalled."""
        return self.cell.exited

    @property
    def exit_reason(self) -> ExitReason | None:
        """Why it ended; `None` while it lives."""
        return self.cell.exit_reason

    @property
    def name(self) -> str | None:
        """The name it was started under."""
        return self.cell.name

    @property
    def mailbox_length(self) -> int:
        """How many messages wait."""
        return len(self.cell.mailbox)

    def tell(self, message: Any) -> None:
        """Send a message.

        Raises:
            pykka.ActorDeadError: the actor has ended.
            MailboxFull: its mailbox is at its limit.
        """
        if self.cell.exit_reason is not None:
            raise NoProc(f"{self} has ended ({self.cell.exit_reason})")
        self.cell.mailbox.put(Envelope(message))

    def cast(self, message: Any) -> None:
        """Send a message; to a dead actor it is dropped (C6).

        Raises:
            MailboxFull: its mailbox is at its limit.
        """
        try:
            self.tell(message)
        except pykka.ActorDeadError:
            return

    def ask(self, message: Any, *, block: bool = True, timeout: float | None = DEFAULT_TIMEOUT_S) -> Any:
        """Send a message and wait for the answer.

        Args:
            message: what is asked.
            block: wait here; otherwise give the future.
            timeout: seconds. A call that was not begun by then is not executed (C11); once begun it
                runs to its end, and its answer is dropped (C1, C2). `None` waits without limit.

        Raises:
            pykka.Timeout: no answer in time.
            pykka.ActorDeadError: the actor has ended, or ends before it answers (C3, C4).
            MailboxFull: its mailbox is at its limit; nothing was asked.
            DeadlockError: the callee waits, directly or not, for the caller (C5, C12).
        """
        caller = current_cell() if block else None
        if caller is not None:
            self._refuse_ring(caller)
        future: OneShotFuture[Any] = OneShotFuture()
        deadline = None if timeout is None else time.monotonic() + timeout
        self._put(Envelope(message, future, deadline))
        return self._wait_for(future, caller, timeout) if block else future

    def stop(self, *, block: bool = True, timeout: float | None = None) -> Any:
        """Ask it to end in good order, behind the messages that wait already; this request never expires.

        Args:
            block: wait for the end here, and tell whether the actor lived; otherwise give a future of that.
            timeout: seconds. `None` waits without limit; `stop_actor` is bounded, and has the last word.

        Raises:
            pykka.Timeout: it has not ended in time; it will when it comes to the request.
            DeadlockError: the actor waits, directly or not, for the caller.
        """
        caller = current_cell() if block else None
        if caller is not None:
            self._refuse_ring(caller)
        stopped = super().stop(block=False)
        return self._wait_for(stopped, caller, timeout) if block else stopped

    def exit(self, reason: ExitReason) -> None:
        """Send an exit signal. One that does not trap ends with it at once; `normal` from another is dropped."""
        self.cell.signal_exit(current_cell(), reason)

    def kill(self) -> None:
        """Ask for the end by force: no hook runs. Wait for `exited`; code that swallows the kill needs another."""
        self.cell.kill()

    def _put(self, envelope: Envelope) -> None:
        assert envelope.reply_to is not None
        if self.cell.exit_reason is not None:
            envelope.reply_to.set_error(NoProc(f"{self} has ended ({self.cell.exit_reason})"))
            return
        self.cell.mailbox.put(envelope)

    def _wait_for(self, future: pykka.Future[Any], caller: Cell | None, timeout: float | None) -> Any:
        if caller is None:
            return future.get(timeout=timeout)
        caller.waiting_for = self.cell
        try:
            return future.get(timeout=timeout)
        finally:
            caller.waiting_for = None

    def _refuse_ring(self, caller: Cell) -> None:
        asked: Cell | None = self.cell
        while asked is not None:
            if asked is caller:
                raise DeadlockError(f"{caller.ref} would wait for itself by asking {self}; use tell, or answer later")
            asked = asked.waiting_for
