"""The LMDB directory: bad input is refused with a sentence and left untouched, good data comes back."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import lmdb
import pytest
from store_rig import StoreRig

from taskward.domain.task import Status
from taskward.stores import directory
from taskward.stores.codec import seal
from taskward.stores.errors import MapIsFull, StoreBroken, StoreBusy, StoreClosed, StoreUnreadable
from taskward.stores.layout import META, TASK
from taskward.stores.lmdb import LmdbBackend
from taskward.stores.location import UnknownLocation, open_backend

OPEN_ELSEWHERE = """
import sys
from taskward.stores.errors import StoreBusy
from taskward.stores.lmdb import LmdbBackend
try:
    LmdbBackend.open(sys.argv[1])
except StoreBusy as busy:
    print(busy)
    sys.exit(3)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def used(path):
    """A closed store with one completed task; gives its id."""
    rig = StoreRig(lambda: LmdbBackend.open(path))
    task_id, lease = rig.create(claim=True)
    rig.complete(lease)
    rig.stop()
    return task_id


def content(path):
    return {entry.name: entry.read_bytes() for entry in path.iterdir() if entry.name != directory.LOCK}


def test_what_was_committed_is_there_after_reopening(path, used):
    rig = StoreRig(lambda: LmdbBackend.open(path))
    assert rig.task(used).status is Status.COMPLETED
    rig.stop()


def test_every_open_raises_the_epoch_and_keeps_the_identity(path):
    first = LmdbBackend.open(path)
    seen = (first.store_id, first.epoch)
    first.close()
    second = LmdbBackend.open(path)
    assert (second.store_id, second.epoch) == (seen[0], seen[1] + 1)
    second.close()


def test_a_second_process_is_refused_and_told_who_holds_it(path):
    backend = LmdbBackend.open(path)
    other = subprocess.run(
        [sys.executable, "-c", OPEN_ELSEWHERE, str(path)], capture_output=True, text=True, timeout=30, check=False
    )
    assert other.returncode == 3 and f"process {os.getpid()}" in other.stdout, other
    backend.commit([(META, b"x", b"y")])
    backend.close()


def test_a_second_open_in_this_process_is_refused_and_the_first_goes_on(path):
    backend = LmdbBackend.open(path)
    with pytest.raises(StoreBusy, match="in use by process"):
        LmdbBackend.open(path)
    backend.commit([(META, b"x", b"y")])
    backend.close()
    LmdbBackend.open(path).close()


def test_a_waiting_opener_gets_the_store_when_its_holder_lets_go(path):
    """A rolling restart: the new server waits for the old one."""
    holder = LmdbBackend.open(path)
    naps = []

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 3:
            holder.close()

    LmdbBackend.open(path, open_wait_ms=10_000, sleep=nap).close()
    assert len(naps) == 3


def test_waiting_is_bounded(path):
    holder = LmdbBackend.open(path)
    naps = []
    with pytest.raises(StoreBusy):
        LmdbBackend.open(path, open_wait_ms=200, sleep=naps.append)
    assert sum(naps) == pytest.approx(0.2)
    holder.close()


