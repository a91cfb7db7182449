"""What a claim means: the one path to a first run and to a recovery. By index, never by scan.

Pure, like everything that decides.
"""

from collections.abc import Iterator
from dataclasses import replace

from taskward.domain import ids, transition
from taskward.domain.event import Failed
from taskward.domain.snapshot import Snapshot
from taskward.domain.task import Status
from taskward.stores import contract as c
from taskward.stores.codec import CorruptRecord
from taskward.stores.fence import Boot, Decision, change, epoch_current, event_write, key_range, lease_current
from taskward.stores.layout import LEASE, READY, SCHED, SCOPE_BYTES, after, u64
from taskward.stores.record import Record, load

QUARANTINE_CODE = -32603


def granted(view: Boot, record: Record, terms: c.ClaimTerms) -> Record:
    """Grant the next generation: the claim of a first run and of every recovery ends here."""
    snapshot = replace(record.snapshot, attempts=record.snapshot.attempts + 1, retry_at_ms=None)
    return replace(record, snapshot=snapshot, generation=record.generation + 1, nonce=terms.nonce, epoch=view.epoch)


def claim(view: Boot, op: c.Claim, now_ms: int) -> Decision:
    """Decide the claim of one exact task."""
    record = load(view, op.key)
    if record is None or record.snapshot.task.expired(now_ms):
        return Decision(c.TaskNotFound())
    if op.supersedes is not None and not lease_current(view, record, op.supersedes):
        return Decision(c.StaleLease())
    refusal = _unclaimable(view, record, now_ms, held=op.supersedes is None)
    if refusal is not None:
        return Decision(refusal)
    return _take(view, record, op.terms, now_ms)


def _unclaimable(view: Boot, record: Record, now_ms: int, *, held: bool) -> c.Deferred | c.Unavailable | None:
    snapshot = record.snapshot
    if snapshot.task.status.terminal:
        return c.Unavailable("it has ended")
    if held and _held(view, record):
        return c.Unavailable("another attempt holds its lease")
    if snapshot.task.status is Status.INPUT_REQUIRED:
        return c.Unavailable("it waits for its user's answer")
    if snapshot.retry_at_ms is not None and snapshot.retry_at_ms > now_ms:
        return c.Deferred(snapshot.retry_at_ms - now_ms)
    return None


def _held(view: Boot, record: Record) -> bool:
    return record.leased and epoch_current(view, record.epoch) and not view.lease_expired(record.key)


def _take(view: Boot, record: Record, terms: c.ClaimTerms, now_ms: int) -> Decision:
    counted = count_interruption(view, record)
    poison = _poison(view, counted.snapshot)
    if poison is not None:
        return _quarantine(record, counted, poison, now_ms)
    after = granted(view, counted, terms)
    published = c.Transition("claimed", after.key, after.snapshot, lease=after.lease(view.store_id))
    return Decision(after.claimed(view.store_id), tuple(change(record, after)), (published,))


def count_interruption(view: Boot, record: Record) -> Record:
    """A lease of a dead epoch that was never given back: the server died under that attempt."""
    if not record.leased or epoch_current(view, record.epoch):
        return record
    return record.at(replace(record.snapshot, interruptions=record.snapshot.interruptions + 1))


def _poison(view: Boot, snapshot: Snapshot) -> str | None:
    if snapshot.crashes > view.limits.max_crashes:
        return f"its attempts died {snapshot.crashes} times without an outcome (max_crashes)"
    if snapshot.interruptions > view.limits.max_interruptions:
        return f"the server died {snapshot.interruptions} times under it (max_interruptions)"
    return None


