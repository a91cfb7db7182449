"""The actor: Pykka's API on a loop of our own, with OTP's life and death.

The loop never calls `ActorRegistry.stop_all`, as Pykka's does at any `BaseException`: an exit ends
this actor, and those linked to it, and nobody else.
"""

import logging
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Never, Self

import gevent
import pykka
from pykka.messages import _ActorStop

from taskward.actors.cell import Cell, Timer
from taskward.actors.errors import ActorStartError, InitTimeout
from taskward.actors.exits import NORMAL, Down, Exit, ExitReason, ExitSignal, Monitor, StopRequest
from taskward.actors.future import OneShotFuture
from taskward.actors.mailbox import Envelope, Mailbox
from taskward.actors.names import Registry
from taskward.actors.ref import ActorRef, current_cell
from taskward.actors.stopping import stop_actor

log = logging.getLogger("taskward.actors")

TURN = 64
"""Messages handled before everybody else gets a turn."""

NO_REPLY = object()
"""Returned by a handler that answers later, by `From.reply`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """How an actor is started.

    Attributes:
        name: its name in `registry`, taken before it is initialised.
        registry: where names are kept; children find it through their parent.
        link_to: its parent: linked from the first instruction on (P11), and obeyed when it exits (P19).
    """

    name: str | None = None
    registry: Registry | None = None
    link_to: ActorRef[Any] | None = None


@dataclass(frozen=True, slots=True)
class _TimedMessage:
    """A message of `send_after`: served ahead of the others, for its time has come."""

    message: object


class From:
    """Whom to answer, once: OTP's `From` of a deferred reply (C13)."""

    __slots__ = ("_cell", "_future")

    def __init__(self, cell: Cell, future: OneShotFuture[Any]) -> None:
        self._cell = cell
        self._future = future
        cell.owed.add(future)

    def reply(self, value: object) -> None:
        """Answer; a second answer is ignored."""
        self._cell.owed.discard(self._future)
        if not self._future.done:
            self._future.set(value)


class _ActorGreenlet(gevent.Greenlet):  # type: ignore[type-arg]
    """The greenlet of an actor; whoever runs in it is known by its cell."""

    def __init__(self, cell: Cell, run: Any) -> None:
        super().__init__(run)
        self.cell = cell


