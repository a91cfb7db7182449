"""The execution token: the local, instant half of the fence, and the cooperative half of every stop."""

from gevent.event import Event


class AttemptStopped(BaseException):
    """This attempt is to stop: its task has ended, or it has been replaced.

    Raised inside the body, at its next call to the context. A `BaseException`, so that a tool's
    `except Exception` does not keep a stopped body running.
    """


class Token:
    """One attempt's permission to go on.

    `cancel` asks the body to stop, `refuse` also shuts it out: nothing of it reaches the store any
    more (I4). Both are final.
    """

    __slots__ = ("_cancelled", "_refused")

    def __init__(self) -> None:
        self._cancelled = Event()
        self._refused = False

    @property
    def event(self) -> Event:
        """Set when the body is asked to stop: for waits on several things at once."""
        return self._cancelled

    @property
    def cancelled(self) -> bool:
        """Whether the body was asked to stop."""
        return self._cancelled.is_set()

    @property
    def refused(self) -> bool:
        """Whether the attempt is shut out."""
        return self._refused

    def cancel(self) -> None:
        """Ask the body to stop at its next chance."""
        self._cancelled.set()

    def refuse(self) -> None:
        """Shut the attempt out, and ask its body to stop."""
        self._refused = True
        self.cancel()

    def check(self) -> None:
        """Raise `AttemptStopped` if the body was asked to stop."""
        if self.cancelled:
            raise AttemptStopped

    def wait(self, seconds: float) -> bool:
        """Wait for at most `seconds`; tell whether the body was asked to stop meanwhile."""
        return bool(self._cancelled.wait(seconds))
