"""What can go wrong between actors. The sentence says what to do."""

from typing import TYPE_CHECKING, Any

import pykka

from taskward.actors.exits import ExitReason

if TYPE_CHECKING:
    from taskward.actors.ref import ActorRef


class ActorDied(pykka.ActorDeadError):
    """The actor ended before it answered.

    Attributes:
        reason: its exit reason.
    """

    def __init__(self, who: object, reason: object) -> None:
        super().__init__(f"{who} ended before it answered ({reason})")
        self.reason = reason


class NoProc(pykka.ActorDeadError):
    """Nobody lives under this ref or name."""


class ActorStartError(Exception):
    """The actor did not start; nothing of it is left.

    Attributes:
        reason: why: the exception of its initialisation, or the exit reason.
    """

    def __init__(self, who: object, reason: object) -> None:
        super().__init__(f"{who} did not start: {reason!r}")
        self.reason = reason


class AlreadyStarted(ActorStartError):
    """The name is taken by a living actor.

    Attributes:
        ref: who has it.
    """

    def __init__(self, name: str, ref: "ActorRef[Any]") -> None:
        super().__init__(name, f"the name is taken by {ref}")
        self.ref = ref


class MailboxFull(Exception):
    """The mailbox is at its limit. The message was not taken: slow down, or try again later."""


class DeadlockError(Exception):
    """This call would wait for itself: the callee is the caller, or waits for it. Use `tell`, or answer later."""


class InitTimeout(Exception):
    """`on_start` did not end within `init_timeout_ms`."""


def died(who: object, reason: ExitReason) -> ActorDied:
    """Give the error that an asker gets; it names the crash as its cause, as `gen_server:call` does."""
    error = ActorDied(who, reason)
    error.__cause__ = reason if isinstance(reason, BaseException) else None
    return error
