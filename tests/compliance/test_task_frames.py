"""Frames of the Tasks extension: a handle, every status, the two acks, and the refusals."""

import pytest

from taskward import TaskContext

CALL = """
    POST /mcp
    Host: localhost
    Content-Type: application/json
    MCP-Protocol-Version: 2026-07-28
    Mcp-Method: tools/call
    Mcp-Name: {tool}

    {{"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {{"_meta": {{
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {{"name": "literal", "version": "1"}},
        "io.modelcontextprotocol/clientCapabilities": {{
            "elicitation": {{}}, "extensions": {{"io.modelcontextprotocol/tasks": {{}}}}}}}},
        "name": "{tool}", "arguments": {arguments}}}}}
    """

CREATED = """
    200 OK
    Content-Type: application/json

    {"jsonrpc": "2.0", "id": 10, "result": {
        "resultType": "task",
        "taskId": "<task>",
        "status": "working",
        "createdAt": "2027-01-15T08:00:00.000Z",
        "lastUpdatedAt": "2027-01-15T08:00:00.000Z",
        "ttlMs": 60000,
        "pollIntervalMs": 100,
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "frames", "version": "1.0"}}}}
    """

GET = """
    POST /mcp
    Host: localhost
    Content-Type: application/json
    MCP-Protocol-Version: 2026-07-28
    Mcp-Method: tasks/get
    Mcp-Name: <task>

    {"jsonrpc": "2.0", "id": 11, "method": "tasks/get", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}},
        "taskId": "<task>"}}
    """

GOT = """
    200 OK
    Content-Type: application/json

    {{"jsonrpc": "2.0", "id": 11, "result": {{
        "resultType": "complete",
        "taskId": "<task>",
        "status": {status},
        "createdAt": "2027-01-15T08:00:00.000Z",
        "lastUpdatedAt": "2027-01-15T08:00:00.000Z",
        "ttlMs": 60000,
        "pollIntervalMs": 100,
        "_meta": {{"io.modelcontextprotocol/serverInfo": {{"name": "frames", "version": "1.0"}}}}}}}}
    """

UPDATE = """
    POST /mcp
    Host: localhost
    Content-Type: application/json
    MCP-Protocol-Version: 2026-07-28
    Mcp-Method: tasks/update
    Mcp-Name: <task>

    {{"jsonrpc": "2.0", "id": "u", "method": "tasks/update", "params": {{"_meta": {{
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {{"extensions": {{"io.modelcontextprotocol/tasks": {{}}}}}}}},
        "taskId": "<task>", "inputResponses": {responses}}}}}
    """

UPDATED = """
    200 OK
    Content-Type: application/json

    {"jsonrpc": "2.0", "id": "u", "result": {
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "frames", "version": "1.0"}}}}
    """

CANCEL = """
    POST /mcp
    Host: localhost
    Content-Type: application/json
    MCP-Protocol-Version: 2026-07-28
    Mcp-Method: tasks/cancel
    Mcp-Name: <task>

    {"jsonrpc": "2.0", "id": 12, "method": "tasks/cancel", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}},
        "taskId": "<task>"}}
    """

CANCEL_ACK = """
    200 OK
    Content-Type: application/json

    {"jsonrpc": "2.0", "id": 12, "result": {
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "frames", "version": "1.0"}}}}
    """


def create(wire, tool, arguments="{}"):
    wire.exchange(CALL.format(tool=tool, arguments=arguments), CREATED)


def got(status):
    return GOT.format(status=status)


def question(message):
    return f"""{{"method": "elicitation/create", "params": {{
        "mode": "form", "message": "{message}", "requestedSchema": {{
            "type": "object", "properties": {{"ok": {{"type": "boolean"}}}}, "required": ["ok"]}}}}}}"""


def test_working(wire):
    create(wire, "hold")
    wire.exchange_until(GET, got('"working", "statusMessage": "half-way"'))


