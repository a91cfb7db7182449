"""The WSGI callable: what it does with a request, whatever stands behind it, without a socket and without a tree."""

import io
import json

import pytest

from taskward.domain.json_value import JsonObject
from taskward.mcp.endpoint import Endpoint, Identity
from taskward.mcp.errors import WireError
from taskward.mcp.http import HttpEndpoint, NotRunning
from taskward.mcp.security import HostPolicy
from taskward.mcp.tools import ProtocolError, Retry, Tools

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Reply:
    def __init__(self, status, headers, body):
        self.status = int(status.split()[0])
        self.headers = dict(headers)
        self.body = body
        assert self.headers["Content-Length"] == str(len(body))

    @property
    def error(self):
        return json.loads(self.body)["error"]

    @property
    def result(self):
        return json.loads(self.body)["result"]


def post(app, body, *, length=True, **changes):
    """Send one POST; `changes` override members of the environ, `None` removes one."""
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/mcp",
        "CONTENT_TYPE": "application/json",
        "HTTP_HOST": "localhost",
        "wsgi.input": io.BytesIO(body),
        **({"CONTENT_LENGTH": str(len(body))} if length else {}),
        **changes,
    }
    started = []
    environ = {key: value for key, value in environ.items() if value is not None}
    answered = b"".join(app(environ, lambda *head: started.append(head)))
    [(status, headers)] = started
    return Reply(status, headers, answered)


def rpc(app, method, params=None, request_id=1, **changes):
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"_meta": META, **(params or {})}}
    named = {"HTTP_MCP_PROTOCOL_VERSION": "2026-07-28", "HTTP_MCP_METHOD": method}
    if "name" in (params or {}):
        named["HTTP_MCP_NAME"] = params["name"]
    return post(app, json.dumps(message).encode(), **{**named, **changes})


def serving(*functions, **options):
    """An application of these tools; plain calls need no task system."""
    tools = Tools()
    for fn in functions:
        tools.register(fn, name="tool")
    endpoint = Endpoint(Identity(name="x", version="1"), tools, None, ttl_ms=None)
    return HttpEndpoint(lambda: endpoint, hosts=HostPolicy(), **options)


def call(fn, arguments=None, **changes):
    return rpc(serving(fn), "tools/call", {"name": "tool", "arguments": arguments or {}}, **changes)


def raising(error):
    def fn():
        raise error

    return fn


# --- what a tool gives or raises, and JSON cannot carry


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("\ud800", "result.content[0].text holds half of a surrogate pair"),
        (float("nan"), "result.structuredContent is nan"),
        ({"a": [float("inf")]}, "result.structuredContent.a[0] is inf"),
        (2**64, "result.structuredContent is an integer beyond 64 bits"),
    ],
)
def test_a_result_that_json_cannot_carry_is_an_error_that_names_the_place(value, why):
    reply = call(lambda: value)
    assert reply.status == 200 and reply.error["code"] == -32603
    assert reply.error["message"].startswith(f"The tool's result cannot be sent: {why}")


@pytest.mark.parametrize("error", [ProtocolError(-1, "no", object()), Retry("no", data={1, 2}), RuntimeError("secret")])
def test_an_error_that_json_cannot_carry_is_masked(error):
    reply = call(raising(error))
    assert (reply.status, reply.error["code"]) == (200, -32603)
    assert "the server's log says why" in reply.error["message"] and b"secret" not in reply.body


def test_a_retry_of_a_plain_call_is_retryable():
    reply = call(raising(Retry("busy")))
    assert reply.status == 200
    assert reply.error == {"code": -32603, "message": "busy", "data": {"retryable": True}}


class Strange(Endpoint):
    """Stands for a bug anywhere below."""

    def __init__(self, answer):
        self._answer = answer

    def handle(self, request) -> JsonObject:
        return self._answer()


@pytest.mark.parametrize("answer", [lambda: {"x": object()}, lambda: 1 / 0, lambda: {"x": "\ud800"}])
def test_a_bug_below_is_an_internal_error_with_the_id_and_nothing_else(answer, caplog):
    reply = rpc(HttpEndpoint(lambda: Strange(answer), hosts=HostPolicy()), "tools/list", request_id="a")
    assert reply.status == 200 and reply.headers["Content-Type"] == "application/json"
    assert json.loads(reply.body) == {
        "jsonrpc": "2.0",
        "id": "a",
        "error": {"code": -32603, "message": "The server failed unexpectedly; its log says why."},
    }
    assert caplog.records[-1].exc_info


# --- what arrives


@pytest.mark.parametrize("value", ["1e999", "-1e999"])
def test_a_number_beyond_a_double_is_no_argument(value):
    def fn(a: float):
        return a

    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"_meta": META, "name": "tool", "arguments": {"a": 0.125}},
        }
    ).replace("0.125", value)
    named = {
        "HTTP_MCP_PROTOCOL_VERSION": "2026-07-28",
        "HTTP_MCP_METHOD": "tools/call",
        "HTTP_MCP_NAME": "tool",
    }
    result = post(serving(fn), body.encode(), **named).result
    assert result["isError"] is True and "finite" in result["content"][0]["text"]


