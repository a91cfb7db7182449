"""Bad input: each fault gets the error that the protocol names, the right HTTP status, and a sentence.

Literal bytes and headers; after every case the server still serves, and no task was made.
"""

import json

import pytest
from harness import VERSION, meta

HEADERS = {"Content-Type": "application/json", "MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/list"}


def envelope(**changes):
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": meta()}}
    return json.dumps({**body, **changes}).encode()


def without(key):
    return {"_meta": {name: value for name, value in meta().items() if not name.endswith(key)}}


def having(key, value):
    return {"_meta": {**meta(), f"io.modelcontextprotocol/{key}": value}}


MALFORMED = {
    "not json": (b"{", -32700, None),
    "not utf-8": (b'"\xff"', -32700, None),
    "nan": (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":NaN}}', -32700, None),
    "half a surrogate pair": (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', -32700, None),
    "too deep": (b"[" * 100_000, -32700, None),
    "empty": (b"", -32700, None),
    "a batch": (b"[" + envelope() + b"]", -32600, None),
    "a string": (b'"hello"', -32600, None),
    "no jsonrpc": (envelope(jsonrpc="1.0"), -32600, 7),
    "no method": (envelope(method=None), -32600, 7),
    "a response": (b'{"jsonrpc":"2.0","id":7,"result":{}}', -32600, 7),
    "a null id": (envelope(id=None), -32600, None),
    "a fractional id": (envelope(id=1.5), -32600, None),
    "a true id": (envelope(id=True), -32600, None),
    "params as a list": (envelope(params=[1]), -32600, 7),
    "no params": (b'{"jsonrpc":"2.0","id":7,"method":"tools/list"}', -32602, 7),
    "no _meta": (envelope(params={}), -32602, 7),
    "_meta as a list": (envelope(params={"_meta": []}), -32602, 7),
    "no version": (envelope(params=without("protocolVersion")), -32602, 7),
    "a numeric version": (envelope(params=having("protocolVersion", 1)), -32602, 7),
    "no capabilities": (envelope(params=without("clientCapabilities")), -32602, 7),
    "capabilities as a list": (envelope(params=having("clientCapabilities", [])), -32602, 7),
    "client info without a version": (envelope(params=having("clientInfo", {"name": "x"})), -32602, 7),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed(wire, case):
    body, code, request_id = MALFORMED[case]
    reply = wire.send(body, HEADERS)
    assert reply.status == 400 and reply.headers["Content-Type"] == "application/json"
    assert reply.error["code"] == code and reply.error["message"].endswith(".")
    assert reply.json.get("id") == request_id and ("id" in reply.json) == (request_id is not None)
    assert wire.rpc("tools/list").status == 200


def test_no_client_info_is_served(wire):
    assert wire.send(envelope(params=without("clientInfo")), HEADERS).status == 200


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("MCP-Protocol-Version", None),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Method", None),
        ("Mcp-Method", "TOOLS/CALL"),
        ("Mcp-Name", None),
        ("Mcp-Name", "echo"),
        ("Mcp-Name", "=?base64?YW!?="),
    ],
)
def test_a_header_that_does_not_repeat_the_body(wire, header, value):
    reply = wire.rpc("tools/call", {"name": "add", "arguments": {"a": 1}}, headers={header: value})
    assert reply.status == 400 and reply.error["code"] == -32020 and header in reply.error["message"]


def test_a_padded_and_an_encoded_name_are_accepted(wire):
    for value in ("  add ", "=?base64?YWRk?="):
        assert wire.rpc("tools/call", {"name": "add", "arguments": {"a": 1}}, headers={"Mcp-Name": value}).status == 200


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_task_name_may_be_missing_but_not_differ(wire, method):
    task_id = wire.create("ask")
    params = {"taskId": task_id, "inputResponses": {}}
    differing = wire.rpc(method, params, headers={"Mcp-Name": "another"})
    assert differing.status == 400 and differing.error["code"] == -32020
    assert wire.rpc(method, params, headers={"Mcp-Name": None}).status == 200


def test_an_unserved_version_is_named_with_what_is_served(wire):
    params = having("protocolVersion", "2031-01-01")
    reply = wire.rpc("tools/list", params, headers={"MCP-Protocol-Version": "2031-01-01"})
    assert reply.status == 400 and reply.error["code"] == -32022
    assert reply.error["data"] == {"supported": [VERSION], "requested": "2031-01-01"}


def test_the_headers_are_compared_before_the_version_is_judged(wire):
    assert wire.rpc("tools/list", having("protocolVersion", "v999")).error["code"] == -32020


@pytest.mark.parametrize("method", ["initialize", "ping", "tasks/list", "tasks/result", "logging/setLevel", "nope"])
def test_removed_and_unknown_methods(wire, method):
    reply = wire.rpc(method, {"taskId": "x"})
    assert reply.status == 404 and reply.error["code"] == -32601


def test_a_legacy_client_is_told_what_is_spoken_here(wire):
    body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}'
    reply = wire.send(body, {"Content-Type": "application/json"})
    assert reply.status == 400 and reply.error["code"] == -32022
    assert reply.error["data"] == {"supported": [VERSION], "requested": "2025-11-25"}


