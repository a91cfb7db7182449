"""What may happen to what: JSON values, events and snapshots, with keys few enough to collide."""

from hypothesis import settings
from hypothesis import strategies as st

from taskward.domain import event as ev
from taskward.domain import ids
from taskward.domain.json_value import digest
from taskward.domain.retry import MAX_DELAY_MS, RetryPolicy
from taskward.domain.snapshot import Snapshot
from taskward.domain.task import Status, Task
from taskward.domain.work import Work

PROFILE = settings.get_profile("domain")

NOW = 1_800_000_000_000
KEYS = ("a", "b", "c")
KINDS = ("elicitation.form", "elicitation.url", "sampling", "roots")
OBJECT = {"type": "object"}
FORM = {"method": "elicitation/create", "params": {"mode": "form", "message": "Go on?", "requestedSchema": OBJECT}}
BARE_FORM = {"method": "elicitation/create", "params": {"message": "Go on?", "requestedSchema": OBJECT}}
URL = {"method": "elicitation/create", "params": {"mode": "url", "message": "Sign in", "url": "https://example.com"}}
SAMPLE = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
ROOTS = {"method": "roots/list"}
KIND_OF = (
    (FORM, "elicitation.form"),
    (BARE_FORM, "elicitation.form"),
    (URL, "elicitation.url"),
    (SAMPLE, "sampling"),
    (ROOTS, "roots"),
)
ERROR = {"code": -32603, "message": "no", "data": {"more": [1, None]}}

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | text
finite = scalars.filter(lambda value: value not in (float("inf"), float("-inf")))
json_values = st.recursive(
    finite, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3), max_leaves=6
)
json_objects = st.dictionaries(text, json_values, max_size=3)
errors = st.builds(
    lambda code, message, data: {"code": code, "message": message, **data},
    st.integers(-40_000, 40_000),
    text,
    st.just({}) | st.fixed_dictionaries({"data": json_values}),
)
requests = st.sampled_from([request for request, _ in KIND_OF])
messages = st.none() | text
moments = st.integers(NOW, NOW + 10**9)
event_ids = st.text("0123456789abcdef", min_size=1, max_size=32)

EVENTS = {
    ev.Progress: {"message": text},
    ev.InputRequested: {"key": st.sampled_from(KEYS), "request": requests},
    ev.InputResponsesAccepted: {"responses": st.dictionaries(st.sampled_from([*KEYS, "d"]), json_values, max_size=3)},
    ev.RetryRequested: {"error": errors, "message": messages},
    ev.RetryRescheduled: {"at_ms": st.integers(0, NOW + 10**9)},
    ev.TtlChanged: {"ttl_ms": st.none() | st.integers(1, 10**9)},
    ev.Completed: {"result": json_objects},
    ev.Failed: {"error": errors, "message": messages},
    ev.Cancelled: {"message": messages},
}
ENDS = (ev.Completed, ev.Failed, ev.Cancelled)


def events_of(*classes):
    return st.one_of([st.builds(cls, event_id=event_ids, **EVENTS[cls]) for cls in classes])


events = events_of(*EVENTS)
lively = events_of(*(cls for cls in EVENTS if cls not in ENDS))

policies = st.builds(RetryPolicy.exact, st.lists(st.integers(0, MAX_DELAY_MS), max_size=4))
works = st.builds(Work, type=text, input=json_objects, idempotency_key=text, retry_policy=policies)
task_ids = st.binary(min_size=ids.KEY_BYTES, max_size=ids.KEY_BYTES).map(ids.id_of)
questions = st.dictionaries(st.sampled_from(KEYS), requests, max_size=3)


@st.composite
def tasks(draw, statuses=tuple(Status)):
    """A task in one of these statuses, with what belongs to the status and nothing else."""
    status = draw(st.sampled_from(statuses))
    return Task(
        task_id=draw(task_ids),
        status=status,
        status_message=draw(messages),
        created_at_ms=NOW - draw(st.integers(0, 10**8)),
        updated_at_ms=NOW,
        ttl_ms=draw(st.none() | st.integers(1, 10**9)),
        poll_interval_ms=draw(st.integers(100, 5_000)) if status.terminal else None,
        input_requests=draw(questions.filter(bool)) if status is Status.INPUT_REQUIRED else {},
        result=draw(json_objects) if status is Status.COMPLETED else None,
        error=draw(errors) if status is Status.FAILED else None,
    )


@st.composite
def snapshots(draw, statuses=tuple(Status)):
    """A snapshot that a history could have led to: what was asked is in the history, what was answered in the inbox."""
    task = draw(tasks(statuses))
    work = draw(works)
    asked = {**draw(questions), **task.input_requests}
    answered = {key: draw(json_values) for key in asked if key not in task.input_requests and draw(st.booleans())}
    waiting = task.status is Status.WORKING and draw(st.booleans())
    return Snapshot(
        revision=draw(st.integers(1, 10**6)),
        task=task,
        work=work,
        retry_count=draw(st.integers(0, len(work.retry_policy.delays_ms))),
        retry_at_ms=draw(moments) if waiting else None,
        last_failure=draw(st.none() | errors),
        input_history={key: digest(request) for key, request in asked.items()},
        inbox=answered,
        attempts=draw(st.integers(0, 100)),
        crashes=draw(st.integers(0, 5)),
        interruptions=draw(st.integers(0, 5)),
        declared_inputs=draw(st.frozensets(st.sampled_from(KINDS))),
    )


LIVE = (Status.WORKING, Status.INPUT_REQUIRED)
