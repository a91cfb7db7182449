"""Answers are checked before anything of them is kept: one that does not fit its question applies nothing."""

import pytest

from taskward.mcp.answers import MAX_ANSWER_BYTES, check_answers
from taskward.mcp.errors import WireError

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
FORM = {"method": "elicitation/create", "params": {"mode": "form", "message": "?", "requestedSchema": SCHEMA}}
URL = {"method": "elicitation/create", "params": {"mode": "url", "message": "?", "url": "https://example.com"}}
SAMPLE = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
ROOTS = {"method": "roots/list"}

MESSAGE = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}


def accept(**content):
    return {"action": "accept", "content": content}


def form(schema):
    return {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": schema}}


def refused(request, answer, code=-32602):
    with pytest.raises(WireError) as caught:
        check_answers({"k": request}, {"k": answer})
    assert caught.value.code == code and "'k'" in caught.value.message
    return caught.value.message


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (FORM, accept(n=1)),
        (FORM, accept(n=2, more="x")),
        (FORM, {"action": "decline"}),
        (FORM, {"action": "cancel", "content": None}),
        (URL, {"action": "accept"}),
        (SAMPLE, MESSAGE),
        (ROOTS, {"roots": []}),
        (ROOTS, {"roots": [{"uri": "file:///tmp", "name": "tmp"}]}),
        (form({}), {"action": "accept"}),
        (form({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}), accept(n=1)),
    ],
)
def test_an_answer_that_fits(request_, answer):
    check_answers({"k": request_}, {"k": answer})


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (FORM, None),
        (FORM, "accept"),
        (FORM, []),
        (FORM, {}),
        (FORM, {"action": "shrug"}),
        (FORM, {"action": "accept"}),
        (FORM, accept()),
        (FORM, accept(n=0)),
        (FORM, accept(n="1")),
        (FORM, accept(n=True)),
        (FORM, {"action": "accept", "content": [1]}),
        (FORM, accept(n=2**63)),
        (FORM, accept(n=float("inf"))),
        (URL, {}),
        (SAMPLE, {**MESSAGE, "role": "nobody"}),
        (SAMPLE, {"role": "assistant"}),
        (ROOTS, {"roots": [{"uri": "https://example.com"}]}),
        (ROOTS, accept(n=1)),
    ],
)
def test_an_answer_that_does_not_fit(request_, answer):
    assert "does not fit its question: " in refused(request_, answer)


def test_the_fault_is_named_by_its_path():
    assert "$.n: 0 is less than the minimum of 1" in refused(FORM, accept(n=0))
    assert "action: " in refused(FORM, {"action": "shrug"})
    assert "inputResponses.k.content.n is an integer beyond 64 bits" in refused(FORM, accept(n=2**63))


def test_an_answer_has_a_longest_form():
    padding = MAX_ANSWER_BYTES - len('{"action":"accept","content":{"n":1,"t":""}}')
    check_answers({"k": FORM}, {"k": accept(n=1, t="x" * padding)})
    assert "at most 262144 bytes" in refused(FORM, accept(n=1, t="x" * (padding + 1)))


def test_only_outstanding_questions_are_looked_at():
    check_answers({"k": FORM}, {"other": "anything", "more": None})
    check_answers({}, {"k": object()})


def test_one_answer_that_does_not_fit_refuses_all():
    with pytest.raises(WireError, match="'b'"):
        check_answers({"a": FORM, "b": FORM}, {"a": accept(n=1), "b": accept(n=0)})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"properties": {"n": {"minimum": "1"}}},
        {"properties": {"n": {"pattern": "("}}},
        {"patternProperties": {"(": {}}},
        {"$ref": "#/$defs/nowhere"},
    ],
)
def test_a_question_whose_schema_is_none_says_that_the_tool_is_at_fault(schema):
    assert "schema" in refused(form(schema), accept(n="x"), code=-32603)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_schema_is_never_fetched_from_the_network(monkeypatch):
    opened = []
    monkeypatch.setattr("urllib.request.urlopen", lambda *args, **_: opened.append(args))
    assert "schema" in refused(form({"$ref": "http://127.0.0.1:1/schema"}), accept(n=1), code=-32603)
    assert opened == []