def test_input_required_with_every_outstanding_question_then_the_rest_then_completed(wire):
    create(wire, "ask")
    both = f'"input_required", "inputRequests": {{"one": {question("One?")}, "two": {question("Two?")}}}'
    wire.exchange_until(GET, got(both))
    wire.exchange(UPDATE.format(responses='{"one": {"action": "accept", "content": {"ok": true}}}'), UPDATED)
    wire.exchange(GET, got(f'"input_required", "inputRequests": {{"two": {question("Two?")}}}'))
    wire.exchange(UPDATE.format(responses='{"two": {"action": "accept", "content": {"ok": false}}}'), UPDATED)
    text = '{"type": "text", "text": "True False"}'
    wire.exchange_until(GET, got(f'"completed", "result": {{"resultType": "complete", "content": [{text}]}}'))


@pytest.mark.parametrize("responses", ["{}", '{"unknown-key": {"ignored": true}}'])
def test_an_update_that_answers_nothing_is_acked(wire, responses):
    create(wire, "hold")
    wire.exchange(UPDATE.format(responses=responses), UPDATED)


def test_an_answer_that_does_not_fit_is_refused_and_nothing_is_applied(wire):
    create(wire, "ask")
    both = f'"input_required", "inputRequests": {{"one": {question("One?")}, "two": {question("Two?")}}}'
    wire.exchange_until(GET, got(both))
    wire.exchange(
        UPDATE.format(
            responses='{"one": {"action": "accept", "content": {"ok": true}}, "two": {"action": "accept"}}',
        ),
        """
        400 Bad Request
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": "u", "error": {
            "code": -32602,
            "message": "The answer under 'two' does not fit its question: $: 'ok' is a required property"}}
        """,
    )
    wire.exchange(GET, got(both))


def test_completed(wire):
    create(wire, "greet", '{"name": "Ada"}')
    text = '{"type": "text", "text": "Hello, Ada!"}'
    wire.exchange_until(GET, got(f'"completed", "result": {{"resultType": "complete", "content": [{text}]}}'))


def test_completed_with_the_tools_own_error(wire):
    create(wire, "refuse")
    wire.exchange_until(
        GET,
        got("""
            "completed", "result": {
                "resultType": "complete", "content": [{"type": "text", "text": "No such region."}], "isError": true}
        """),
    )


def test_failed(wire):
    create(wire, "break_down")
    wire.exchange_until(
        GET,
        got("""
            "failed", "statusMessage": "Out of order.", "error": {
                "code": -31000, "message": "Out of order.", "data": {"since": "today"}}
        """),
    )


@pytest.mark.parametrize("request_", [{}, {"method": "ping"}, {"method": "elicitation/create", "params": {}}])
def test_a_question_that_no_client_could_answer_fails_the_task_and_is_not_kept(server, wire, request_):
    @server.tool(task="required")
    def misask(ctx: TaskContext) -> str:
        """Asks what is no question."""
        return ctx.await_input("k", request_)

    create(wire, "misask")
    wire.exchange_until(
        GET,
        got("""
            "failed", "statusMessage": "The tool failed unexpectedly; the server's log says why.", "error": {
                "code": -32603, "message": "The tool failed unexpectedly; the server's log says why."}
        """),
    )


def test_a_question_whose_schema_is_none_blames_the_tool_and_not_the_answer(server, wire):
    @server.tool(task="required")
    def misask(ctx: TaskContext) -> str:
        """Asks with a schema that is none."""
        return ctx.elicit("k", "Well?", {"type": "nonsense"}).action

    create(wire, "misask")
    asked = """
        "input_required", "inputRequests": {"k": {"method": "elicitation/create", "params": {
            "mode": "form", "message": "Well?", "requestedSchema": {"type": "nonsense"}}}}
    """
    wire.exchange_until(GET, got(asked))
    wire.exchange(
        UPDATE.format(responses='{"k": {"action": "accept", "content": {}}}'),
        """
        200 OK
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": "u", "error": {
            "code": -32603,
            "message": "The question under 'k' has a schema that no answer can be checked against."}}
        """,
    )
    wire.exchange(UPDATE.format(responses='{"k": {"action": "decline"}}'), UPDATED)
    text = '{"type": "text", "text": "decline"}'
    wire.exchange_until(GET, got(f'"completed", "result": {{"resultType": "complete", "content": [{text}]}}'))


