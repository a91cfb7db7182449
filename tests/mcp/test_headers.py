"""The routing headers repeat the body, or the request is refused with -32020."""

import base64
import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taskward.mcp.envelope import Request
from taskward.mcp.errors import WireError
from taskward.mcp.headers import check_method_header, check_name_header, check_version_header, decode_value

FUZZ = settings(deadline=None, print_blob=True, derandomize=False, max_examples=100)
TASK_METHODS = ("tasks/get", "tasks/update", "tasks/cancel")


def request(method="tools/call", **params):
    return Request(id=1, method=method, params=params, version="2026-07-28", capabilities={})


def refusal(check, environ, asked, **options):
    with pytest.raises(WireError) as refused:
        check(environ, asked, **options)
    assert (refused.value.code, refused.value.http_status) == (-32020, 400)
    return refused.value.message


@pytest.mark.parametrize(
    ("check", "key", "value", "name"),
    [
        (check_version_header, "HTTP_MCP_PROTOCOL_VERSION", "2026-07-28", "MCP-Protocol-Version"),
        (check_method_header, "HTTP_MCP_METHOD", "tools/call", "Mcp-Method"),
    ],
)
def test_version_and_method_are_required_and_repeat_the_body(check, key, value, name):
    for accepted in (value, f"  {value}\t"):
        check({key: accepted}, request())
    assert name in refusal(check, {}, request())
    for wrong in ("", value.upper() + "x", f"{value},{value}", value[:-1]):
        assert name in refusal(check, {key: wrong}, request())


def test_the_method_is_compared_in_its_case():
    refusal(check_method_header, {"HTTP_MCP_METHOD": "TOOLS/CALL"}, request())


@pytest.mark.parametrize("value", ["add", " add\t", "=?base64?YWRk?="])
def test_a_name_that_repeats_the_body(value):
    check_name_header({"HTTP_MCP_NAME": value}, request(name="add"), strict=True)


@pytest.mark.parametrize("value", ["", "Add", "ad", "add,add", "=?base64?YWRk", "YWRk?=", "=?BASE64?YWRk?="])
def test_a_name_that_does_not(value):
    refusal(check_name_header, {"HTTP_MCP_NAME": value}, request(name="add"), strict=False)


@pytest.mark.parametrize("strict", [False, True])
def test_a_missing_name_of_a_tool_is_refused(strict):
    assert "missing" in refusal(check_name_header, {}, request(name="add"), strict=strict)


@pytest.mark.parametrize("method", TASK_METHODS)
def test_a_missing_name_of_a_task_is_forgiven_unless_strict(method):
    asked = request(method, taskId="t1")
    check_name_header({}, asked, strict=False)
    refusal(check_name_header, {}, asked, strict=True)
    refusal(check_name_header, {"HTTP_MCP_NAME": "t2"}, asked, strict=False)
    check_name_header({"HTTP_MCP_NAME": "t1"}, asked, strict=True)


@pytest.mark.parametrize(
    "asked", [request(), request(name=5), request("tasks/get", name="x"), request("tools/list", name="x")]
)
def test_what_the_body_does_not_name_is_left_to_the_check_of_params(asked):
    check_name_header({}, asked, strict=True)
    check_name_header({"HTTP_MCP_NAME": "anything"}, asked, strict=True)


@pytest.mark.parametrize(
    "value",
    ["=?base64?YW!?=", "=?base64?YWR?=", "=?base64?YWRk=?=", "=?base64?YWR=?=", "=?base64?YW Rk?=", "=?base64?/w==?="],
)
def test_a_sentinel_that_holds_no_base64_of_utf_8_is_refused(value):
    with pytest.raises(WireError) as refused:
        decode_value("Mcp-Name", value)
    assert refused.value.code == -32020 and "Mcp-Name" in refused.value.message


@pytest.mark.parametrize("value", ["", "add", "=?base64?", "?=", "=?base64?=", "=?base64?YWRk", "YWRk?=", "=?q?YWRk?="])
def test_what_is_no_whole_sentinel_is_a_literal(value):
    assert decode_value("Mcp-Name", value) == value


@FUZZ
@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("")
@example("ä😀")
@example("=?base64?YWRk?=")
def test_any_text_travels_in_a_sentinel(text):
    assert decode_value("Mcp-Name", f"=?base64?{base64.b64encode(text.encode()).decode()}?=") == text


latin = st.text(st.characters(max_codepoint=255), max_size=20)


@FUZZ
@given(latin, latin, st.sampled_from(["{}", "=?base64?{}?="]))
@example("é", "add", "=?base64?{}?=")
@example("²", "add", "=?base64?{}?=")
def test_no_header_raises_anything_but_a_mismatch(value, name, form):
    environ, asked = {"HTTP_MCP_NAME": form.format(value)}, request(name=name)
    if environ["HTTP_MCP_NAME"].strip(" \t") == name and form == "{}" and not name.startswith("=?"):
        check_name_header(environ, asked, strict=True)
    elif form == "{}":
        refusal(check_name_header, environ, asked, strict=True)
    else:
        with contextlib.suppress(WireError):
            check_name_header(environ, asked, strict=True)
