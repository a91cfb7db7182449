"""The store actor: one sync for many, answers only after it, and what the caller is told when it goes wrong."""

import threading

import gevent
import pytest
from store_rig import OPENERS, StoreRig

from taskward.domain import event as ev
from taskward.domain.task import Status
from taskward.stores import contract as c
from taskward.stores.errors import StoreBroken, StoreFull

BOUND_S = 10.0


class Disk:
    """A real LMDB backend with a disk that a test can hold up or break, just before the commit."""

    def __init__(self, path):
        self._backend = OPENERS["lmdb"](path)
        self._passes = threading.Event()
        self._passes.set()
        self.reached = threading.Semaphore(0)
        self.failure = None
        self.commits = []

    def __getattr__(self, name):
        return getattr(self._backend, name)

    def hold(self):
        self._passes.clear()

    def let_go(self):
        self._passes.set()

    def commit(self, writes):
        """Runs in the native thread, as the real one does."""
        self.reached.release()
        assert self._passes.wait(BOUND_S)
        if self.failure is not None:
            raise self.failure
        self._backend.commit(writes)
        self.commits.append(len(writes))


@pytest.fixture
def disk_rig(tmp_path):
    disks = []

    def open_backend():
        disks.append(Disk(tmp_path / "store"))
        return disks[-1]

    rig = StoreRig(open_backend)
    rig.disk = disks[0]
    yield rig
    rig.disk.let_go()
    rig.stop()


def reached(disk):
    """Wait, without holding up the hub, until a commit has reached the disk."""
    assert gevent.get_hub().threadpool.apply(disk.reached.acquire, kwds={"timeout": BOUND_S})


def fresh(disk):
    """Forget the commits so far."""
    disk.commits.clear()
    while disk.reached.acquire(blocking=False):
        pass


def test_nothing_is_acknowledged_before_the_sync_has_returned(disk_rig):
    """I1: a task that its client has been told of is on disk. The answer waits for the disk, not for the decision."""
    fresh(disk_rig.disk)
    disk_rig.disk.hold()
    creating = gevent.spawn(disk_rig.try_create)
    reached(disk_rig.disk)
    gevent.sleep(0.05)  # the time in which a premature answer would come
    assert not creating.ready() and disk_rig.published == []
    disk_rig.disk.let_go()
    created = creating.get(timeout=BOUND_S)
    assert isinstance(created, c.Created) and disk_rig.disk.commits
    assert [t.kind for t in disk_rig.published] == ["created"]


def test_a_read_does_not_wait_for_a_slow_commit_and_does_not_see_it(disk_rig):
    task_id, lease = disk_rig.create(claim=True)
    fresh(disk_rig.disk)
    disk_rig.disk.hold()
    completing = gevent.spawn(disk_rig.complete, lease)
    reached(disk_rig.disk)
    assert disk_rig.task(task_id).status is Status.WORKING
    disk_rig.disk.let_go()
    assert isinstance(completing.get(timeout=BOUND_S), c.Committed)
    assert disk_rig.task(task_id).status is Status.COMPLETED


def test_what_queues_during_a_sync_shares_the_next_one(disk_rig):
    fresh(disk_rig.disk)
    disk_rig.disk.hold()
    first = gevent.spawn(disk_rig.try_create)
    reached(disk_rig.disk)
    others = [gevent.spawn(disk_rig.try_create) for _ in range(100)]
    gevent.sleep(0)
    disk_rig.disk.let_go()
    gevent.joinall([first, *others], timeout=BOUND_S, raise_error=True)
    assert all(isinstance(g.value, c.Created) for g in others) and len(disk_rig.disk.commits) == 2


def test_a_refusal_harms_nobody_in_its_batch(disk_rig):
    """In one batch: two claims of one task, a stale report and a good one."""
    task_id = disk_rig.create()
    _, stale = disk_rig.create(claim=True)
    disk_rig.do(c.Release(lease=stale))
    _, good = disk_rig.create(claim=True)
    fresh(disk_rig.disk)
    disk_rig.disk.hold()
    blocker = gevent.spawn(disk_rig.try_create)
    reached(disk_rig.disk)
    batch = [
        gevent.spawn(disk_rig.claim, task_id),
        gevent.spawn(disk_rig.claim, task_id),
        gevent.spawn(disk_rig.complete, stale),
        gevent.spawn(disk_rig.complete, good),
    ]
    gevent.sleep(0)
    disk_rig.disk.let_go()
    gevent.joinall([blocker, *batch], timeout=BOUND_S, raise_error=True)
    assert [type(g.value) for g in batch] == [c.Claimed, c.Unavailable, c.StaleLease, c.Committed]
    assert len(disk_rig.disk.commits) == 2


