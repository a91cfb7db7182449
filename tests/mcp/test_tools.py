"""One call of a tool: what its value becomes, and how its errors are split. Also what may be registered."""

import dataclasses
import datetime as dt
import enum

import mcp_types
import pydantic
import pytest

from taskward import Completed, Failed, ProtocolError, Retry, RetryPolicy, TaskContext, ToolError, Work
from taskward.domain.errors import NotBuilt
from taskward.mcp.call_context import CallContext
from taskward.mcp.signature import UnfitSignature
from taskward.mcp.tools import ToolExecutor, Tools, run
from taskward.supervision.attempts.context import InputNotDeclared

MASKED = Failed(
    {"code": -32603, "message": "The tool failed unexpectedly; the server's log says why."},
    "The tool failed unexpectedly; the server's log says why.",
)


class Colour(enum.Enum):
    RED = "red"


class Model(pydantic.BaseModel):
    at: dt.date
    more: list["Model"] = []


@dataclasses.dataclass
class Data:
    a: int


def called(fn, **arguments):
    return run(Tools().register(fn, name="tool"), arguments, CallContext())


def returning(value):
    return called(lambda: value)


def raising(error):
    def fn():
        raise error

    return called(fn)


@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        (0, "0", 0),
        (False, "false", False),
        (1.5, "1.5", 1.5),
        (2**60, "1152921504606846976", 2**60),
        ([], "[]", []),
        ((1, "ä"), '[1,"ä"]', [1, "ä"]),
        ({"a": {"b": None}}, '{"a":{"b":null}}', {"a": {"b": None}}),
        (Colour.RED, '"red"', "red"),
        (Data(1), '{"a":1}', {"a": 1}),
        (dt.date(2026, 7, 28), '"2026-07-28"', "2026-07-28"),
        (
            Model(at=dt.date(2026, 7, 28)),
            '{"at":"2026-07-28","more":[]}',
            {"at": "2026-07-28", "more": []},
        ),
        ([Model(at=dt.date(2026, 1, 1))], '[{"at":"2026-01-01","more":[]}]', [{"at": "2026-01-01", "more": []}]),
    ],
)
def test_a_value_is_structured_content_and_its_text(value, text, structured):
    outcome = returning(value)
    assert outcome == Completed(
        {
            "resultType": "complete",
            "content": [{"type": "text", "text": text}],
            "structuredContent": structured,
        }
    )
    assert type(outcome.result["structuredContent"]) is type(structured)
    mcp_types.CallToolResult.model_validate(outcome.result)


@pytest.mark.parametrize("value", ["", "plain", "ä😀\n"])
def test_a_string_is_text_and_nothing_structured(value):
    content = [{"type": "text", "text": value}]
    assert returning(value) == Completed({"resultType": "complete", "content": content})


def test_nothing_is_no_content():
    assert returning(None) == Completed({"resultType": "complete", "content": []})


def test_a_tool_error_is_a_result_that_says_so():
    content = [{"type": "text", "text": "no such region"}]
    assert raising(ToolError("no such region")) == Completed(
        {"resultType": "complete", "content": content, "isError": True}
    )


def test_refused_arguments_are_a_result_that_says_so():
    result = called(lambda a: a).result
    assert result["isError"] is True and "a: Field required" in result["content"][0]["text"]


@pytest.mark.parametrize("data", [None, {"k": [1]}, "x", 0, False])
def test_a_protocol_error_is_the_error_of_the_call(data):
    error = {"code": -31_000, "message": "no"} | ({} if data is None else {"data": data})
    assert raising(ProtocolError(-31_000, "no", data)) == Failed(error, "no")


def test_a_retry_passes_with_its_error():
    retry = Retry("busy", code=-5, data={"after": 1})
    outcome = raising(retry)
    assert outcome is retry and outcome.error == {"code": -5, "message": "busy", "data": {"after": 1}}


