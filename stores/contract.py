"""The store contract: operations as data, each with one closed result type; refusals are values.

Whoever keeps tasks implements this and nothing else; whoever uses a store sees this and nothing
else. Knows tasks, never processes, and no adapter by name.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Protocol

from taskward.domain.event import Event
from taskward.domain.snapshot import Snapshot
from taskward.domain.task import Task
from taskward.domain.transition import DuplicateInputKey, Effect, InputKindNotDeclared, NotAllowed
from taskward.domain.work import Work

# --- authority -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Access:
    """What `authorize` grants to one request: one action on one task. Opaque to everybody else.

    Attributes:
        action: `get`, `update`, `cancel`, `listen` or `create`.
        key: the task's key; empty for `create` and for an id that no store can have minted.
        scope: whose tasks the request may see, as 16 bytes.
    """

    action: str
    key: bytes
    scope: bytes


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write for one attempt of one task. Opaque to everybody but the store.

    Attributes:
        store: identity of the store that granted it, 8 bytes; a restored copy has another.
        epoch: boot epoch in which it was granted; every open raises it, so older leases are dead at once.
        generation: number of the claim in the task's life.
        nonce: 16 unguessable bytes.
        key: the task's key.
        task_id: the task's id.
    """

    store: bytes
    epoch: int
    generation: int
    nonce: bytes = field(repr=False)
    key: bytes = field(repr=False)
    task_id: str


# --- operations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Keep a new task; with `claim`, grant its first lease in the same transaction."""

    access: Access
    key: bytes
    work: Work
    ttl_ms: int | None
    declared_inputs: frozenset[str] = frozenset()
    status_message: str | None = None
    claim: "ClaimTerms | None" = None
    client_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTerms:
    """Who claims, and the randomness and time that the grant takes."""

    owner: str
    nonce: bytes = field(repr=False)
    lease_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Get:
    """Read the public part of a task on behalf of a request."""

    access: Access


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerGet:
    """Read the whole snapshot on behalf of an attempt."""

    lease: Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Take one exact task, for its first run or for its recovery: the one path to both."""

    key: bytes
    terms: ClaimTerms
    supersedes: Lease | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimNext:
    """Take up to `limit` tasks: orphans first, then due retries, then new work fairly over scopes.

    Attributes:
        terms: as for `Claim`.
        limit: most tasks to take.
        after_scope: the scope that was served last; new work starts behind it.
    """

    terms: ClaimTerms
    limit: int
    after_scope: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Renew:
    """Keep these leases for `lease_ms` more."""

    leases: tuple[Lease, ...]
    lease_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Give a lease back without an outcome (drain, runner stop); the task may be claimed again at once.

    Attributes:
        lease: the lease to give back.
        crashed: the attempt died without an outcome, which counts towards quarantine.
    """

    lease: Lease
    crashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Let one event happen under a lease (a worker's) or an access (a request's).

    Attributes:
        authority: a current lease, or an access for `update` or `cancel`.
        event: what happened.
        expected_revision: compare-and-set, if given.
    """

    authority: Lease | Access
    event: Event
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reap:
    """Forget up to `limit` tasks whose TTL has passed."""

    limit: int = 64


Operation = Create | Get | WorkerGet | Claim | ClaimNext | Renew | Release | Commit | Reap

# --- results -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Claimed:
    """The claim is durable: the attempt that holds `lease` may run."""

    lease: Lease
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Created:
    """The task is on disk; `claimed` if the create carried a claim."""

    snapshot: Snapshot
    claimed: Claimed | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The public part of a task at one revision."""

    revision: int
    task: Task
    read_at_ms: int


@dataclass(frozen=True, slots=True)
class WorkerView:
    """The whole snapshot, for the attempt that holds the current lease."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Claims:
    """What `ClaimNext` took.

    Attributes:
        claimed: the tasks taken.
        last_scope: scope of the last new task taken, to go on behind.
        next_due_ms: when the next back-off ends, store clock ms, if any is waiting.
        more: whether claimable work was left because of the limit.
        ended: tasks that were ended inside this claim (poison), with their last snapshot.
    """

    claimed: tuple[Claimed, ...]
    last_scope: bytes
    next_due_ms: int | None
    more: bool
    ended: tuple[Snapshot, ...] = ()


@dataclass(frozen=True, slots=True)
class Renewed:
    """All leases were renewed but the `stale` ones, whose attempts must stop."""

    stale: tuple[Lease, ...] = ()


@dataclass(frozen=True, slots=True)
class Released:
    """The lease is given back."""


@dataclass(frozen=True, slots=True)
class Committed:
    """The event is applied and durable, at `snapshot.revision`."""

    snapshot: Snapshot
    effects: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Nothing to change; `snapshot` is how it stands. A terminal task answers this to everybody (I2)."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Replayed:
    """This event id was applied before, at `revision` (I5)."""

    revision: int
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Reaped:
    """`keys` are forgotten; `more` expired tasks were left because of the limit."""

    keys: tuple[bytes, ...]
    more: bool


# --- refusals ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TaskNotFound:
    """No such task for this caller: unknown, expired and foreign are one answer (I9)."""


@dataclass(frozen=True, slots=True)
class StaleLease:
    """This lease is not the current one: older generation or epoch, other store, given back (I3)."""


@dataclass(frozen=True, slots=True)
class RevisionConflict:
    """The task is at another revision than expected; `snapshot` is the current one."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Deferred:
    """In back-off for `ms` more; no attempt starts before (I7)."""

    ms: int


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Not to be claimed now: another lease is current, the task has ended, or it waits for its user."""

    why: str


@dataclass(frozen=True, slots=True)
class Quarantined:
    """The task was failed inside this claim: too many attempts of it died."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class CapacityExceeded:
    """The limit of this name is reached; try again later."""

    limit: str