def test_an_operation_that_was_taken_is_answered_however_slow_the_disk(disk_rig):
    """Its deadline counts until it is taken: a slow sync never reports a timeout for what was committed."""
    fresh(disk_rig.disk)
    disk_rig.disk.hold()
    creating = gevent.spawn(disk_rig.try_create, deadline_ms=20)
    reached(disk_rig.disk)
    gevent.sleep(0.1)  # five deadlines
    assert not creating.ready()
    disk_rig.disk.let_go()
    assert isinstance(creating.get(timeout=BOUND_S), c.Created)


def test_an_operation_that_was_not_taken_in_time_is_withdrawn_and_never_applied(disk_rig):
    _, lease = disk_rig.create(claim=True)
    fresh(disk_rig.disk)
    disk_rig.disk.hold()
    blocker = gevent.spawn(disk_rig.try_create)
    reached(disk_rig.disk)
    refused = disk_rig.do(c.Commit(authority=lease, event=ev.Progress(message="late")), deadline_ms=20)
    assert isinstance(refused, c.StoreUnavailable)
    disk_rig.disk.let_go()
    blocker.get(timeout=BOUND_S)
    assert disk_rig.do(c.WorkerGet(lease=lease)).snapshot.task.status_message is None


def test_a_full_disk_refuses_the_batch_applies_nothing_and_is_got_over(disk_rig):
    _, lease = disk_rig.create(claim=True)
    disk_rig.disk.failure = StoreFull()
    assert isinstance(disk_rig.complete(lease), c.StoreUnavailable)
    assert isinstance(disk_rig.try_create(), c.StoreUnavailable)
    disk_rig.disk.failure = None
    assert isinstance(disk_rig.complete(lease), c.Committed)


def test_a_broken_disk_makes_the_outcome_unknown_and_stops_the_actor(disk_rig, caplog):
    disk_rig.disk.failure = StoreBroken()
    assert isinstance(disk_rig.try_create(), c.OutcomeUnknown)
    assert disk_rig.actor.exited.wait(BOUND_S) and isinstance(disk_rig.actor.exit_reason, StoreBroken)
    assert isinstance(disk_rig.try_create(), c.StoreUnavailable)
    assert "StoreBroken" in caplog.text


def test_a_store_actor_killed_in_mid_commit_leaves_a_commit_that_its_successor_waits_for(disk_rig):
    """The native job goes on. Its caller is told that nobody knows; the successor waits, then fences (I3)."""
    task_id, lease = disk_rig.create(claim=True)
    epoch = disk_rig.backend.epoch
    fresh(disk_rig.disk)
    disk_rig.disk.hold()
    completing = gevent.spawn(disk_rig.complete, lease)
    reached(disk_rig.disk)
    disk_rig.actor.kill()
    assert isinstance(completing.get(timeout=BOUND_S), c.OutcomeUnknown)
    restarting = gevent.spawn(disk_rig.start_actor)
    gevent.sleep(0)
    assert not restarting.ready()
    disk_rig.disk.let_go()
    restarting.get(timeout=BOUND_S)
    assert disk_rig.task(task_id).status is Status.COMPLETED
    assert disk_rig.backend.epoch == epoch + 1


def test_a_corrupt_record_is_named_to_whoever_asks_and_skipped_by_claims(lmdb_rig, caplog):
    from taskward.stores.layout import TASK

    spoilt, healthy = lmdb_rig.create(), lmdb_rig.create()
    key = lmdb_rig.access(spoilt).key
    view = lmdb_rig.backend.read()
    row = view.get(TASK, key)
    view.close()
    lmdb_rig.committer.commit([(TASK, key, row[:-1] + bytes([row[-1] ^ 1]))])
    refused = lmdb_rig.get(spoilt)
    assert isinstance(refused, c.StoreUnavailable) and key.hex() in refused.why
    assert lmdb_rig.claimed_ids() == [healthy]
    assert isinstance(lmdb_rig.cancel(spoilt), c.StoreUnavailable) and "checksum" in caplog.text


def test_creates_are_refused_first_when_the_store_falls_behind(disk_rig):
    """I11: at four fifths of the mailbox no new work is taken, but reports of existing work still are."""
    _, lease = disk_rig.create(claim=True)
    fresh(disk_rig.disk)
    disk_rig.disk.hold()
    blocker = gevent.spawn(disk_rig.try_create)
    reached(disk_rig.disk)
    limit = disk_rig.actor.actor_class.mailbox_limit
    for _ in range(int(limit * 0.8) + 1):
        disk_rig.actor.tell("noise")
    waiting = disk_rig.actor.mailbox_length
    assert disk_rig.try_create() == c.StoreUnavailable("it has too much to do to take new tasks")
    assert disk_rig.actor.mailbox_length == waiting
    reporting = gevent.spawn(disk_rig.complete, lease)
    gevent.sleep(0)
    disk_rig.disk.let_go()
    assert isinstance(reporting.get(timeout=BOUND_S), c.Committed)
    blocker.get(timeout=BOUND_S)