def test_a_question_that_a_plain_call_cannot_ask_names_the_extension():
    def fn(ctx: TaskContext):
        ctx.elicit("k", "Go on?", {})

    outcome = called(fn)
    assert outcome.error["code"] == -32021
    assert outcome.error["data"] == {"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}


def test_a_question_of_a_kind_that_was_not_declared_names_the_capability():
    outcome = raising(InputNotDeclared("elicitation.url"))
    assert outcome.error["code"] == -32021
    assert outcome.error["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}


@pytest.mark.parametrize("error", [RuntimeError("secret"), KeyError("secret"), RecursionError(), AssertionError()])
def test_any_other_exception_is_masked_and_logged(error, caplog):
    assert raising(error) == MASKED
    assert "tool tool failed" in caplog.text and caplog.records[-1].exc_info[1] is error


@pytest.mark.parametrize("value", [object(), b"\xff", {"k": object()}, lambda: None])
def test_a_value_that_is_no_json_is_masked_and_logged(value, caplog):
    assert returning(value) == MASKED
    assert "tool tool failed" in caplog.text


@pytest.mark.parametrize(
    "error",
    [
        ProtocolError(-1, "no", object()),
        ProtocolError(-1, "no", float("nan")),
        ProtocolError(-1, "no", "\ud800"),
        ProtocolError(-1, "no", 10**5_000),
        ProtocolError("-1", "no"),
        ProtocolError(True, "no"),
        ProtocolError(-1, RuntimeError("no")),
        Retry("no", data=object()),
        Retry("no", code=None),
        Retry(None),
    ],
)
def test_an_error_that_json_cannot_carry_is_masked_and_logged(error, caplog):
    assert raising(error) == MASKED
    assert "an error that JSON cannot carry" in caplog.text


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_a_stop_passes_through(stop):
    with pytest.raises(stop):
        raising(stop())


# --- registration


def test_a_tool_is_listed_as_it_was_registered_and_in_that_order():
    tools = Tools()

    def second(a: int):
        """Does it.

        At length.
        """

    tools.register(second)
    tools.register(lambda: None, name="a.first-1")
    assert tools.listing() == [
        {
            "name": "second",
            "description": "Does it.\n\nAt length.",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"title": "A", "type": "integer"}},
                "required": ["a"],
                "additionalProperties": False,
            },
        },
        {
            "name": "a.first-1",
            "description": "",
            "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        },
    ]
    for listed in tools.listing():
        mcp_types.Tool.model_validate(listed)
    assert tools.get("second").fn is second and tools.get("third") is None


@pytest.mark.parametrize("name", ["a b", "ä", "x" * 129, "a/b", "a\n", "<lambda>"])
def test_a_name_that_is_none_is_refused(name):
    tools = Tools()
    with pytest.raises(UnfitSignature, match="tool name"):
        tools.register(lambda: None, name=name)
    assert tools.listing() == []


def test_a_taken_name_is_refused_and_the_first_stays():
    tools = Tools()
    first = tools.register(lambda: 1, name="x")
    with pytest.raises(UnfitSignature, match="registered already"):
        tools.register(lambda: 2, name="x")
    assert tools.get("x") is first


def test_a_coroutine_function_is_refused():
    async def fn(): ...

    with pytest.raises(UnfitSignature, match="plain functions"):
        Tools().register(fn)


@pytest.mark.parametrize("options", [{"task": "sometimes"}, {"isolation": "thread"}, {"isolation": "process"}])
def test_what_is_not_built_says_so(options):
    with pytest.raises(NotBuilt, match="not built"):
        Tools().register(lambda: None, name="x", **options)


# --- the default executor


def work(name="double", type_="tools/call", **arguments):
    return Work(type=type_, input={"name": name, "arguments": arguments}, idempotency_key="t1")


def test_the_executor_runs_the_registered_tool_with_the_stored_arguments():
    tools = Tools()
    tools.register(lambda a: a * 2, name="double", retry=RetryPolicy.fixed(1, retries=1))
    executor = ToolExecutor(tools)
    assert executor.execute(work(a=4), CallContext()).result["structuredContent"] == 8
    assert executor.execute(work(), CallContext()).result["isError"] is True


@pytest.mark.parametrize("unknown", [work(name="halve", a=4), work(type_="report", a=4)])
def test_work_that_no_tool_runs_fails_with_a_sentence(unknown):
    tools = Tools()
    tools.register(lambda a: a * 2, name="double")
    outcome = ToolExecutor(tools).execute(unknown, CallContext())
    assert outcome.error["code"] == -32602 and unknown.type in outcome.message
