"""Core frames: discovery, tools, and the refusals that every request can meet."""

import pytest

DISCOVER = """
    POST /mcp
    Host: localhost:8080
    Content-Type: application/json
    Accept: application/json, text/event-stream
    MCP-Protocol-Version: 2026-07-28
    Mcp-Method: server/discover

    {"jsonrpc": "2.0", "id": "first", "method": "server/discover", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "literal", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}}}
    """

DISCOVERED = """
    200 OK
    Content-Type: application/json

    {"jsonrpc": "2.0", "id": "first", "result": {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
        "instructions": "Be brief.",
        "ttlMs": 60000,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "frames", "version": "1.0"}}}}
    """


def test_discover(wire):
    wire.exchange(DISCOVER, DISCOVERED)


def test_list_tools(wire):
    wire.exchange(
        """
        POST /mcp
        Host: localhost
        Content-Type: application/json
        MCP-Protocol-Version: 2026-07-28
        Mcp-Method: tools/list

        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}}}
        """,
        """
        200 OK
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": 2, "result": {
            "resultType": "complete",
            "tools": [
                {"name": "add", "description": "Adds.", "inputSchema": {
                    "type": "object",
                    "properties": {
                        "a": {"title": "A", "type": "integer"},
                        "b": {"title": "B", "type": "integer", "default": 1}},
                    "required": ["a"],
                    "additionalProperties": false}},
                {"name": "greet", "description": "Greets.", "inputSchema": {
                    "type": "object",
                    "properties": {"name": {"title": "Name", "type": "string"}},
                    "required": ["name"],
                    "additionalProperties": false}},
                {"name": "hold", "description": "Works until it is stopped.", "inputSchema": {
                    "type": "object", "properties": {}, "additionalProperties": false}},
                {"name": "ask", "description": "Asks two things at once.", "inputSchema": {
                    "type": "object", "properties": {}, "additionalProperties": false}},
                {"name": "refuse", "description": "Fails as a tool does.", "inputSchema": {
                    "type": "object", "properties": {}, "additionalProperties": false}},
                {"name": "break_down", "description": "Fails as a protocol does.", "inputSchema": {
                    "type": "object", "properties": {}, "additionalProperties": false}}],
            "ttlMs": 60000,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "frames", "version": "1.0"}}}}
        """,
    )


@pytest.mark.parametrize(
    ("capabilities", "tool", "arguments", "body"),
    [
        (
            '{"extensions": {"io.modelcontextprotocol/tasks": {}}}',
            "add",
            '{"a": 2, "b": 3}',
            '"content": [{"type": "text", "text": "{\\"sum\\":5}"}], "structuredContent": {"sum": 5}',
        ),
        ("{}", "greet", '{"name": "Ada"}', '"content": [{"type": "text", "text": "Hello, Ada!"}]'),
        ("{}", "refuse", "{}", '"content": [{"type": "text", "text": "No such region."}], "isError": true'),
        (
            "{}",
            "add",
            "{}",
            """
            "content": [{"type": "text", "text": "The arguments do not fit the tool's schema: a: Field required."}],
            "isError": true""",
        ),
    ],
)
def test_call_a_tool_at_once(wire, capabilities, tool, arguments, body):
    wire.exchange(
        f"""
        POST /mcp
        Host: 127.0.0.1:8080
        Content-Type: application/json; charset=utf-8
        MCP-Protocol-Version: 2026-07-28
        Mcp-Method: tools/call
        Mcp-Name: {tool}

        {{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {{"_meta": {{
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {capabilities}}},
            "name": "{tool}", "arguments": {arguments}}}}}
        """,
        f"""
        200 OK
        Content-Type: application/json

        {{"jsonrpc": "2.0", "id": 3, "result": {{"resultType": "complete", {body},
            "_meta": {{"io.modelcontextprotocol/serverInfo": {{"name": "frames", "version": "1.0"}}}}}}}}
        """,
    )


def test_a_call_that_ends_in_a_protocol_error(wire):
    wire.exchange(
        """
        POST /mcp
        Host: localhost
        Content-Type: application/json
        MCP-Protocol-Version: 2026-07-28
        Mcp-Method: tools/call
        Mcp-Name: break_down

        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}},
            "name": "break_down"}}
        """,
        """
        400 Bad Request
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": 4, "error": {
            "code": -31000, "message": "Out of order.", "data": {"since": "today"}}}
        """,
    )