@dataclass(frozen=True, slots=True)
class StoreUnavailable:
    """The store did not take the operation, and it was not applied; try again."""

    why: str


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The store cannot tell whether the operation was applied; ask again by event id or key."""

    why: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The contract names this, but this version does not do it yet."""

    what: str


StoreDown = StoreUnavailable | OutcomeUnknown

CreateResult = Created | CapacityExceeded | Unsupported | StoreDown
GetResult = Found | TaskNotFound | StoreDown
WorkerGetResult = WorkerView | StaleLease | TaskNotFound | StoreDown
ClaimResult = Claimed | Deferred | Unavailable | Quarantined | TaskNotFound | StaleLease | StoreDown
ClaimNextResult = Claims | StoreDown
RenewResult = Renewed | StoreDown
ReleaseResult = Released | StaleLease | TaskNotFound | StoreDown
CommitResult = (
    Committed
    | Unchanged
    | Replayed
    | StaleLease
    | TaskNotFound
    | RevisionConflict
    | DuplicateInputKey
    | InputKindNotDeclared
    | NotAllowed
    | StoreDown
)
ReapResult = Reaped | StoreDown
Result = (
    CreateResult
    | GetResult
    | WorkerGetResult
    | ClaimResult
    | ClaimNextResult
    | RenewResult
    | ReleaseResult
    | CommitResult
    | ReapResult
)

# --- what is published after a commit --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Transition:
    """One committed change of one task, published after the commit and never before.

    Attributes:
        kind: the event's kind, or `created`, `claimed`, `reaped`.
        key: the task's key.
        snapshot: the state after it.
        effects: what has to be done about it.
        lease: the lease under which it was written, if a worker wrote it.
    """

    kind: str
    key: bytes
    snapshot: Snapshot
    effects: tuple[Effect, ...] = ()
    lease: Lease | None = None


Scope = Callable[[Any], Hashable]
"""From the principal of a request to whose tasks it may see; `SHARED` shares them among all."""


# --- what an adapter is ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One ordered table.

    Attributes:
        name: its name on disk.
        group: if not 0, the table holds bare keys whose first `group` bytes are counted together in O(1).
    """

    name: str
    group: int = 0


Write = tuple[Table, bytes, bytes | None]
"""Table, key, and the value to put, or `None` to delete the key."""


class View(Protocol):
    """Ordered bytes at one moment: all that a decision may look at."""

    def get(self, table: Table, key: bytes) -> bytes | None:
        """Give the value under `key`, or `None`."""

    def seek(self, table: Table, start: bytes) -> tuple[bytes, bytes] | None:
        """Give the first key not below `start` and its value, or `None`."""

    def count(self, table: Table, group: bytes = b"") -> int:
        """Give the number of keys in a table, or in one group of a grouped table, in O(log n)."""


class ReadView(View, Protocol):
    """A view that has to be closed, within the same turn of the hub: never across a switch."""

    def close(self) -> None:
        """End the read."""


class Backend(Protocol):
    """An adapter: it keeps bytes, and decides nothing.

    Attributes:
        store_id: 8 bytes that name this store.
        epoch: the boot epoch; raised and durable before `open` returns and by `raise_epoch`.
        single_writer: whether opening it fences every other process.
        durable_renew: whether a renewal has to be written to be seen.
        volatile: whether everything is lost with the process.
    """

    store_id: bytes
    epoch: int
    single_writer: bool
    durable_renew: bool
    volatile: bool

    def read(self) -> ReadView:
        """Open a read view of what is durable now."""

    def commit(self, writes: list[Write]) -> None:
        """Make all writes durable as one transaction, or none; returns after the sync.

        Raises:
            MapIsFull: nothing was applied; after `grow` it can be tried again.
            StoreFull: nothing was applied, there is no room.
            StoreBroken: nothing can be known or done; the store has to be opened again.
        """

    def grow(self) -> bool:
        """Make room after `MapIsFull`, on the hub and between two commits; tell whether there was more to make."""

    def raise_epoch(self) -> None:
        """Make every lease granted so far stale, durably."""

    def close(self) -> None:
        """Close cleanly; further calls raise `StoreClosed`."""
