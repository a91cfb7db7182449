"""The store's front door: what everybody else holds. Turns a wait into a typed answer, always bounded.

Reads go straight to a read transaction; writes go through the store actor, whoever that is now.
"""

import hashlib
import secrets
from collections.abc import Hashable
from contextlib import closing
from typing import Any, overload

import msgpack
from pykka import ActorDeadError, Timeout

from taskward.actors import MailboxFull, NamedRef
from taskward.domain import ids
from taskward.domain.errors import InvalidValue
from taskward.stores import contract as c
from taskward.stores.actor import Ticket
from taskward.stores.boot import BootView
from taskward.stores.clock import StoreClock
from taskward.stores.codec import CorruptRecord, read_meta
from taskward.stores.committer import WATCHDOG_S
from taskward.stores.decisions import decide
from taskward.stores.errors import StoreError
from taskward.stores.fence import Limits
from taskward.stores.layout import CLOCK_KEY, SCOPE_BYTES

NONCE_BYTES = 16
DEADLINE_MS = 5_000
CREATES_WAIT_BELOW = 0.8
"""Creates are refused first when the store falls behind: work that exists goes before new work."""


def SHARED(_principal: Any) -> Hashable:  # noqa: N802 - a constant to whoever uses it
    """The scope of a server whose tasks all its clients share: whoever has an id may use it."""
    return "shared"


class Store:
    """The front door of one open store.

    Args:
        address: the store actor's name.
        backend: for reads.
        clock: the store clock.
        scope: from a principal to whose tasks it may see.
        limits: what is decided inside a transaction.
    """

    def __init__(
        self, address: NamedRef, backend: c.Backend, clock: StoreClock, *, scope: c.Scope, limits: Limits
    ) -> None:
        self._address = address
        self._backend = backend
        self._clock = clock
        self._scope = scope
        self._limits = limits

    def now_ms(self) -> int:
        """Give the store clock, ms since the epoch."""
        return self._clock.now_ms()

    def mint(self) -> tuple[bytes, str]:
        """Mint a task: its key, and the unguessable id that a client will hold."""
        key = ids.mint_key(self.now_ms(), secrets.token_bytes(ids.RANDOM_BYTES))
        return key, ids.id_of(key)

    def terms(self, owner: str, lease_ms: int) -> c.ClaimTerms:
        """Make the terms of one claim, with a fresh nonce."""
        return c.ClaimTerms(owner=owner, nonce=secrets.token_bytes(NONCE_BYTES), lease_ms=lease_ms)

    def authorize(self, principal: Any, action: str, task_id: str) -> c.Access:
        """Bind a request to one action on one task: the only place that sees who asks.

        Raises:
            InvalidValue: the scope function gave something that has no lasting spelling.
        """
        scope = self._scope(principal)
        try:
            spelt = msgpack.packb(scope)
        except TypeError as error:
            raise InvalidValue(f"a scope must be text, a number, bytes or a tuple of these: {error}") from error
        digest = hashlib.blake2b(spelt, digest_size=SCOPE_BYTES).digest()
        return c.Access(action, ids.key_of(task_id) or b"", digest)

    def get(self, access: c.Access) -> c.GetResult:
        """Read a task's public part from a read transaction: never behind a commit, and never yields."""
        try:
            view = self._backend.read()
        except StoreError as error:
            return c.StoreUnavailable(str(error))
        with closing(view):
            boot = BootView.of(self._backend, view, self._limits)
            try:
                result = decide(boot, c.Get(access=access), self.now_ms()).result
            except CorruptRecord as error:
                return c.StoreUnavailable(str(error))
        assert isinstance(result, c.Found | c.TaskNotFound)
        return result

    @overload
    def execute(self, op: c.Create, *, deadline_ms: int = DEADLINE_MS) -> c.CreateResult: ...
    @overload
    def execute(self, op: c.WorkerGet, *, deadline_ms: int = DEADLINE_MS) -> c.WorkerGetResult: ...
    @overload
    def execute(self, op: c.Claim, *, deadline_ms: int = DEADLINE_MS) -> c.ClaimResult: ...
    @overload
    def execute(self, op: c.ClaimNext, *, deadline_ms: int = DEADLINE_MS) -> c.ClaimNextResult: ...
    @overload
    def execute(self, op: c.Renew, *, deadline_ms: int = DEADLINE_MS) -> c.RenewResult: ...
    @overload
    def execute(self, op: c.Release, *, deadline_ms: int = DEADLINE_MS) -> c.ReleaseResult: ...
    @overload
    def execute(self, op: c.Commit, *, deadline_ms: int = DEADLINE_MS) -> c.CommitResult: ...
    @overload
    def execute(self, op: c.Reap, *, deadline_ms: int = DEADLINE_MS) -> c.ReapResult: ...
    def execute(self, op: c.Operation, *, deadline_ms: int = DEADLINE_MS) -> Any:
        """Have one operation decided and committed.

        Args:
            op: the operation.
            deadline_ms: how long it may wait to be taken, in ms. Once taken, the answer is what really
                happened, however slow the disk; a watchdog bounds that wait.

        Returns:
            The result that the contract names for this operation; `StoreUnavailable` if it was not
            applied, `OutcomeUnknown` if nobody can tell.
        """
        ticket = Ticket(op)
        try:
            return self._send(ticket, deadline_ms / 1000)
        except MailboxFull:
            return c.StoreUnavailable("it has as much to do as it may queue")
        except Timeout:
            return c.OutcomeUnknown("the disk did not answer in time")
        except ActorDeadError as error:
            if ticket.taken:
                return c.OutcomeUnknown(f"the store actor ended while it committed: {error}")
            return c.StoreUnavailable(f"the store actor is not there: {error}")

    def _send(self, ticket: Ticket, seconds: float) -> Any:
        ref = self._address.resolve()
        if isinstance(ticket.op, c.Create) and ref.mailbox_length > CREATES_WAIT_BELOW * ref.actor_class.mailbox_limit:
            return c.StoreUnavailable("it has too much to do to take new tasks")
        answer = ref.ask(ticket, block=False, timeout=None)
        if not answer.wait(seconds) and not ticket.taken:
            ticket.withdrawn = True
            return c.StoreUnavailable("it was not taken in time")
        return answer.get(timeout=WATCHDOG_S)


def clock_mark(backend: c.Backend) -> int:
    """Give the latest moment that a store has seen, in ms; 0 for a new one."""
    mark: int = read_meta(backend, CLOCK_KEY, 0)
    return mark
