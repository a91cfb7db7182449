"""What an executor says when a piece of work is over: completed, failed, or once more."""

from dataclasses import dataclass
from typing import Any

from taskward.domain import event as ev
from taskward.domain.errors import TaskwardError
from taskward.domain.json_value import JsonObject

INTERNAL_ERROR = -32603


@dataclass(frozen=True, slots=True)
class Completed:
    """The work produced a result, kept exactly as it is."""

    result: JsonObject


@dataclass(frozen=True, slots=True)
class Failed:
    """The work ended in a JSON-RPC error `{code, message, data?}`."""

    error: JsonObject
    message: str | None = None


class Retry(TaskwardError):
    """Asks for another attempt after the next delay of the retry policy.

    A tool raises it; an executor returns it. Nothing else consumes the policy. When the policy is
    used up, the task fails with this error.

    Args:
        message: why, for the person who waits.
        code: JSON-RPC code of the error that is kept.
        data: more about it, JSON-safe.
    """

    def __init__(self, message: str, *, code: int = INTERNAL_ERROR, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.error: JsonObject = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


Outcome = Completed | Failed | Retry


def event_of(outcome: Outcome) -> ev.Event:
    """Give the event that reports an outcome, with a fresh event id."""
    match outcome:
        case Completed(result):
            return ev.Completed(result=result)
        case Failed(error, message):
            return ev.Failed(error=error, message=message)
        case Retry():
            return ev.RetryRequested(error=outcome.error, message=outcome.message)


def internal_failure() -> Failed:
    """Give the failure that stands for any unexpected exception: masked, for the log alone knows more."""
    sentence = "The tool failed unexpectedly; the server's log says why."
    return Failed({"code": INTERNAL_ERROR, "message": sentence}, sentence)
