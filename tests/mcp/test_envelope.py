"""The envelope: outer shape, `_meta`, version, in this order, and each fault with the code of the protocol."""

import pytest

from taskward.mcp.envelope import Request, check_version, message_of, readable_id, request_of
from taskward.mcp.errors import WireError

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
META = {VERSION: "2026-07-28", CAPABILITIES: {}}
MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


def with_meta(**changes):
    meta = {**META, **changes}
    return {**MESSAGE, "params": {"_meta": {key: value for key, value in meta.items() if value is not ...}}}


def read(value):
    """The rungs that need no HTTP, in their order."""
    request = request_of(message_of(value), "alice")
    check_version(request)
    return request


def refused(value):
    with pytest.raises(WireError) as caught:
        read(value)
    assert caught.value.http_status == 400 and caught.value.message.endswith(".")
    return caught.value


@pytest.mark.parametrize("request_id", [0, 1, -7, "", "x", 2**70])
def test_a_whole_request_is_read(request_id):
    request = read({**MESSAGE, "id": request_id})
    assert request == Request(
        id=request_id,
        method="tools/list",
        params=MESSAGE["params"],
        version="2026-07-28",
        capabilities={},
        principal="alice",
    )


@pytest.mark.parametrize("value", [None, 1, "x", True, [], [MESSAGE], {}])
def test_no_message_at_all(value):
    assert refused(value).code == -32600


@pytest.mark.parametrize(
    "changes",
    [
        {"jsonrpc": None},
        {"jsonrpc": 2.0},
        {"jsonrpc": "2"},
        {"method": 1},
        {"id": None},
        {"id": 1.0},
        {"id": True},
        {"id": [1]},
        {"params": None},
        {"params": []},
    ],
)
def test_a_wrong_outer_shape(changes):
    assert refused({**MESSAGE, **changes}).code == -32600


def test_a_response_is_no_message_for_a_server():
    assert refused({"jsonrpc": "2.0", "id": 1, "result": {}}).code == -32600


def test_a_message_without_an_id_is_a_notification_whatever_else_it_lacks():
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    assert message_of(note) is note


@pytest.mark.parametrize(
    ("value", "request_id"),
    [({"id": 5}, 5), ({"id": "x"}, "x"), ({"id": ""}, ""), ({"id": 0}, 0)]
    + [({"id": wrong}, None) for wrong in (None, True, 1.5, [], {})]
    + [(other, None) for other in ({}, [], None, "id", 7)],
)
def test_the_id_is_read_from_whatever_was_sent(value, request_id):
    assert readable_id(value) == request_id and type(readable_id(value)) is type(request_id)


WRONG_META = {
    "a version that is no string": {VERSION: 20260728},
    "no version": {VERSION: ...},
    "capabilities that are no object": {CAPABILITIES: []},
    "null capabilities": {CAPABILITIES: None},
    "no capabilities": {CAPABILITIES: ...},
    "a client that is no object": {CLIENT: "me"},
    "a null client": {CLIENT: None},
    "a client without a name": {CLIENT: {"version": "1"}},
    "a client with a numeric version": {CLIENT: {"name": "x", "version": 1}},
    "a true progress token": {"progressToken": True},
    "a fractional progress token": {"progressToken": 1.5},
    "a null progress token": {"progressToken": None},
    "an unknown log level": {LOG_LEVEL: "loud"},
    "a log level that is no string": {LOG_LEVEL: ["debug"]},
}


@pytest.mark.parametrize("case", WRONG_META)
def test_a_wrong_meta(case):
    assert refused(with_meta(**WRONG_META[case])).code == -32602


@pytest.mark.parametrize("params", [{}, {"_meta": None}, {"_meta": []}, {"_meta": "x"}])
def test_no_meta(params):
    assert refused({**MESSAGE, "params": params}).code == -32602
    assert refused({key: value for key, value in MESSAGE.items() if key != "params"}).code == -32602


@pytest.mark.parametrize(
    "meta",
    [
        {CLIENT: {"name": "x", "version": "1", "title": "X"}},
        {"progressToken": 0},
        {"progressToken": "t"},
        {LOG_LEVEL: "emergency"},
        {"traceparent": "00-1", "com.example/own": [1]},
    ],
)
def test_what_is_optional_is_served(meta):
    assert read(with_meta(**meta)).method == "tools/list"


def test_an_unserved_version_names_what_is_served():
    error = refused(with_meta(**{VERSION: "2099-01-01"}))
    assert error.to_error() == {
        "code": -32022,
        "message": "Protocol version '2099-01-01' is not served; use 2026-07-28.",
        "data": {"supported": ["2026-07-28"], "requested": "2099-01-01"},
    }


def test_the_order_of_checks_is_shape_then_meta_then_version():
    everything_wrong = {"jsonrpc": "1.0", "id": 1, "method": "x", "params": {"_meta": {VERSION: "v999"}}}
    assert refused(everything_wrong).code == -32600
    assert refused({**everything_wrong, "jsonrpc": "2.0"}).code == -32602
    assert refused(with_meta(**{VERSION: "v999"})).code == -32022


@pytest.mark.parametrize(
    ("capabilities", "declares"),
    [
        ({}, False),
        ({"extensions": {}}, False),
        ({"extensions": []}, False),
        ({"tasks": {}}, False),
        ({"extensions": {"io.modelcontextprotocol/tasks": {}}}, True),
        ({"extensions": {"io.modelcontextprotocol/tasks": {"more": 1}}}, True),
    ],
)
def test_tasks_are_declared_by_the_extension_and_by_nothing_else(capabilities, declares):
    assert read(with_meta(**{CAPABILITIES: capabilities})).declares_tasks is declares
