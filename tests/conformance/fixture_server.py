"""The server that the official conformance suite is run against: its fixture tools, on a real LMDB store.

python tests/conformance/fixture_server.py STORE_DIR [PORT]
"""

import sys

import gevent

from taskward import SHARED, ProtocolError, Server, TaskContext, ToolError
from taskward.serving import serve_forever

CONFIRM = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}

server = Server("conformance-fixture", version="1", store=f"lmdb:{sys.argv[1]}", scope=SHARED)


@server.tool
def greet(name: str) -> str:
    """Greets."""
    return f"Hello, {name}!"


@server.tool(task="optional")
def slow_compute(ctx: TaskContext, seconds: float, label: str = "") -> str:
    """Computes slowly."""
    ctx.sleep(seconds)
    return f"computed {label} in {seconds} s"


@server.tool(task="required")
def failing_job(ctx: TaskContext) -> str:
    """Fails as a tool does."""
    ctx.sleep(1)
    raise ToolError("This job always fails.")


@server.tool(task="optional")
def protocol_error_job() -> str:
    """Fails as a protocol does."""
    raise ProtocolError(-31_000, "This job ends in a protocol error.")


@server.tool(task="optional")
def confirm_delete(ctx: TaskContext, filename: str) -> str:
    """Asks before it deletes."""
    answer = ctx.elicit("confirm", f"Delete {filename}?", CONFIRM)
    return f"{filename}: {'deleted' if answer.content.get('confirm') else 'kept'}"


@server.tool(task="optional")
def multi_input(ctx: TaskContext) -> str:
    """Asks two things at once."""
    answers = ctx.elicit_all({"who": ("Who are you?", NAME), "sure": ("Are you sure?", CONFIRM)})
    return f"{answers['who'].content.get('name')}: {answers['sure'].content.get('confirm')}"


if __name__ == "__main__":
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    gevent.spawn(serve_forever, server, ("127.0.0.1", port), open_wait_ms=0, drain_ms=500).get()
