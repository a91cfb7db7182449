"""The context of an attempt: every word of the body is committed under its lease.

Knows the store's front door, the feed and the slots; starts nothing but the greenlet that speaks
the body's progress.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import gevent
from gevent.event import Event

from taskward.domain import event as ev
from taskward.domain.json_value import JsonObject, check_json
from taskward.domain.snapshot import Snapshot
from taskward.domain.transition import DuplicateInputKey, InputAnswered, InputKindNotDeclared
from taskward.stores import contract as c
from taskward.stores.store import Store
from taskward.supervision.attempts.context import (
    ContextClosed,
    InputNotDeclared,
    InputRefused,
    TaskContext,
    TooManyParked,
)
from taskward.supervision.attempts.feed import Feed
from taskward.supervision.attempts.slots import Slots
from taskward.supervision.attempts.token import AttemptStopped, Token

MAX_MESSAGE_BYTES = 4_096
MAX_REQUEST_BYTES = 64 * 1024


class DurableContext(TaskContext):
    """The context of one attempt of a durable task.

    Args:
        store: the front door of the store.
        feed: where answers are heard of.
        slots: where the attempt parks while its user thinks.
        claimed: the claim that this attempt runs under.
        token: its execution token.
        progress_interval_ms: a chatty tool commits at most one message in this time.
    """

    def __init__(
        self, *, store: Store, feed: Feed, slots: Slots, claimed: c.Claimed, token: Token, progress_interval_ms: int
    ) -> None:
        self._store = store
        self._feed = feed
        self._slots = slots
        self._lease = claimed.lease
        self._attempt = claimed.snapshot.attempts
        self._token = token
        self._inbox = dict(claimed.snapshot.inbox)
        self._interval_s = progress_interval_ms / 1000
        self._unsaid: str | None = None
        self._speaker: gevent.Greenlet[[], None] | None = None
        self._closed = False

    @property
    def task_id(self) -> str:
        """The task's id."""
        return self._lease.task_id

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1."""
        return self._attempt

    @property
    def cancelled(self) -> bool:
        """Whether this body was asked to stop."""
        return self._token.cancelled

    def progress(self, message: str) -> None:
        """Say how far the work is; messages within the interval are coalesced, the last one is kept."""
        self._enter()
        check_json(message, max_bytes=MAX_MESSAGE_BYTES, path="progress")
        self._unsaid = message
        if self._speaker is None:
            self._speaker = gevent.spawn(self._speak)

    def sleep(self, seconds: float) -> None:
        """Wait, and stop waiting at once when asked to stop."""
        self._enter()
        if self._token.wait(seconds):
            raise AttemptStopped

    def await_inputs(self, requests: Mapping[str, JsonObject]) -> Mapping[str, Any]:
        """Ask the client and wait for its raw responses; after a crash, get the kept ones (I6)."""
        self._enter()
        for key, request in requests.items():
            check_json(request, max_bytes=MAX_REQUEST_BYTES, path=f"request {key!r}")
        woken = Event()
        with self._feed.listening(self._lease.key, lambda transition: self._on_transition(transition, woken)):
            for key, request in requests.items():
                self._ask(key, request)
            if not self._answered(requests):
                self._wait_parked(requests, woken)
        return {key: self._inbox[key] for key in requests}

    def _answered(self, keys: Iterable[str]) -> bool:
        return all(key in self._inbox for key in keys)

    def close(self) -> None:
        """End the context: the body is over, and whatever it kept of this may do nothing more."""
        self._closed = True
        if self._speaker is not None:
            self._speaker.kill(block=False)

    def _enter(self) -> None:
        if self._closed:
            raise ContextClosed
        self._token.check()

    def _speak(self) -> None:
        while self._unsaid is not None:
            message, self._unsaid = self._unsaid, None
            self._commit(ev.Progress(message=message))
            gevent.sleep(self._interval_s)
        self._speaker = None

    def _commit(self, event: ev.Event) -> c.CommitResult:
        if self._token.refused:
            return c.StaleLease()
        return self._store.execute(c.Commit(authority=self._lease, event=event))

    def _ask(self, key: str, request: JsonObject) -> None:
        match self._commit(ev.InputRequested(key=key, request=request)):
            case c.Committed(snapshot=snapshot) | c.Unchanged(snapshot=snapshot):
                self._learn(snapshot)
            case DuplicateInputKey():
                raise InputRefused(f"The key {key!r} was used for another question; a key is unique for a task's life.")
            case InputKindNotDeclared(kind):
                raise InputNotDeclared(kind)
            case c.StaleLease() | c.TaskNotFound():
                self._token.refuse()
                raise AttemptStopped
            case refusal:
                raise InputRefused(f"The store did not take the question ({type(refusal).__name__}). Try again.")

    def _learn(self, snapshot: Snapshot) -> None:
        if snapshot.task.status.terminal:
            raise AttemptStopped
        self._inbox.update(snapshot.inbox)

    def _on_transition(self, transition: c.Transition, woken: Event) -> None:
        if any(isinstance(effect, InputAnswered) for effect in transition.effects):
            self._inbox.update(transition.snapshot.inbox)
            woken.set()

    def _wait_parked(self, keys: Iterable[str], woken: Event) -> None:
        """Hold no running slot while the user thinks; a stop of the task wakes the body as well as an answer."""
        if not self._slots.park(self._lease.key):
            raise TooManyParked
        while not self._answered(keys) and not self._token.cancelled:
            gevent.wait([woken, self._token.event], count=1)
            woken.clear()
        self._token.check()
        gevent.wait([self._slots.resume(self._lease.key), self._token.event], count=1)
        self._token.check()
