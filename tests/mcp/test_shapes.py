"""The wire shapes of a task: flat, by status, with nothing that belongs to another status."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taskward.domain.task import Status, Task
from taskward.mcp.shapes import create_task_result, detailed_task, timestamp

FUZZ = settings(deadline=None, print_blob=True, derandomize=False, max_examples=150)
CREATED = 1_800_000_000_000
QUESTION = {"method": "roots/list"}
RESULT = {"resultType": "complete", "content": []}
ERROR = {"code": -1, "message": "no"}


def task(status=Status.WORKING, **values):
    held = {"input_requests": {"k": QUESTION}, "result": RESULT, "error": ERROR}
    return Task(
        task_id="t1",
        status=status,
        created_at_ms=CREATED,
        updated_at_ms=CREATED + 1_500,
        **{"ttl_ms": 60_000, **held, **values},
    )


FIELDS = {
    "taskId": "t1",
    "createdAt": "2027-01-15T08:00:00.000Z",
    "lastUpdatedAt": "2027-01-15T08:00:01.500Z",
    "ttlMs": 60_000,
    "pollIntervalMs": 200,
}


@pytest.mark.parametrize(
    ("status", "own"),
    [
        ("working", {}),
        ("input_required", {"inputRequests": {"k": QUESTION}}),
        ("completed", {"result": RESULT}),
        ("failed", {"error": ERROR}),
        ("cancelled", {}),
    ],
)
def test_a_detailed_task_has_what_belongs_to_its_status(status, own):
    assert detailed_task(task(Status(status)), CREATED + 2_000) == {**FIELDS, "status": status, **own}


@pytest.mark.parametrize("status", Status)
def test_a_handle_has_nothing_of_the_outcome(status):
    handle = create_task_result(task(status), CREATED + 2_000)
    assert handle == {**FIELDS, "resultType": "task", "status": status.value}


def test_no_ttl_is_null_and_no_message_is_left_out():
    assert detailed_task(task(ttl_ms=None), CREATED)["ttlMs"] is None
    assert "statusMessage" not in detailed_task(task(), CREATED)
    assert detailed_task(task(status_message=""), CREATED)["statusMessage"] == ""


def test_the_poll_interval_of_an_ended_task_is_its_own():
    assert detailed_task(task(Status.COMPLETED, poll_interval_ms=321), CREATED + 10**9)["pollIntervalMs"] == 321


@FUZZ
@given(st.integers(0, 253_402_300_799_999))
@example(0)
@example(999)
@example(253_402_300_799_999)
def test_a_moment_is_spelt_to_the_millisecond_and_read_back(ms):
    spelt = timestamp(ms)
    assert len(spelt) == 24 and spelt.endswith("Z")
    assert datetime.fromisoformat(spelt) - datetime(1970, 1, 1, tzinfo=UTC) == timedelta(milliseconds=ms)