def test_a_tool_that_must_be_a_task_names_the_extension(wire):
    wire.exchange(
        """
        POST /mcp
        Host: localhost
        Content-Type: application/json
        MCP-Protocol-Version: 2026-07-28
        Mcp-Method: tools/call
        Mcp-Name: hold

        {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}},
            "name": "hold", "arguments": {}}}
        """,
        """
        400 Bad Request
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": 5, "error": {
            "code": -32021,
            "message": "The tool 'hold' needs the Tasks extension: declare io.modelcontextprotocol/tasks in this request's client capabilities.",
            "data": {"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}}}
        """,  # noqa: E501 - a message is one line
    )


@pytest.mark.parametrize("method", ["tasks/result", "tasks/list", "ping", "initialize", "prompts/list"])
def test_a_method_that_is_not_served(wire, method):
    wire.exchange(
        f"""
        POST /mcp
        Host: localhost
        Content-Type: application/json
        MCP-Protocol-Version: 2026-07-28
        Mcp-Method: {method}

        {{"jsonrpc": "2.0", "id": 6, "method": "{method}", "params": {{"_meta": {{
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {{"extensions": {{"io.modelcontextprotocol/tasks": {{}}}}}}}},
            "taskId": "x"}}}}
        """,
        f"""
        404 Not Found
        Content-Type: application/json

        {{"jsonrpc": "2.0", "id": 6, "error": {{
            "code": -32601, "message": "The method '{method}' is not served here."}}}}
        """,
    )


def test_a_version_that_is_not_served(wire):
    wire.exchange(
        """
        POST /mcp
        Host: localhost
        Content-Type: application/json
        MCP-Protocol-Version: 2031-01-01
        Mcp-Method: server/discover

        {"jsonrpc": "2.0", "id": 7, "method": "server/discover", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2031-01-01",
            "io.modelcontextprotocol/clientCapabilities": {}}}}
        """,
        """
        400 Bad Request
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": 7, "error": {
            "code": -32022,
            "message": "Protocol version '2031-01-01' is not served; use 2026-07-28.",
            "data": {"supported": ["2026-07-28"], "requested": "2031-01-01"}}}
        """,
    )


def test_a_client_of_an_older_era(wire):
    wire.exchange(
        """
        POST /mcp
        Host: localhost
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}}
        """,
        """
        400 Bad Request
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": 0, "error": {
            "code": -32022,
            "message": "Protocol version '2025-11-25' is not served; use 2026-07-28.",
            "data": {"supported": ["2026-07-28"], "requested": "2025-11-25"}}}
        """,
    )


def test_a_header_that_does_not_repeat_the_body(wire):
    wire.exchange(
        """
        POST /mcp
        Host: localhost
        Content-Type: application/json
        MCP-Protocol-Version: 2026-07-28
        Mcp-Method: tools/call
        Mcp-Name: greet

        {"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}},
            "name": "add", "arguments": {"a": 1}}}
        """,
        """
        400 Bad Request
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": 8, "error": {
            "code": -32020, "message": "The header Mcp-Name does not match the body; they must be equal."}}
        """,
    )


# --- the life of the server

NOT_RUNNING = """
    503 Service Unavailable
    Content-Type: application/json

    {"jsonrpc": "2.0", "id": "first", "error": {
        "code": -32603,
        "message": "The task system is not running. Serve inside `with server.running():`.",
        "data": {"retryable": true}}}
    """


def test_a_server_that_is_not_running_says_what_to_call(idle_wire):
    idle_wire.exchange(DISCOVER, NOT_RUNNING)


def test_one_server_is_started_stopped_and_started_again(server, idle_wire):
    for _ in range(3):
        with server.running(drain_ms=0):
            idle_wire.exchange(DISCOVER, DISCOVERED)
            with pytest.raises(RuntimeError, match="running already"):
                server.start()
            idle_wire.exchange(DISCOVER, DISCOVERED)
        idle_wire.exchange(DISCOVER, NOT_RUNNING)
        server.stop()
