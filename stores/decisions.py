"""What each operation means: `decide(view, op, now) -> Decision`. Pure, and shared by every adapter.

Sees bytes through a `View`, returns the result, the writes that make it so, and the transitions to
publish once they are durable. A refusal has no writes. No clock, no randomness, no I/O.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from taskward.domain import ids, transition
from taskward.domain.event import Cancelled, Event, InputResponsesAccepted
from taskward.domain.snapshot import Snapshot
from taskward.domain.task import Task
from taskward.stores import contract as c
from taskward.stores.claiming import claim, claim_next, count_interruption, granted
from taskward.stores.codec import seal, unseal
from taskward.stores.fence import Boot, Decision, change, epoch_current, event_write, key_range, lease_current
from taskward.stores.indexes import index_writes
from taskward.stores.layout import (
    ACTIVE,
    EVENT,
    EXPIRY,
    TASK,
    WORK,
    event_key,
    u64,
)
from taskward.stores.record import Record, load

UPDATE, CANCEL = "update", "cancel"
ACCESS_EVENTS: Mapping[str, type[Event]] = {UPDATE: InputResponsesAccepted, CANCEL: Cancelled}


def decide(view: Boot, op: c.Operation, now_ms: int) -> Decision:
    """Decide one operation.

    Args:
        view: what is durable, with what this batch has decided so far laid over it.
        op: the operation.
        now_ms: the store clock, ms since the epoch.
    """
    return _DECIDERS[type(op)](view, op, now_ms)


def _visible(view: Boot, access: c.Access, now_ms: int) -> Record | None:
    record = load(view, access.key) if access.key else None
    if record is None or record.scope != access.scope or record.snapshot.task.expired(now_ms):
        return None
    return record


# --- create and read -------------------------------------------------------------------------------


def _create(view: Boot, op: c.Create, now_ms: int) -> Decision:
    if op.client_key is not None:
        return Decision(c.Unsupported("create-idempotency by client key"))
    full = _full_limit(view, op.access.scope)
    if full is not None:
        return Decision(c.CapacityExceeded(full))
    task = Task(
        task_id=ids.id_of(op.key),
        status_message=op.status_message,
        created_at_ms=now_ms,
        updated_at_ms=now_ms,
        ttl_ms=op.ttl_ms,
    )
    snapshot = Snapshot(revision=1, task=task, work=op.work, declared_inputs=op.declared_inputs)
    record = Record(key=op.key, scope=op.access.scope, snapshot=snapshot)
    claimed = None
    if op.claim is not None:
        record = granted(view, record, op.claim)
        claimed = record.claimed(view.store_id)
    writes = [
        *change(None, record),
        (WORK, op.key, seal(op.key, op.work.to_map())),
        event_write(record, "created", "created", now_ms),
    ]
    published = c.Transition("created", op.key, record.snapshot)
    return Decision(c.Created(record.snapshot, claimed), tuple(writes), (published,))


def _full_limit(view: Boot, scope: bytes) -> str | None:
    counted = (
        ("max_stored", view.limits.max_stored, view.count(TASK)),
        ("max_active", view.limits.max_active, view.count(ACTIVE)),
        ("max_active_per_scope", view.limits.max_active_per_scope, view.count(ACTIVE, scope)),
    )
    return next((name for name, limit, count in counted if count >= limit), None)


def _get(view: Boot, op: c.Get, now_ms: int) -> Decision:
    record = _visible(view, op.access, now_ms)
    if record is None:
        return Decision(c.TaskNotFound())
    return Decision(c.Found(record.snapshot.revision, record.snapshot.task, now_ms))


def _worker_get(view: Boot, op: c.WorkerGet, _now_ms: int) -> Decision:
    record = load(view, op.lease.key)
    if record is None:
        return Decision(c.TaskNotFound())
    if not lease_current(view, record, op.lease):
        return Decision(c.StaleLease())
    return Decision(c.WorkerView(record.snapshot))


# --- leases ----------------------------------------------------------------------------------------


def _renew(view: Boot, op: c.Renew, now_ms: int) -> Decision:
    return Decision(c.Renewed(tuple(lease for lease in op.leases if not _renewable(view, lease, now_ms))))


def _renewable(view: Boot, lease: c.Lease, now_ms: int) -> bool:
    record = load(view, lease.key)
    return record is not None and lease_current(view, record, lease) and not _over(record, now_ms)


def _over(record: Record, now_ms: int) -> bool:
    return record.snapshot.task.status.terminal or record.snapshot.task.expired(now_ms)


def _release(view: Boot, op: c.Release, _now_ms: int) -> Decision:
    record = load(view, op.lease.key)
    if record is None:
        return Decision(c.TaskNotFound())
    if not lease_current(view, record, op.lease):
        return Decision(c.StaleLease())
    if record.snapshot.task.status.terminal:
        return Decision(c.Released())
    crashes = record.snapshot.crashes + op.crashed
    freed = record.at(replace(record.snapshot, crashes=crashes)).unleased()
    published = c.Transition("released", freed.key, freed.snapshot)
    return Decision(c.Released(), tuple(change(record, freed)), (published,))


# --- events ----------------------------------------------------------------------------------------


def _commit(view: Boot, op: c.Commit, now_ms: int) -> Decision:
    record = _addressed(view, op.authority, now_ms)
    if record is None:
        return Decision(c.TaskNotFound())
    replayed = _replayed(view, record, op.event)
    if replayed is not None:
        return Decision(replayed)
    refusal = _unwritable(view, record, op)
    if refusal is not None:
        return Decision(refusal)
    outcome = transition.apply(record.snapshot, op.event, now_ms)
    match outcome:
        case transition.Rejected(reason):
            return Decision(reason)
        case transition.Unchanged(snapshot):
            return Decision(c.Unchanged(snapshot))
        case transition.Applied(snapshot, effects):
            return _applied(view, record, op, snapshot, effects, now_ms)


def _addressed(view: Boot, authority: c.Lease | c.Access, now_ms: int) -> Record | None:
    if isinstance(authority, c.Access):
        return _visible(view, authority, now_ms)
    return load(view, authority.key)


def _replayed(view: Boot, record: Record, event: Event) -> c.Replayed | None:
    place = event_key(record.key, event.event_id)
    blob = view.get(EVENT, place)
    return None if blob is None else c.Replayed(unseal(EVENT, place, blob)["rev"], record.snapshot)


def _unwritable(
    view: Boot, record: Record, op: c.Commit
) -> c.StaleLease | c.RevisionConflict | transition.NotAllowed | None:
    if isinstance(op.authority, c.Lease) and not lease_current(view, record, op.authority):
        return c.StaleLease()
    if isinstance(op.authority, c.Access) and ACCESS_EVENTS.get(op.authority.action) is not type(op.event):
        return transition.NotAllowed(op.event.kind, record.snapshot.task.status)
    if op.expected_revision not in (None, record.snapshot.revision):
        return c.RevisionConflict(record.snapshot)
    return None


def _applied(
    view: Boot,
    before: Record,
    op: c.Commit,
    snapshot: Snapshot,
    effects: tuple[transition.Effect, ...],
    now_ms: int,
) -> Decision:
    after_it = before.at(snapshot)
    if snapshot.retry_at_ms is not None:
        after_it = after_it.unleased()
    elif before.leased and not epoch_current(view, before.epoch):
        after_it = count_interruption(view, after_it).unleased()
    writes = (*change(before, after_it), event_write(after_it, op.event.event_id, op.event.kind, now_ms))
    lease = op.authority if isinstance(op.authority, c.Lease) else None
    published = c.Transition(op.event.kind, before.key, after_it.snapshot, effects, lease)
    return Decision(c.Committed(after_it.snapshot, effects), writes, (published,))


# --- reaping ---------------------------------------------------------------------------------------


def _reap(view: Boot, op: c.Reap, now_ms: int) -> Decision:
    keys: list[bytes] = []
    writes: list[c.Write] = []
    published: list[c.Transition] = []
    for place in key_range(view, EXPIRY, b"", u64(now_ms + 1)):
        if len(keys) == op.limit:
            return Decision(c.Reaped(tuple(keys), more=True), tuple(writes), tuple(published))
        key = place[8:]
        record = load(view, key)
        if record is not None:
            keys.append(key)
            writes += _forget(view, record)
            published.append(c.Transition("reaped", key, record.snapshot))
    return Decision(c.Reaped(tuple(keys), more=False), tuple(writes), tuple(published))


def _forget(view: c.View, record: Record) -> list[c.Write]:
    events: list[c.Write] = [
        (EVENT, place, None) for place in key_range(view, EVENT, record.key, record.key + b"\xff" * 17)
    ]
    return [(TASK, record.key, None), (WORK, record.key, None), *index_writes(record, None), *events]


_DECIDERS: Mapping[type[c.Operation], Callable[..., Decision]] = {
    c.Create: _create,
    c.Get: _get,
    c.WorkerGet: _worker_get,
    c.Claim: claim,
    c.ClaimNext: claim_next,
    c.Renew: _renew,
    c.Release: _release,
    c.Commit: _commit,
    c.Reap: _reap,
}
