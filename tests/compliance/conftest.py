"""A server in the test's own process, on the memory store and a clock that stands still."""

import pytest

pytest.register_assert_rewrite("compliance.frames")

from compliance.frames import Wire  # noqa: E402 - after its asserts are rewritten

from taskward import SHARED, ProtocolError, Server, TaskContext, ToolError  # noqa: E402
from taskward.stores.clock import ManualClock  # noqa: E402

OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@pytest.fixture
def server():
    """The server, not yet started."""
    server = Server(
        "frames",
        version="1.0",
        store="memory:",
        scope=SHARED,
        instructions="Be brief.",
        ttl_ms=60_000,
        clock=ManualClock(1_800_000_000_000),
    )

    @server.tool
    def add(a: int, b: int = 1) -> dict:
        """Adds."""
        return {"sum": a + b}

    @server.tool(task="optional")
    def greet(name: str) -> str:
        """Greets."""
        return f"Hello, {name}!"

    @server.tool(task="required")
    def hold(ctx: TaskContext) -> str:
        """Works until it is stopped."""
        ctx.progress("half-way")
        ctx.sleep(3_600)
        return "never"

    @server.tool(task="required")
    def ask(ctx: TaskContext) -> str:
        """Asks two things at once."""
        answers = ctx.elicit_all({"one": ("One?", OK), "two": ("Two?", OK)})
        return " ".join(str(answers[key].content["ok"]) for key in ("one", "two"))

    @server.tool(task="optional")
    def refuse() -> str:
        """Fails as a tool does."""
        raise ToolError("No such region.")

    @server.tool(task="optional")
    def break_down() -> str:
        """Fails as a protocol does."""
        raise ProtocolError(-31_000, "Out of order.", {"since": "today"})

    return server


@pytest.fixture
def wire(server):
    """A client of the running server."""
    with server.running(drain_ms=0):
        yield Wire(server.wsgi)


@pytest.fixture
def idle_wire(server):
    """A client of the server, whether it runs or not."""
    return Wire(server.wsgi)