def _quarantine(before: Record, counted: Record, why: str, now_ms: int) -> Decision:
    sentence = f"The task was given up: {why}"
    event = Failed(error={"code": QUARANTINE_CODE, "message": sentence}, message=sentence)
    outcome = transition.apply(counted.snapshot, event, now_ms)
    assert isinstance(outcome, transition.Applied)
    after = counted.at(outcome.snapshot).unleased()
    published = c.Transition("failed", after.key, after.snapshot, outcome.effects)
    writes = [*change(before, after), event_write(after, "quarantined", "failed", now_ms)]
    return Decision(c.Quarantined(after.snapshot), tuple(writes), (published,))


def claim_next(view: Boot, op: c.ClaimNext, now_ms: int) -> Decision:
    """Decide a batch of claims: orphans and expired leases, then due retries, then new work, fairly."""
    taken: dict[bytes, Decision] = {}
    last_scope, more = op.after_scope, False
    for key, scope in _claimable(view, op, now_ms):
        if key in taken:
            continue
        if len(taken) == op.limit:
            more = True
            break
        decision = _take_or_park(view, key, op.terms, now_ms)
        if decision is not None:
            taken[key] = decision
            last_scope = scope or last_scope
    results = [decision.result for decision in taken.values()]
    claims = c.Claims(
        claimed=tuple(r for r in results if isinstance(r, c.Claimed)),
        last_scope=last_scope,
        next_due_ms=_next_due(view, now_ms),
        more=more,
        ended=tuple(r.snapshot for r in results if isinstance(r, c.Quarantined)),
    )
    writes = tuple(write for decision in taken.values() for write in decision.writes)
    return Decision(claims, writes, tuple(t for decision in taken.values() for t in decision.transitions))


def _claimable(view: Boot, op: c.ClaimNext, now_ms: int) -> Iterator[tuple[bytes, bytes | None]]:
    """Give candidates by index, most urgent first: task key, and the scope if it is new work."""
    for place in key_range(view, LEASE, b"", u64(view.epoch)):
        yield place[8:], None
    for key in view.expired_leases(op.limit):
        yield key, None
    for place in key_range(view, SCHED, b"", u64(now_ms + 1)):
        yield place[8:], None
    yield from _round_robin(view, op.after_scope)


def _round_robin(view: c.View, after_scope: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Give new work one task a scope at a time, starting behind `after_scope`, so that none waits for a crowd."""
    behind = after_scope + b"\xff" * (ids.KEY_BYTES + 9)
    turn = [*_scopes(view, behind, None), *_scopes(view, b"", behind)]
    while turn:
        waiting = []
        for place in turn:
            scope = place[:SCOPE_BYTES]
            yield place[SCOPE_BYTES + 8 :], scope
            following = view.seek(READY, after(place))
            if following is not None and following[0].startswith(scope):
                waiting.append(following[0])
        turn = waiting


def _scopes(view: c.View, start: bytes, stop: bytes | None) -> Iterator[bytes]:
    """Give the first ready place of each scope from `start` on."""
    found = view.seek(READY, start)
    while found is not None and (stop is None or found[0] < stop):
        yield found[0]
        found = view.seek(READY, found[0][:SCOPE_BYTES] + b"\xff" * (ids.KEY_BYTES + 9))


def _take_or_park(view: Boot, key: bytes, terms: c.ClaimTerms, now_ms: int) -> Decision | None:
    """Claim one candidate, or put an orphan that must not run now where it belongs."""
    try:
        record = load(view, key)
    except CorruptRecord:
        return None
    if record is None or record.snapshot.task.expired(now_ms):
        return None
    refusal = _unclaimable(view, record, now_ms, held=True)
    if refusal is None:
        return _take(view, record, terms, now_ms)
    if record.leased and not _held(view, record):
        return _disown(view, record, refusal)
    return None


def _disown(view: Boot, record: Record, why: c.Deferred | c.Unavailable) -> Decision:
    freed = count_interruption(view, record).unleased()
    return Decision(why, tuple(change(record, freed)))


def _next_due(view: c.View, now_ms: int) -> int | None:
    found = view.seek(SCHED, u64(now_ms + 1))
    return None if found is None else int.from_bytes(found[0][:8], "big")
