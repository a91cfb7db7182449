"""The control block of one actor: who watches it, who is linked, who waits for it, and how it ended.

Outlives the actor object, so that refs answer after death. `reap` is the only place where an exit
becomes visible; it runs in the hub and neither blocks nor raises.
"""

import itertools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gevent import getcurrent
from gevent.event import Event
from pykka.messages import _ActorStop

from taskward.actors.errors import died
from taskward.actors.exits import (
    KILLED,
    NOPROC,
    NORMAL,
    Down,
    Exit,
    ExitReason,
    ExitSignal,
    Killed,
    Monitor,
)
from taskward.actors.future import OneShotFuture
from taskward.actors.mailbox import Mailbox

if TYPE_CHECKING:
    from taskward.actors.names import Registry
    from taskward.actors.ref import ActorRef

log = logging.getLogger("taskward.actors")

_numbers = itertools.count(1)


class Cell:
    """One actor's control block; also Pykka's `actor_stopped` flag.

    Args:
        trap_exit: whether exit signals come as messages.
        mailbox_limit: most messages that may wait.

    Attributes:
        number: counts the actors of this process.
        ref: the actor's ref.
        mailbox: its mailbox.
        greenlet: where it runs; `None` before the start and after the end.
        parent: whose exit signal it obeys even if it traps exits.
        exited: set when the exit is visible everywhere.
        exit_reason: why it ended; `None` while it lives.
        waiting_for: whose answer it waits for.
        registry: where its name, and those of its children, are kept.
        name: its name there.
    """

    def __init__(self, *, trap_exit: bool, mailbox_limit: int) -> None:
        self.number = next(_numbers)
        self.ref: ActorRef[Any] = None  # type: ignore[assignment]  # set by the actor, right after
        self.trap_exit = trap_exit
        self.mailbox = Mailbox(mailbox_limit)
        self.greenlet: Any = None
        self.parent: Cell | None = None
        self.exited = Event()
        self.exit_reason: ExitReason | None = None
        self.waiting_for: Cell | None = None
        self.registry: Registry | None = None
        self.name: str | None = None
        self.links: set[Cell] = set()
        self.watchers: dict[Monitor, Cell] = {}
        self.watching: dict[Monitor, Cell] = {}
        self.timers: set[Any] = set()
        self.owed: set[OneShotFuture[Any]] = set()
        self.stoppers: list[OneShotFuture[Any]] = []
        self.outcome: ExitReason | None = None

    # --- Pykka's flag

    def is_set(self) -> bool:
        """Whether the actor has ended."""
        return self.exit_reason is not None

    def set(self) -> None:
        """Refused: only an exit ends an actor."""
        raise RuntimeError("an actor is ended by stop(), exit() or kill(), not by its flag")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait, cooperatively, for at most `timeout` seconds; tell whether the actor has ended."""
        return bool(self.exited.wait(timeout))

    # --- links and monitors

    def link(self, other: "Cell") -> None:
        """Link two actors; at most one link a pair (P9). A dead one answers `noproc` (P10)."""
        if other is self:
            return
        if other.exit_reason is not None:
            self.signal_exit(other, NOPROC)
            return
        self.links.add(other)
        other.links.add(self)

    def unlink(self, other: "Cell") -> None:
        """Undo a link; no exit of `other` is delivered after this (P12)."""
        self.links.discard(other)
        other.links.discard(self)
        self.mailbox.strike(lambda signal: isinstance(signal, Exit) and signal.ref is other.ref)

    def monitor(self, other: "Cell") -> Monitor:
        """Watch another actor for its end (P13); a dead one is reported at once (P14)."""
        monitor = Monitor(other.ref)
        if other.exit_reason is not None:
            self.mailbox.put_control(Down(monitor, other.ref, NOPROC))
        else:
            other.watchers[monitor] = self
            self.watching[monitor] = other
        return monitor

    def demonitor(self, monitor: Monitor) -> None:
        """Watch no longer; no `Down` of this monitor is delivered after this (P15)."""
        watched = self.watching.pop(monitor, None)
        if watched is not None:
            watched.watchers.pop(monitor, None)
        self.mailbox.strike(lambda signal: isinstance(signal, Down) and signal.monitor is monitor)

    # --- exits

    def signal_exit(self, sender: "Cell | None", reason: ExitReason, *, linked: bool = False) -> None:
        """Deliver an exit signal (P2, P5 to P8).

        Args:
            sender: who sends it or has ended; `None` = from outside any actor.
            reason: why.
            linked: whether it comes over a link, which is then gone.
        """
        if self.exit_reason is not None:
            return
        if self.trap_exit:
            self.mailbox.put_control(Exit(sender.ref if sender is not None else None, reason))
        elif reason is not NORMAL or (sender is self and not linked):
            self.end(ExitSignal(reason))

    def end(self, signal: ExitSignal) -> None:
        """Throw an exit into the greenlet; if it is the current one, raise it here. From any OS thread."""
        if self.mailbox.left_to_hub(self.end, signal) or self.exit_reason is not None or self.greenlet is None:
            return
        if self.greenlet is getcurrent():
            raise signal
        self.outcome = self.outcome or signal.reason  # counts if the greenlet never gets to run
        self.greenlet.kill(signal, block=False)

    def kill(self) -> None:
        """Ask for the end by force; `exited` tells when it is a fact. May be sent again."""
        self.end(Killed())

    # --- the reaper

    def reap(self, reason: ExitReason) -> None:
        """Make the exit visible, in BEAM's order; the second call does nothing."""
        if self.exit_reason is not None:
            return
        self.exit_reason = reason
        left = self.mailbox.close()
        self._release_name()
        self._stop_timers()
        self._fail_askers(left, reason)
        self._signal_links(reason)
        self._send_downs(reason)
        self.greenlet = None
        self.exited.set()

    def on_greenlet_end(self, _greenlet: Any) -> None:
        """Called by the greenlet's rawlink: however it ended, and if it never began."""
        self.reap(self.outcome or KILLED)

    def _release_name(self) -> None:
        if self.registry is not None and self.name is not None:
            self.registry.release(self.name, self)

    def _stop_timers(self) -> None:
        for timer in tuple(self.timers):
            timer.cancel()

    def _fail_askers(self, left: list[Any], reason: ExitReason) -> None:
        """Whoever asked for the stop is answered first, then all others fail with the reason (C4, C14)."""
        asks = [envelope for envelope in left if envelope.reply_to is not None]
        self.stoppers += [ask.reply_to for ask in asks if isinstance(ask.message, _ActorStop)]
        for future in self.stoppers:
            future.set(None)
        for future in (*self.owed, *(ask.reply_to for ask in asks)):
            if not future.done:
                future.set_error(died(self.ref, reason))
        self.owed.clear()

    def _signal_links(self, reason: ExitReason) -> None:
        linked, self.links = self.links, set()
        for other in linked:
            other.links.discard(self)
            other.signal_exit(self, reason, linked=True)

    def _send_downs(self, reason: ExitReason) -> None:
        watchers, self.watchers = self.watchers, {}
        for monitor, watcher in watchers.items():
            watcher.watching.pop(monitor, None)
            watcher.mailbox.put_control(Down(monitor, self.ref, reason))
        for monitor, watched in self.watching.items():
            watched.watchers.pop(monitor, None)
        self.watching = {}


class Timer:
    """A message that comes later, unless it is cancelled or its actor ends first.

    Args:
        cell: whose.
        delay_ms: when, in ms from now.
        deliver: called when it is time.
    """

    __slots__ = ("_cell", "_deliver", "_watcher")

    def __init__(self, cell: Cell, delay_ms: float, deliver: Callable[[], None]) -> None:
        self._cell = cell
        self._deliver = deliver
        self._watcher = cell.mailbox.timer(max(0.0, delay_ms / 1000))
        self._watcher.start(self._fire)
        cell.timers.add(self)

    def cancel(self) -> None:
        """Let it not come; a second call does nothing."""
        self._cell.timers.discard(self)
        self._watcher.stop()
        self._watcher.close()

    def _fire(self) -> None:
        self.cancel()
        self._deliver()
