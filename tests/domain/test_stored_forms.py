"""What is stored is read back as the very same value, through the bytes a store keeps; anything else is refused."""

import msgpack
import pytest
from domain.strategies import PROFILE, events, policies, snapshots, tasks, works
from hypothesis import given

from taskward.domain import event as ev
from taskward.domain.errors import InvalidValue
from taskward.domain.event import EVENTS, event_from_map, event_to_map
from taskward.domain.retry import RetryPolicy
from taskward.domain.snapshot import Snapshot
from taskward.domain.task import Task
from taskward.domain.work import Work


def stored(data):
    """Through msgpack, as a store does it."""
    return msgpack.unpackb(msgpack.packb(data, use_bin_type=True), raw=False, strict_map_key=True)


@PROFILE
@given(events)
def test_an_event(event):
    assert event_from_map(stored(event_to_map(event))) == event


@PROFILE
@given(snapshots())
def test_a_snapshot(snapshot):
    again = Snapshot.from_map(snapshot.task.task_id, stored(snapshot.to_map()), snapshot.work)
    assert again == snapshot
    assert msgpack.packb(again.to_map()) == msgpack.packb(snapshot.to_map())


@PROFILE
@given(tasks())
def test_a_task(task):
    assert Task.from_map(task.task_id, stored(task.to_map())) == task


@PROFILE
@given(works)
def test_work(work):
    assert Work.from_map(stored(work.to_map())) == work


@PROFILE
@given(policies)
def test_a_retry_policy(policy):
    assert RetryPolicy.from_map(stored(policy.to_map())) == policy


def test_every_kind_of_event_has_its_own_name():
    assert {cls.kind: cls for cls in EVENTS.values()} == EVENTS and len(EVENTS) == 9


PROGRESS = event_to_map(ev.Progress(message="half"))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {**PROGRESS, "v": 2},
        {**PROGRESS, "v": None},
        {**PROGRESS, "kind": "exploded"},
        {**PROGRESS, "kind": ["progress"]},
        {**PROGRESS, "colour": "red"},
        {**PROGRESS, "message": 7},
        {key: value for key, value in PROGRESS.items() if key != "message"},
        {key: value for key, value in PROGRESS.items() if key != "event_id"},
    ],
)
def test_an_event_of_another_version_or_shape_is_refused(data):
    with pytest.raises(InvalidValue):
        event_from_map(data)


@pytest.mark.parametrize("version", [None, 0, 2, "1"])
def test_work_and_policies_of_another_version_are_refused(version):
    work = Work(type="t", input={}, idempotency_key="k")
    with pytest.raises(InvalidValue, match="version"):
        Work.from_map({**work.to_map(), "v": version})
    with pytest.raises(InvalidValue, match="version"):
        RetryPolicy.from_map({**work.retry_policy.to_map(), "v": version})


def test_a_policy_with_an_impossible_delay_is_refused_when_read():
    with pytest.raises(InvalidValue, match="-1"):
        RetryPolicy.from_map({"v": 1, "delays_ms": [1, -1]})