@pytest.mark.parametrize("request_id", [0, -1, "", "ä😀", 2**70, 10**4_000])
def test_the_id_comes_back_as_it_was_sent(request_id):
    reply = rpc(serving(), "tools/list", request_id=request_id)
    assert json.loads(reply.body)["id"] == request_id and reply.result["tools"] == []
    refused = rpc(serving(), "nope", request_id=request_id)
    assert refused.status == 404 and json.loads(refused.body)["id"] == request_id


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"HTTP_ORIGIN": "http://[::1"}, 403),
        ({"HTTP_ORIGIN": "http://[zz]"}, 403),
        ({"HTTP_HOST": None}, 421),
        ({"CONTENT_TYPE": None}, 415),
        ({"CONTENT_TYPE": "application/jsonp"}, 415),
        ({"PATH_INFO": "/mcp/"}, 404),
        ({"REQUEST_METHOD": "OPTIONS"}, 405),
        ({"CONTENT_LENGTH": str(4 * 1024 * 1024 + 1)}, 413),
    ],
)
def test_what_http_refuses_is_a_plain_sentence_and_nothing_is_read(changes, status):
    reply = rpc(serving(), "tools/list", **changes, **{"wsgi.input": None})
    assert reply.status == status and reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.body.endswith(b".") and not reply.body.startswith(b"{")


@pytest.mark.parametrize(
    "changes",
    [
        {"PATH_INFO": ""},
        {"PATH_INFO": "/"},
        {"CONTENT_TYPE": "Application/JSON ; charset=utf-8"},
        {"CONTENT_LENGTH": ""},
        {"CONTENT_LENGTH": "²"},
        {"HTTP_ORIGIN": "http://localhost:3000"},
    ],
)
def test_what_http_lets_pass(changes):
    assert rpc(serving(), "tools/list", **changes).status == 200


def test_a_header_of_other_characters_is_a_mismatch():
    reply = call(lambda: 1, HTTP_MCP_NAME="=?base64?é?=")
    assert reply.status == 400 and reply.error["code"] == -32020


def test_a_name_is_asked_for_on_tasks_if_the_server_is_strict():
    for strict, code in ((False, -32021), (True, -32020)):
        reply = rpc(serving(require_mcp_name=strict), "tasks/get", {"taskId": "x"})
        assert reply.error["code"] == code


class Endless(io.RawIOBase):
    """A body without an end; counts what was read of it."""

    def __init__(self):
        self.count = 0

    def read(self, size=-1):
        self.count += size
        return b" " * size


def test_a_body_without_a_length_is_read_to_its_end_and_no_further_than_the_limit():
    app = serving(max_body_bytes=100_000)
    whole = json.dumps({"jsonrpc": "2.0", "method": "notifications/x", "params": {"pad": "x" * 90_000}}).encode()
    assert post(app, whole, length=False).status == 202
    endless = Endless()
    reply = post(app, b"", length=False, **{"wsgi.input": endless})
    assert reply.status == 413 and reply.error == {"code": -32600, "message": "A body has at most 100000 bytes."}
    assert endless.count <= 100_000 + 2 * 64 * 1024


def test_a_body_of_exactly_the_limit_is_read():
    body = json.dumps({"jsonrpc": "2.0", "method": "notifications/x"}).encode()
    assert post(serving(max_body_bytes=len(body)), body).status == 202
    assert post(serving(max_body_bytes=len(body) - 1), body).status == 413
    assert post(serving(max_body_bytes=len(body) - 1), body, length=False).status == 413


def test_a_notification_is_accepted_without_a_word():
    reply = post(serving(), b'{"jsonrpc":"2.0","method":"tools/list"}')
    assert (reply.status, reply.body) == (202, b"") and "Content-Type" not in reply.headers


# --- order


def not_running():
    raise NotRunning("Start it.")


def test_the_order_of_checks_from_the_outside_in():
    """Each request is wrong in all the ways that come after, too; the first one decides."""
    app = HttpEndpoint(not_running, hosts=HostPolicy(), require_mcp_name=True)
    message = {"jsonrpc": "2.0", "id": 1, "method": "nope", "params": {"_meta": {**META}}}

    def code(body, **changes):
        return post(app, json.dumps(body).encode(), **changes).error["code"]

    assert post(app, b"{", HTTP_MCP_METHOD="x").error["code"] == -32700
    assert code({**message, "jsonrpc": "1.0", "params": {}}) == -32600
    assert code({**message, "params": {}}) == -32602
    other = {**message, "params": {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "v999"}}}
    assert code(other, HTTP_MCP_PROTOCOL_VERSION="2026-07-28", HTTP_MCP_METHOD="nope") == -32020
    assert code(other, HTTP_MCP_PROTOCOL_VERSION="v999", HTTP_MCP_METHOD="other") == -32020
    assert code(other, HTTP_MCP_PROTOCOL_VERSION="v999", HTTP_MCP_METHOD="nope") == -32022
    last = rpc(app, "nope")
    assert last.status == 503
    assert last.error == {"code": -32603, "message": "Start it.", "data": {"retryable": True}}


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (-32700, 400),
        (-32600, 400),
        (-32601, 404),
        (-32602, 400),
        (-32603, 200),
        (-32020, 400),
        (-32021, 400),
        (-32022, 400),
        (-31_000, 400),
    ],
)
def test_each_code_has_its_http_status(code, status):
    def answer():
        raise WireError(code, "No.", {"more": 1})

    reply = rpc(HttpEndpoint(lambda: Strange(answer), hosts=HostPolicy()), "tools/list")
    assert reply.status == status and reply.error == {"code": code, "message": "No.", "data": {"more": 1}}