def test_cancelled_and_cancelled_again(wire):
    create(wire, "hold")
    cancelled = got('"cancelled", "statusMessage": "Cancelled by its client."')
    for _ in range(2):
        wire.exchange(CANCEL, CANCEL_ACK)
        wire.exchange(GET, cancelled)
    wire.exchange(UPDATE.format(responses='{"one": {"action": "decline"}}'), UPDATED)
    wire.exchange(GET, cancelled)


# --- refusals

REFUSED = """
    POST /mcp
    Host: localhost
    Content-Type: application/json
    MCP-Protocol-Version: 2026-07-28
    Mcp-Method: {method}
    Mcp-Name: {name}

    {{"jsonrpc": "2.0", "id": 13, "method": "{method}", "params": {{"_meta": {{
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {capabilities}}},
        "taskId": "{task_id}", "inputResponses": {{}}}}}}
    """

DECLARED = '{"extensions": {"io.modelcontextprotocol/tasks": {}}}'
UNKNOWN = ("no-such-task", "000000000000000000000000000000000000")
TASK_METHODS = ("tasks/get", "tasks/update", "tasks/cancel")


@pytest.mark.parametrize("method", TASK_METHODS)
@pytest.mark.parametrize("task_id", UNKNOWN)
def test_an_unknown_task(wire, method, task_id):
    wire.exchange(
        REFUSED.format(method=method, name=task_id, task_id=task_id, capabilities=DECLARED),
        """
        400 Bad Request
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": 13, "error": {
            "code": -32602, "message": "There is no task with this id: it is unknown, or its time is over."}}
        """,
    )


@pytest.mark.parametrize("method", TASK_METHODS)
@pytest.mark.parametrize("capabilities", ["{}", '{"elicitation": {}, "tasks": {}, "extensions": {}}'])
def test_a_caller_that_does_not_declare_the_extension(wire, method, capabilities):
    create(wire, "hold")
    for task_id in ("<task>", "no-such-task"):
        wire.exchange(
            REFUSED.format(method=method, name=task_id, task_id=task_id, capabilities=capabilities),
            f"""
            400 Bad Request
            Content-Type: application/json

            {{"jsonrpc": "2.0", "id": 13, "error": {{
                "code": -32021,
                "message": "`{method}` needs the Tasks extension: declare io.modelcontextprotocol/tasks in this request's client capabilities.",
                "data": {{"requiredCapabilities": {{"extensions": {{"io.modelcontextprotocol/tasks": {{}}}}}}}}}}}}
            """,  # noqa: E501 - a message is one line
        )


@pytest.mark.parametrize("method", TASK_METHODS)
def test_a_name_that_is_not_the_task(wire, method):
    create(wire, "hold")
    wire.exchange(
        REFUSED.format(method=method, name="another", task_id="<task>", capabilities=DECLARED),
        """
        400 Bad Request
        Content-Type: application/json

        {"jsonrpc": "2.0", "id": 13, "error": {
            "code": -32020, "message": "The header Mcp-Name does not match the body; they must be equal."}}
        """,
    )
    wire.exchange_until(GET, got('"working", "statusMessage": "half-way"'))


def test_a_task_is_forgotten_with_the_memory_store_it_was_in(server, idle_wire):
    with server.running(drain_ms=0):
        create(idle_wire, "hold")
    with server.running(drain_ms=0):
        idle_wire.exchange(
            GET,
            """
            400 Bad Request
            Content-Type: application/json

            {"jsonrpc": "2.0", "id": 11, "error": {
                "code": -32602, "message": "There is no task with this id: it is unknown, or its time is over."}}
            """,
        )
        create(idle_wire, "hold")
        idle_wire.exchange_until(GET, got('"working", "statusMessage": "half-way"'))
