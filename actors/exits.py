"""Why an actor ended, as values, and the signals that carry it. Data only.

A reason is one of the four `Reason`s, a `Shutdown` or `Abandoned` that says why, or the exception
that crashed the actor. Source: OTP's exit reasons.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from taskward.actors.ref import ActorRef


class Reason(Enum):
    """The plain exit reasons."""

    NORMAL = "normal"
    SHUTDOWN = "shutdown"
    KILLED = "killed"
    NOPROC = "noproc"

    def __str__(self) -> str:
        return self.value


NORMAL, SHUTDOWN, KILLED, NOPROC = Reason.NORMAL, Reason.SHUTDOWN, Reason.KILLED, Reason.NOPROC


@dataclass(frozen=True, slots=True)
class Shutdown:
    """An orderly end that says why: OTP's `{shutdown, why}`."""

    why: object

    def __str__(self) -> str:
        return f"shutdown: {self.why}"


@dataclass(frozen=True, slots=True)
class Abandoned:
    """It could not be stopped: its greenlet may still run, but it is nobody any more."""

    def __str__(self) -> str:
        return "abandoned"


ExitReason = Reason | Shutdown | Abandoned | BaseException


def is_abnormal(reason: object) -> bool:
    """Tell whether a reason is a failure: anything but `normal`, `shutdown` and `{shutdown, why}`."""
    return not (reason is NORMAL or reason is SHUTDOWN or isinstance(reason, Shutdown))


class ExitSignal(BaseException):
    """An exit, on its way through the greenlet that it ends. A `BaseException`, so that handlers let it pass.

    Attributes:
        reason: why the actor ends.
    """

    def __init__(self, reason: ExitReason) -> None:
        super().__init__(reason)
        self.reason = reason


class Killed(ExitSignal):
    """A kill: no hook of the actor runs any more."""

    def __init__(self) -> None:
        super().__init__(KILLED)


class StopRequest(ExitSignal):
    """The actor itself ends in good order (OTP's `{stop, Reason, State}`): `terminate` runs."""


@dataclass(frozen=True, slots=True)
class Exit:
    """What an actor that traps exits hears of a linked actor's end.

    Attributes:
        ref: who ended or sent the signal; `None` if it came from outside any actor.
        reason: why.
    """

    ref: "ActorRef[Any] | None"
    reason: ExitReason


class Monitor:
    """One death watch; told apart from every other by identity.

    Attributes:
        ref: who is watched.
    """

    __slots__ = ("ref",)

    def __init__(self, ref: "ActorRef[Any]") -> None:
        self.ref = ref


@dataclass(frozen=True, slots=True)
class Down:
    """The one message of a monitor: the watched actor is gone, and its names are free.

    Attributes:
        monitor: which watch.
        ref: who was watched.
        reason: why it ended; `noproc` if it was dead when the watch began.
    """

    monitor: Monitor
    ref: "ActorRef[Any]"
    reason: ExitReason
