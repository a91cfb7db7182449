"""I3: a write under any lease but the current one is refused, inside the transaction that would have written it.

Each way to be stale is tried with each operation that a worker has.
"""

from dataclasses import replace

import pytest
from store_rig import RESULT, refused_as_stale, worker_operations

from taskward.domain import event as ev
from taskward.domain.task import Status
from taskward.stores import contract as c

OPERATIONS = list(worker_operations(c.Lease(b"", 0, 0, b"", b"", "")))


def replaced(rig):
    """Another attempt has taken over: the old lease has an older generation."""
    task_id, old = rig.create(claim=True)
    return task_id, old, rig.claim(task_id, supersedes=old).lease


def replaced_under_the_same_nonce(rig):
    """The generation alone tells the two apart."""
    task_id = rig.create()
    old = rig.claim(task_id, nonce=b"n" * 16).lease
    return task_id, old, rig.claim(task_id, supersedes=old, nonce=b"n" * 16).lease


def given_back(rig):
    """The lease was released, and the task claimed again."""
    task_id, old = rig.create(claim=True)
    rig.do(c.Release(lease=old))
    return task_id, old, rig.claim(task_id).lease


def of_an_earlier_boot(rig):
    """The store actor was restarted: the epoch has risen, and nobody has claimed the task again yet."""
    task_id, old = rig.create(claim=True)
    rig.restart_actor()
    return task_id, old, None


def with_another_nonce(rig):
    """Somebody made up a lease."""
    task_id, current = rig.create(claim=True)
    return task_id, replace(current, nonce=b"x" * 16), current


def of_another_store(rig):
    """The lease comes from the store of which this one is a restored copy."""
    task_id, current = rig.create(claim=True)
    return task_id, replace(current, store=b"12345678"), current


WAYS = [replaced, replaced_under_the_same_nonce, given_back, of_an_earlier_boot, with_another_nonce, of_another_store]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_stale_lease_can_do_nothing(rig, way, operation):
    task_id, stale, current = way(rig)
    before = rig.get(task_id)
    op = worker_operations(stale)[operation]
    assert refused_as_stale(op, rig.do(op))
    after = rig.get(task_id)
    assert (after.revision, after.task) == (before.revision, before.task)
    if current is not None:
        assert isinstance(rig.complete(current), c.Committed)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_current_lease_can_do_it(rig, operation):
    """The control: the same operations are not refused for another reason."""
    _task_id, lease = rig.create(claim=True, delays=[10])
    op = worker_operations(lease)[operation]
    assert not refused_as_stale(op, rig.do(op))


def test_reopening_raises_the_epoch_and_kills_every_lease(lmdb_rig):
    rig = lmdb_rig
    task_id, old = rig.create(claim=True)
    rig.reopen()
    assert rig.backend.epoch == old.epoch + 1
    assert rig.complete(old) == c.StaleLease()
    [again] = rig.claim_next().claimed
    assert again.lease.task_id == task_id
    assert (again.lease.epoch, again.lease.generation) == (old.epoch + 1, old.generation + 1)
    assert (again.snapshot.attempts, again.snapshot.interruptions) == (2, 1)
    assert rig.commit(old, ev.Completed(result=RESULT)) == c.StaleLease()
    assert rig.task(task_id).status is Status.WORKING


def test_an_interruption_is_counted_and_caps_the_task(tmp_path, make_rig):
    """The server dies again and again under one task: it is given up inside a claim's own transaction."""
    from taskward.stores.fence import Limits

    rig = make_rig(limits=Limits(max_interruptions=2))
    task_id = rig.create()
    for _ in range(3):
        assert rig.claimed_ids() == [task_id]
        rig.restart_actor()
    last = rig.claim_next()
    assert last.claimed == () and [snapshot.task.task_id for snapshot in last.ended] == [task_id]
    assert "max_interruptions" in rig.task(task_id).error["message"]
