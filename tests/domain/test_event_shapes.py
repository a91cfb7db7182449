"""An event of a wrong shape cannot be made, so nothing below has to ask; the sentence says what was wrong."""

import pytest
from domain.strategies import ERROR, FORM, KIND_OF, OBJECT, PROFILE, SAMPLE, URL, events, json_values
from hypothesis import given

from taskward.domain import event as ev
from taskward.domain.errors import InvalidValue

HALF = "\ud800"


def question(**changes):
    return {**FORM, "params": {**FORM["params"], **changes}}


def without(request, name):
    return {**request, "params": {key: value for key, value in request["params"].items() if key != name}}


WRONG = [
    (ev.Progress, {"message": 0.5}),
    (ev.Progress, {"message": None}),
    (ev.Progress, {"message": 10**5_000}),
    (ev.Progress, {"message": "x", "event_id": ""}),
    (ev.Progress, {"message": "x", "event_id": 7}),
    (ev.InputRequested, {"key": "", "request": FORM}),
    (ev.InputRequested, {"key": 1, "request": FORM}),
    (ev.InputRequested, {"key": HALF, "request": FORM}),
    (ev.InputRequested, {"key": "k", "request": {}}),
    (ev.InputRequested, {"key": "k", "request": [FORM]}),
    (ev.InputRequested, {"key": "k", "request": {"method": "ping", "params": {}}}),
    (ev.InputRequested, {"key": "k", "request": {"method": ["roots/list"]}}),
    (ev.InputRequested, {"key": "k", "request": {"method": "sampling/other", "params": {}}}),
    (ev.InputRequested, {"key": "k", "request": {"method": "sampling/createMessage"}}),
    (ev.InputRequested, {"key": "k", "request": {"method": "elicitation/create"}}),
    (ev.InputRequested, {"key": "k", "request": {"method": "roots/list", "params": []}}),
    (ev.InputRequested, {"key": "k", "request": question(mode="telepathy")}),
    (ev.InputRequested, {"key": "k", "request": question(mode=["form"])}),
    (ev.InputRequested, {"key": "k", "request": question(requestedSchema=True)}),
    (ev.InputRequested, {"key": "k", "request": question(message=None)}),
    (ev.InputRequested, {"key": "k", "request": question(default=float("nan"))}),
    (ev.InputRequested, {"key": "k", "request": without(FORM, "requestedSchema")}),
    (ev.InputRequested, {"key": "k", "request": without(FORM, "message")}),
    (ev.InputRequested, {"key": "k", "request": without(URL, "url")}),
    (ev.InputResponsesAccepted, {"responses": [1]}),
    (ev.InputResponsesAccepted, {"responses": {1: "one"}}),
    (ev.RetryRequested, {"error": {}}),
    (ev.RetryRequested, {"error": ERROR, "message": 5}),
    (ev.RetryRescheduled, {"at_ms": -1}),
    (ev.RetryRescheduled, {"at_ms": 1.5}),
    (ev.RetryRescheduled, {"at_ms": True}),
    (ev.TtlChanged, {"ttl_ms": 0}),
    (ev.TtlChanged, {"ttl_ms": -1}),
    (ev.TtlChanged, {"ttl_ms": "1"}),
    (ev.Completed, {"result": "done"}),
    (ev.Completed, {"result": None}),
    (ev.Failed, {"error": "no"}),
    (ev.Failed, {"error": {"code": "-32603", "message": "no"}}),
    (ev.Failed, {"error": {"code": True, "message": "no"}}),
    (ev.Failed, {"error": {"code": -32603}}),
    (ev.Failed, {"error": {**ERROR, "colour": "red"}}),
    (ev.Failed, {"error": {**ERROR, "data": object()}}),
    (ev.Failed, {"error": {**ERROR, "data": 10**5_000}}),
    (ev.Failed, {"error": 10**5_000}),
    (ev.Failed, {"error": {**ERROR, "data": float("inf")}}),
    (ev.Failed, {"error": ERROR, "message": 5}),
    (ev.Cancelled, {"message": 5}),
]


@pytest.mark.parametrize(("cls", "values"), WRONG)
def test_a_wrong_shape_is_refused_with_a_sentence(cls, values):
    with pytest.raises(InvalidValue) as refused:
        cls(**values)
    assert len(str(refused.value).split()) > 4


@pytest.mark.parametrize(("request_", "_kind"), KIND_OF)
def test_every_question_of_the_protocol_can_be_asked(request_, _kind):
    assert ev.InputRequested(key="k", request=request_).request is request_


@PROFILE
@given(json_values)
def test_no_json_value_as_a_question_raises_anything_else(value):
    for request in (value, {"method": value}, {"method": "elicitation/create", "params": value}, question(mode=value)):
        try:
            ev.InputRequested(key="k", request=request)
        except InvalidValue:
            continue
        assert request == question(mode="form") or request == question(mode="url", url="")


def test_optional_members_of_a_question_are_free():
    ev.InputRequested(key="k", request=question(requestedSchema={**OBJECT, "properties": {}}, more=1))
    ev.InputRequested(key="k", request={**SAMPLE, "params": {"anything": []}})


@PROFILE
@given(events, events)
def test_event_ids_are_given_if_not_named_and_never_twice(one, other):
    fresh = [ev.Progress(message="x").event_id for _ in range(3)]
    assert len(set(fresh)) == 3 and all(len(event_id) == 32 for event_id in fresh)
    assert (one == other) == (type(one) is type(other) and ev.event_to_map(one) == ev.event_to_map(other))
