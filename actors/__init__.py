"""Actors on Pykka and gevent: mailboxes, exits, links, monitors, names, timers. Never heard of a task."""

if __name__ != "taskward.actors":  # pragma: no cover - reached only by the wrong import
    raise ImportError(
        f"import this room as 'taskward.actors', not as '{__name__}': a second copy would have its own globals"
    )

from pykka import ActorDeadError
from pykka import Timeout as CallTimeout

from taskward.actors.actor import NO_REPLY, Actor, From, StartOptions
from taskward.actors.cell import Timer
from taskward.actors.errors import (
    ActorDied,
    ActorStartError,
    AlreadyStarted,
    DeadlockError,
    InitTimeout,
    MailboxFull,
    NoProc,
)
from taskward.actors.exits import (
    KILLED,
    NOPROC,
    NORMAL,
    SHUTDOWN,
    Abandoned,
    Down,
    Exit,
    ExitReason,
    Monitor,
    Reason,
    Shutdown,
    is_abnormal,
)
from taskward.actors.names import NamedRef, Registry
from taskward.actors.ref import ActorRef
from taskward.actors.stopping import StopOutcome, stop_actor, stop_actors

__all__ = [
    "KILLED",
    "NOPROC",
    "NORMAL",
    "NO_REPLY",
    "SHUTDOWN",
    "Abandoned",
    "Actor",
    "ActorDeadError",
    "ActorDied",
    "ActorRef",
    "ActorStartError",
    "AlreadyStarted",
    "CallTimeout",
    "DeadlockError",
    "Down",
    "Exit",
    "ExitReason",
    "From",
    "InitTimeout",
    "MailboxFull",
    "Monitor",
    "NamedRef",
    "NoProc",
    "Reason",
    "Registry",
    "Shutdown",
    "StartOptions",
    "StopOutcome",
    "Timer",
    "is_abnormal",
    "stop_actor",
    "stop_actors",
]
