"""The mailbox: two deques and one parked waiter.

Control signals are served first and are never refused; messages are bounded, but for stop requests.
Knows greenlets and envelopes, not actors.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any

import pykka
from gevent import get_hub, getcurrent
from pykka.messages import _ActorStop

from taskward.actors.errors import MailboxFull, NoProc
from taskward.actors.exits import Killed
from taskward.actors.future import OneShotFuture, get_ident


@dataclass(slots=True)
class Envelope:
    """One message on its way.

    Attributes:
        message: what is said.
        reply_to: where the answer goes, if one is awaited.
        deadline: on the monotonic clock, in seconds: a call not begun by then is not executed.
    """

    message: Any
    reply_to: OneShotFuture[Any] | None = None
    deadline: float | None = None


class Mailbox:
    """The mailbox of one actor; also Pykka's `ActorInbox`.

    Args:
        limit: most messages that may wait; control signals are exempt.
    """

    __slots__ = ("_control", "_hub", "_limit", "_messages", "_parked", "_thread", "_waking", "closed")

    def __init__(self, limit: int) -> None:
        self._control: deque[Any] = deque()
        self._messages: deque[Envelope] = deque()
        self._limit = limit
        self._hub = get_hub()
        self._thread = get_ident()
        self._parked: Any = None
        self._waking = False
        self.closed = False

    def __len__(self) -> int:
        return len(self._messages)

    def empty(self) -> bool:
        """Whether no message waits."""
        return not self._messages

    def put(self, envelope: Any) -> None:
        """Take a message, from any OS thread.

        Raises:
            pykka.ActorDeadError: the mailbox is closed.
            MailboxFull: it is at its limit; nothing was taken. A stop request always is.
        """
        if self.closed:
            raise NoProc("the actor has ended")
        if len(self._messages) >= self._limit and not isinstance(envelope.message, _ActorStop):
            raise MailboxFull(f"{self._limit} messages wait already; slow down, or try again later")
        if get_ident() == self._thread:
            self._messages.append(envelope)
            self._wake()
        else:
            self._hub.loop.run_callback_threadsafe(self._put_from_afar, envelope)

    def put_control(self, signal: Any) -> None:
        """Take a control signal: ahead of all messages, past the bound, ignored when closed."""
        if not self.left_to_hub(self.put_control, signal) and not self.closed:
            self._control.append(signal)
            self._wake()

    def left_to_hub(self, call: Any, *args: Any) -> bool:
        """On another OS thread than the actor's, leave a call to its hub, which is woken, and say so."""
        if get_ident() == self._thread:
            return False
        self._hub.loop.run_callback_threadsafe(call, *args)
        return True

    def get(self) -> Any:
        """Wait for the next control signal or envelope.

        Raises:
            Killed: the mailbox is closed: its reader was abandoned, and came back.
        """
        while not self._control and not self._messages:
            if self.closed:
                raise Killed
            self._park()
        return self._control.popleft() if self._control else self._messages.popleft()

    def get_now(self) -> Envelope | None:
        """Give the next envelope if one waits; control signals stay where they are."""
        return self._messages.popleft() if self._messages else None

    def put_back(self, envelope: Envelope) -> None:
        """Put an envelope back to the head."""
        self._messages.appendleft(envelope)

    def yield_turn(self) -> None:
        """Let everybody else have a turn before going on."""
        self._schedule()
        self._park()

    def strike(self, unwanted: Any) -> None:
        """Drop the control signals for which `unwanted(signal)` holds."""
        self._control = deque(signal for signal in self._control if not unwanted(signal))

    def timer(self, seconds: float) -> Any:
        """Give a timer of the loop on which the actor lives."""
        return self._hub.loop.timer(seconds)

    def close(self) -> list[Envelope]:
        """Refuse everything from now on; give what is left."""
        self.closed = True
        left = list(self._messages)
        self._messages.clear()
        self._control.clear()
        return left

    def _put_from_afar(self, envelope: Envelope) -> None:
        try:
            self.put(envelope)
        except (pykka.ActorDeadError, MailboxFull) as error:
            if envelope.reply_to is not None:
                envelope.reply_to.set_error(error)

    def _park(self) -> None:
        self._parked = getcurrent()
        try:
            self._hub.switch()
        finally:
            self._parked = None

    def _wake(self) -> None:
        if self._parked is not None:
            self._schedule()

    def _schedule(self) -> None:
        if not self._waking:
            self._waking = True
            self._hub.loop.run_callback(self._resume)

    def _resume(self) -> None:
        """Runs in the hub: switch to the waiter if it is still parked here; a kill may have taken it elsewhere."""
        self._waking = False
        if self._parked is not None:
            self._parked.switch()