def test_a_notification_is_accepted_and_dropped(wire):
    reply = wire.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}', HEADERS)
    assert (reply.status, reply.body) == (202, b"")


def test_an_unknown_tool(wire):
    reply = wire.call("no_such_tool")
    assert reply.status == 400 and reply.error["code"] == -32602 and "'no_such_tool'" in reply.error["message"]


@pytest.mark.parametrize("params", [{"arguments": {}}, {"name": 1}, {"name": "add", "arguments": [1]}])
def test_a_malformed_call(wire, params):
    reply = wire.rpc("tools/call", params)
    assert reply.status == 400 and reply.error["code"] == -32602


@pytest.mark.parametrize("arguments", [{}, {"count": "many"}, {"count": 1, "colour": "red"}])
def test_arguments_against_the_schema_are_a_tool_error_and_make_no_task(wire, arguments):
    result = wire.call("steps", **arguments).result
    assert result["resultType"] == "complete" and result["isError"] is True
    assert "arguments do not fit" in result["content"][0]["text"]


@pytest.mark.parametrize("task_id", ["", "x", "v" * 36, "0" * 36, "Ä" * 36, "a" * 10_000])
@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_an_unknown_task_id(wire, method, task_id):
    params = {"taskId": task_id, "inputResponses": {}}
    reply = wire.rpc(method, params, headers={"Mcp-Name": None})
    assert reply.status == 400 and reply.error["code"] == -32602 and "no task with this id" in reply.error["message"]


@pytest.mark.parametrize("params", [{}, {"taskId": 5}])
def test_a_task_id_that_is_no_string(wire, params):
    assert wire.rpc("tasks/get", params).error["code"] == -32602


@pytest.mark.parametrize("responses", [None, [], "yes"])
def test_input_responses_that_are_no_object(wire, responses):
    task_id = wire.create("ask")
    params = {"taskId": task_id} if responses is None else {"taskId": task_id, "inputResponses": responses}
    assert wire.rpc("tasks/update", params).error["code"] == -32602


def test_a_body_over_the_limit(wire, server):
    reply = wire.send(b" " * (4 * 1024 * 1024 + 1), HEADERS)
    assert reply.status == 413
    assert server.wire().rpc("tools/list").status == 200


def test_work_over_its_limit_is_refused_and_makes_no_task(wire):
    reply = wire.call("echo", text="x" * (256 * 1024))
    assert reply.status == 400 and reply.error["code"] == -32602 and "at most 262144 bytes" in reply.error["message"]


@pytest.mark.parametrize("http_method", ["GET", "DELETE", "PUT"])
def test_only_post_is_served(wire, http_method):
    reply = wire.send(None, {}, http_method=http_method)
    assert reply.status == 405 and reply.headers["Allow"] == "POST"


def test_another_path(wire):
    assert wire.send(envelope(), HEADERS, path="/other").status == 404


def test_another_content_type(wire):
    assert wire.send(envelope(), {**HEADERS, "Content-Type": "text/plain"}).status == 415


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example.com"}, 421),
        ({"Origin": "http://evil.example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "localhost:1", "Origin": "http://127.0.0.1:9"}, 200),
        ({"Host": "[::1]:80"}, 200),
    ],
)
def test_host_and_origin(wire, headers, status):
    assert wire.send(envelope(), {**HEADERS, **headers}).status == status