DAMAGE = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "one page": lambda data: data[:4096],
    "half": lambda data: data[: len(data) // 2],
    "one byte short of its last page": lambda data: data[: len(data) - 4097],
    "first meta page zeroed": lambda data: bytes(4096) + data[4096:],
    "second meta page zeroed": lambda data: data[:4096] + bytes(4096) + data[8192:],
    "garbage": lambda data: b"no database at all " * 1_000,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_data_file_is_refused_and_left_as_it_is(path, used, damage):
    data = path / directory.DATA
    data.write_bytes(DAMAGE[damage](data.read_bytes()))
    before = content(path)
    with pytest.raises(StoreUnreadable, match=r"Nothing was touched; restore"):
        LmdbBackend.open(path)
    assert content(path) == before


def test_a_missing_data_file_is_not_a_new_store(path, used):
    (path / directory.DATA).unlink()
    with pytest.raises(StoreUnreadable, match="it is missing"):
        LmdbBackend.open(path)
    assert not (path / directory.DATA).exists()


def test_a_garbled_identity_is_refused(path, used):
    (path / directory.IDENTITY).write_text("something else")
    with pytest.raises(StoreUnreadable, match="does not name a store"):
        LmdbBackend.open(path)


def test_another_stores_data_file_is_refused(path, used, tmp_path):
    LmdbBackend.open(tmp_path / "other").close()
    (path / directory.DATA).write_bytes((tmp_path / "other" / directory.DATA).read_bytes())
    with pytest.raises(StoreUnreadable, match="belongs to another store"):
        LmdbBackend.open(path)


def test_a_directory_with_something_else_in_it_is_refused_and_left_as_it_is(path):
    path.mkdir()
    (path / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreUnreadable, match=r"not empty and is not a taskward store \(it holds 'thesis.tex'\)"):
        LmdbBackend.open(path)
    assert [entry.name for entry in path.iterdir()] == ["thesis.tex"]


def test_a_foreign_lmdb_directory_is_refused_and_left_as_it_is(path):
    path.mkdir()
    lmdb.open(str(path)).close()
    before = content(path)
    with pytest.raises(StoreUnreadable, match="not a taskward store"):
        LmdbBackend.open(path)
    assert content(path) == before


def test_a_place_that_is_a_file_is_refused(path):
    path.write_text("a file")
    with pytest.raises(StoreUnreadable, match="not a directory"):
        LmdbBackend.open(path)


def test_a_store_that_died_while_it_was_made_is_made_afresh(path):
    """Nothing in it was ever acknowledged."""
    LmdbBackend.open(path).close()
    (path / directory.IDENTITY).rename(path / directory.NEW_IDENTITY)
    (path / directory.DATA).write_bytes(b"half a page")
    LmdbBackend.open(path).close()
    assert (path / directory.IDENTITY).exists() and not (path / directory.NEW_IDENTITY).exists()


def test_a_newer_format_is_refused(path):
    backend = LmdbBackend.open(path)
    backend.commit([(META, b"schema", seal(b"schema", {"format": 9, "min_reader": 9}))])
    backend.close()
    with pytest.raises(StoreUnreadable, match="newer version"):
        LmdbBackend.open(path)


def test_a_full_map_applies_nothing_and_grows(path):
    backend = LmdbBackend.open(path, map_bytes=1024**2)
    writes = [(TASK, number.to_bytes(22, "big"), bytes(1_500)) for number in range(2_000)]
    with pytest.raises(MapIsFull):
        backend.commit(writes)
    view = backend.read()
    assert view.count(TASK) == 0
    view.close()
    while backend.grow():
        try:
            backend.commit(writes)
            break
        except MapIsFull:
            continue
    view = backend.read()
    assert view.count(TASK) == 2_000
    view.close()
    backend.close()


def test_a_full_map_is_never_seen_by_a_caller(path):
    rig = StoreRig(lambda: LmdbBackend.open(path, map_bytes=256 * 1024))
    ids = [rig.create(text="x" * 10_000) for _ in range(100)]
    assert all(rig.task(task_id).status is Status.WORKING for task_id in ids)
    rig.stop()


@pytest.mark.parametrize("how", [Path.unlink, lambda data: data.rename(data.with_suffix(".away"))])
def test_a_data_file_that_is_taken_away_stops_the_store(path, how):
    """It would go on "committing" to nowhere."""
    backend = LmdbBackend.open(path)
    how(path / directory.DATA)
    with pytest.raises(StoreBroken, match="removed or replaced"):
        backend.commit([(META, b"x", b"y")])
    with pytest.raises(StoreBroken):
        backend.read()
    backend.close()


class FailingEnvironment:
    """The engine under a store, reporting one error; everything else is the real one."""

    def __init__(self, env, code):
        self._env = env
        self._code = code

    def begin(self, *, write=False):
        if write:
            error = lmdb.Error("injected")
            error.code = self._code
            raise error
        return self._env.begin()

    def __getattr__(self, name):
        return getattr(self._env, name)


@pytest.mark.parametrize(("code", "stops"), [(errno.ENOSPC, False), (errno.EFBIG, False), (errno.EIO, True)])
def test_no_room_is_got_over_and_a_failing_disk_is_not(path, code, stops):
    backend = LmdbBackend.open(path)
    env = backend._env
    backend._env = FailingEnvironment(env, code)
    with pytest.raises(StoreBroken if stops else Exception, match="failed" if stops else "no room"):
        backend.commit([(META, b"x", b"y")])
    backend._env = env
    if stops:
        with pytest.raises(StoreBroken):
            backend.commit([(META, b"x", b"y")])
    else:
        backend.commit([(META, b"x", b"y")])
    backend.close()


def test_a_closed_store_says_so(path):
    backend = LmdbBackend.open(path)
    backend.close()
    backend.close()
    for use in (backend.read, lambda: backend.commit([]), backend.raise_epoch):
        with pytest.raises(StoreClosed):
            use()


def test_a_forked_child_is_refused_before_it_touches_anything(path):
    backend = LmdbBackend.open(path)
    backend._pid = -1  # as a forked child finds it
    with pytest.raises(StoreClosed, match="does not cross fork"):
        backend.read()
    backend._pid = os.getpid()
    backend.close()


def test_the_clock_goes_on_from_the_stores_mark_when_the_wall_is_behind(path):
    rig = StoreRig(lambda: LmdbBackend.open(path))
    rig.clock.advance(3_600_000)
    task_id = rig.create()
    rig.clock.step_wall(-7_200_000)
    rig.reopen()
    assert rig.store.now_ms() >= rig.task(task_id).created_at_ms
    rig.stop()


@pytest.mark.parametrize("location", ["lmdb:{}", "lmdb://{}"])
def test_a_location_names_a_directory(path, location):
    open_backend(location.format(path)).close()
    assert (path / directory.IDENTITY).exists()


@pytest.mark.parametrize("location", ["", "lmdb:", "lmdb://", "redis://here", "memory:x", "/var/lib"])
def test_another_location_is_refused(location):
    with pytest.raises(UnknownLocation, match="Name a store as"):
        open_backend(location)