class Actor(pykka.Actor):
    """Base class of all actors.

    Subclasses override `on_start`, `on_receive`, `terminate`, `on_down`, `on_exit`. A method returns
    the answer to whoever asked; an exception is a crash of this actor, which fails everybody who
    waits for it: expected refusals are answers, not exceptions.
    """

    trap_exit: ClassVar[bool] = False
    mailbox_limit: ClassVar[int] = 10_000
    init_timeout_ms: ClassVar[int | None] = 5_000

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self._cell = Cell(trap_exit=self.trap_exit, mailbox_limit=self.mailbox_limit)
        self.actor_urn = f"{type(self).__name__}-{self._cell.number}"
        self.actor_inbox: Any = self._cell.mailbox
        self.actor_stopped: Any = self._cell
        self.__from: From | None = None
        self.__started: OneShotFuture[None] | None = None
        self._cell.ref = self._actor_ref = ActorRef(self, self._cell)

    def __str__(self) -> str:
        return self.actor_urn

    @property
    def actor_ref(self) -> ActorRef[Self]:
        """This actor's ref."""
        return self._cell.ref

    # --- starting

    @classmethod
    def start(cls, *args: Any, **kwargs: Any) -> ActorRef[Self]:
        """Start an actor and wait until it is initialised; see `start_with`."""
        return cls.start_with(StartOptions(), *args, **kwargs)

    @classmethod
    def start_with(cls, options: StartOptions, *args: Any, **kwargs: Any) -> ActorRef[Self]:
        """Start an actor and wait until `on_start` has returned (P20).

        Args:
            options: name and parent.
            args: for the constructor, which runs in the caller.
            kwargs: likewise.

        Raises:
            AlreadyStarted: the name is taken; nothing of the new one has run (N1).
            ActorStartError: `on_start` failed, or took longer than `init_timeout_ms`; no name is kept (P21).
        """
        if options.name is not None and options.registry is not None:
            options.registry.check_free(options.name)
        actor = cls(*args, **kwargs)
        actor.__enter(options)
        return actor.__begin()

    def __enter(self, options: StartOptions) -> None:
        cell = self._cell
        if options.registry is not None:
            cell.registry = options.registry
            if options.name is not None:
                options.registry.register(options.name, cell)
        cell.greenlet = _ActorGreenlet(cell, self.__run)
        cell.greenlet.rawlink(cell.on_greenlet_end)
        if options.link_to is not None:
            cell.parent = options.link_to.cell
            cell.link(options.link_to.cell)

    def __begin(self) -> ActorRef[Self]:
        """Start the greenlet, and wait for `on_start`; without one there is nothing to acknowledge."""
        if type(self).on_start is Actor.on_start:
            self._cell.greenlet.start()
            return self.actor_ref
        started: OneShotFuture[None] = OneShotFuture()
        self.__started = started
        self._cell.owed.add(started)
        ref = self.actor_ref
        limit = self.init_timeout_ms
        caller = current_cell()
        try:
            self._cell.greenlet.start()
            if caller is not None:
                caller.waiting_for = self._cell
            started.get(timeout=None if limit is None else limit / 1000)
        except pykka.Timeout:
            stop_actor(ref, shutdown_ms=0)
            raise ActorStartError(ref, InitTimeout(f"on_start took longer than {limit} ms")) from None
        except pykka.ActorDeadError as error:
            raise ActorStartError(ref, self._cell.exit_reason) from error.__cause__
        except BaseException:
            self._cell.kill()
            raise
        finally:
            if caller is not None:
                caller.waiting_for = None
        return ref

    # --- what a subclass overrides

    def on_start(self) -> None:
        """Initialise; `start` returns when this has."""

    def terminate(self, reason: ExitReason) -> None:
        """Clean up: called on stop, on crash, and on shutdown if exits are trapped; never on a kill (P22)."""

    def on_down(self, down: Down) -> None:
        """Hear of the end of a monitored actor."""
        log.warning("%s heard of the end of %s (%s) and does not care", self, down.ref, down.reason)

    def on_exit(self, exit_: Exit) -> None:
        """Hear of a linked actor's end, if exits are trapped. The parent's is not passed here: it ends this one."""
        if exit_.reason is not NORMAL:
            log.warning("%s heard of the exit of %s (%s) and does not care", self, exit_.ref, exit_.reason)

    # --- what a subclass uses

    def sender(self) -> From | None:
        """Give whom the current message wants answered, to answer later: the handler returns `NO_REPLY` then."""
        return self.__from

    def drain(self, limit: int) -> list[tuple[Any, From | None]]:
        """Take up to `limit` further messages that wait already, to handle them with the current one.

        Expired calls are dropped. Stops in front of a stop request or a proxy's message.
        """
        taken: list[tuple[Any, From | None]] = []
        while len(taken) < limit:
            envelope = self._cell.mailbox.get_now()
            if envelope is None:
                break
            if isinstance(envelope.message, _PYKKA_MESSAGES):
                self._cell.mailbox.put_back(envelope)
                break
            if not _refuse_expired(envelope):
                reply_to = envelope.reply_to
                taken.append((envelope.message, None if reply_to is None else From(self._cell, reply_to)))
        return taken

    def send_after(self, delay_ms: float, message: object) -> Timer:
        """Send oneself a message `delay_ms` from now, on the monotonic clock; it dies with the actor."""
        return Timer(self._cell, delay_ms, lambda: self._cell.mailbox.put_control(_TimedMessage(message)))

    def link(self, ref: ActorRef[Any]) -> None:
        """Share one fate with another actor."""
        self._cell.link(ref.cell)

    def unlink(self, ref: ActorRef[Any]) -> None:
        """Share it no longer."""
        self._cell.unlink(ref.cell)

    def monitor(self, ref: ActorRef[Any]) -> Monitor:
        """Hear of another actor's end, once, by `on_down`."""
        return self._cell.monitor(ref.cell)

    def demonitor(self, monitor: Monitor) -> None:
        """Hear of it no longer."""
        self._cell.demonitor(monitor)

    def exit(self, reason: ExitReason) -> Never:
        """End now, in good order: `terminate` runs, and `reason` is what everybody sees."""
        raise StopRequest(reason)

    # --- the loop

    def __run(self) -> None:
        """Live; whatever comes out is this actor's exit reason, and nothing gets past here."""
        cell = self._cell
        try:
            cell.outcome = self.__live()
        except ExitSignal as signal:
            cell.outcome = signal.reason
        except BaseException as error:  # the actor loop is the one place that may
            cell.outcome = error
            log.exception("%s crashed outside its handlers", self)

    def __live(self) -> ExitReason:
        try:
            self.on_start()
        except StopRequest as request:
            return request.reason
        except Exception as error:  # noqa: BLE001 - the reaper tells whoever started it
            return error
        started, self.__started = self.__started, None
        if started is not None:
            self._cell.owed.discard(started)
            started.set()
        return self.__end_with(self.__serve())

    def __serve(self) -> ExitReason:
        """Handle messages until one of them ends the actor; give the reason."""
        mailbox, turn = self._cell.mailbox, 0
        try:
            while True:
                if turn == TURN:
                    turn = 0
                    mailbox.yield_turn()
                turn += 1
                self.__dispatch(mailbox.get())
        except StopRequest as request:
            return request.reason
        except ExitSignal:
            raise
        except BaseException as error:  # noqa: BLE001 - any other is a crash of this actor alone
            return error

    def __dispatch(self, item: Any) -> None:
        if isinstance(item, Envelope):
            self.__handle(item)
        elif isinstance(item, _TimedMessage):
            self.on_receive(item.message)
        elif isinstance(item, Down):
            self.on_down(item)
        else:
            self.__obey_or_hear(item)

    def __obey_or_hear(self, exit_: Exit) -> None:
        parent = self._cell.parent
        if exit_.ref is None or (parent is not None and exit_.ref is parent.ref):
            raise StopRequest(exit_.reason)
        self.on_exit(exit_)

    def __handle(self, envelope: Envelope) -> None:
        reply_to = envelope.reply_to
        if isinstance(envelope.message, _ActorStop):
            if reply_to is not None:
                self._cell.stoppers.append(reply_to)
            raise StopRequest(NORMAL)
        if _refuse_expired(envelope):
            return
        if reply_to is None:
            self._handle_receive(envelope.message)
            return
        self.__from = asker = From(self._cell, reply_to)
        try:
            answer = self._handle_receive(envelope.message)
        finally:
            self.__from = None
        if answer is not NO_REPLY:
            asker.reply(answer)

    def __end_with(self, reason: ExitReason) -> ExitReason:
        """Run the last hooks: `terminate`, then Pykka's `on_stop` or `on_failure`."""
        crash = reason if isinstance(reason, BaseException) else None
        if crash is not None:
            log.error("%s crashed", self, exc_info=crash)
        try:
            self.terminate(reason)
            if crash is None:
                self.on_stop()
            else:
                self.on_failure(type(crash), crash, crash.__traceback__)
        except Exception as error:
            log.exception("%s failed to clean up", self)
            return reason if crash is not None else error
        return reason

    # --- Pykka's extension points

    @staticmethod
    def _create_actor_inbox() -> Any:
        return Mailbox(Actor.mailbox_limit)

    @staticmethod
    def _create_future() -> OneShotFuture[Any]:
        return OneShotFuture()

    def _start_actor_loop(self) -> None:
        self.__begin()

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Pykka's hook after a crash; `terminate` tells the same with the reason."""


_PYKKA_MESSAGES = (
    _ActorStop,
    pykka.messages.ProxyCall,
    pykka.messages.ProxyGetAttr,
    pykka.messages.ProxySetAttr,
)


def _refuse_expired(envelope: Envelope) -> bool:
    """Tell whether a call came too late to be executed (C11); whoever holds its future still hears of it."""
    if envelope.deadline is None or time.monotonic() < envelope.deadline:
        return False
    if envelope.reply_to is not None and not envelope.reply_to.done:
        envelope.reply_to.set_error(pykka.Timeout("the call had expired before it was begun"))
    return True
