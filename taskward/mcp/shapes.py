"""Wire shapes of the Tasks extension (SEP-2663): flat, by status, times as ISO 8601."""

from datetime import UTC, datetime

from taskward.domain.json_value import JsonObject
from taskward.domain.task import Status, Task


def task_fields(task: Task, now_ms: int) -> JsonObject:
    """Give the fields that every shape of a task has.

    Args:
        task: the task.
        now_ms: the store clock, for the poll interval of a live task.
    """
    fields: JsonObject = {
        "taskId": task.task_id,
        "status": task.status.value,
        "createdAt": timestamp(task.created_at_ms),
        "lastUpdatedAt": timestamp(task.updated_at_ms),
        "ttlMs": task.ttl_ms,
        "pollIntervalMs": task.poll_ms(now_ms),
    }
    if task.status_message is not None:
        fields["statusMessage"] = task.status_message
    return fields


def create_task_result(task: Task, now_ms: int) -> JsonObject:
    """Give the `CreateTaskResult`: a task handle and nothing of its outcome."""
    return {"resultType": "task", **task_fields(task, now_ms)}


def detailed_task(task: Task, now_ms: int) -> JsonObject:
    """Give the `DetailedTask`, without `resultType`: what belongs to the status is inlined."""
    fields = task_fields(task, now_ms)
    if task.status is Status.INPUT_REQUIRED:
        fields["inputRequests"] = dict(task.input_requests)
    elif task.status is Status.COMPLETED:
        fields["result"] = task.result
    elif task.status is Status.FAILED:
        fields["error"] = task.error
    return fields


def timestamp(ms: int) -> str:
    """Spell a moment in ISO 8601, UTC, with milliseconds."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"
