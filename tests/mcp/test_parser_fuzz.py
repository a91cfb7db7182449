"""The parser under anything at all: it gives a request or refuses with a code of the protocol, no more."""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from taskward.mcp import codec
from taskward.mcp.envelope import Request, check_version, message_of, readable_id, request_of
from taskward.mcp.errors import WireError
from taskward.mcp.headers import check_method_header, check_name_header, check_version_header

FUZZ = settings(deadline=None, print_blob=True, derandomize=False, max_examples=200)
CODES = {-32700, -32600, -32602, -32020, -32022}
META = "io.modelcontextprotocol/"

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)


def mostly(value):
    """What belongs there three times out of four, else anything."""
    return st.one_of(st.just(value), st.just(value), st.just(value), anything)


def some(**fields):
    """An object of these members, each perhaps missing."""
    return st.fixed_dictionaries({}, optional=fields)


metas = st.fixed_dictionaries(
    {META + "protocolVersion": mostly("2026-07-28"), META + "clientCapabilities": mostly({})},
    optional={
        META + "clientInfo": mostly({"name": "x", "version": "1"}),
        META + "logLevel": mostly("info"),
        "progressToken": mostly(1),
    },
)
params = some(_meta=metas | mostly({}), name=mostly("add"), taskId=mostly("t1"), arguments=anything)
near_misses = some(
    jsonrpc=mostly("2.0"),
    id=mostly(1),
    method=st.sampled_from(["tools/call", "tasks/get", "server/discover"]) | mostly("initialize"),
    params=params | mostly({}),
    result=anything,
)
whole = st.fixed_dictionaries(
    {"jsonrpc": mostly("2.0"), "id": mostly(1), "method": mostly("tools/call"), "params": params}
)
header = st.none() | st.text(st.characters(max_codepoint=255), max_size=12) | st.just("tools/call")


def parse(body, environ):
    """Every rung from bytes to a `Request`, in order; gives the request, the notification, or the refusal."""
    value = None
    try:
        value = codec.decode(body)
        message = message_of(value)
        if "id" not in message:
            return message
        request = request_of(message, None)
        check_version_header(environ, request)
        check_method_header(environ, request)
        check_name_header(environ, request, strict=True)
        check_version(request)
    except WireError as refused:
        check_refusal(refused, value)
        return refused
    assert isinstance(request, Request) and readable_id(value) == request.id
    assert isinstance(request.params, dict) and isinstance(request.capabilities, dict)
    assert request.version == "2026-07-28" and isinstance(request.method, str)
    return request


def check_refusal(refused, value):
    assert refused.code in CODES and refused.http_status == 400 and refused.message.endswith(".")
    if refused.code == -32022:
        assert refused.data["supported"] == ["2026-07-28"] and isinstance(refused.data["requested"], str)
    answer = {"jsonrpc": "2.0", "id": readable_id(value), "error": refused.to_error()}
    assert json.loads(codec.encode(answer)) == answer


@FUZZ
@given(st.binary(max_size=60) | st.text(max_size=40).map(str.encode))
@example(b"")
@example(b"[" * 100_000)
@example(b'{"id":' * 300 + b"1")
@example(b"-" + b"9" * 5_000)
@example(b'{"id": 1e999}')
def test_arbitrary_bytes(body):
    parse(body, {})


@FUZZ
@given(anything)
@example({"jsonrpc": "2.0", "id": 10**4_000, "method": "x"})
@example({"jsonrpc": "2.0", "id": 1, "method": "\ud7ff\ue000", "params": {"_meta": {}}})
def test_arbitrary_json(value):
    parse(json.dumps(value).encode(), {})


@FUZZ
@given(near_misses | whole, header, header, header)
@example({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": {}, "name": "é"}}, None, None, "é")
def test_messages_that_are_nearly_right(value, version, method, name):
    named = {"HTTP_MCP_PROTOCOL_VERSION": version, "HTTP_MCP_METHOD": method, "HTTP_MCP_NAME": name}
    parse(json.dumps(value).encode(), {key: value for key, value in named.items() if value is not None})


@FUZZ
@given(st.data())
def test_a_whole_message_with_one_byte_changed(data):
    meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": meta, "name": "add"}}
    environ = {
        "HTTP_MCP_PROTOCOL_VERSION": "2026-07-28",
        "HTTP_MCP_METHOD": "tools/call",
        "HTTP_MCP_NAME": "add",
    }
    body = json.dumps(message).encode()
    assert isinstance(parse(body, environ), Request)
    place = data.draw(st.integers(0, len(body) - 1))
    parse(body[:place] + bytes([data.draw(st.integers(0, 255))]) + body[place + 1 :], environ)
