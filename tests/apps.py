"""Applications for the system tests, served as `taskward serve apps:server`; the store comes by environment."""

import json
import os

from taskward import SHARED, ProtocolError, Retry, RetryPolicy, Server, TaskContext, ToolError

OK = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def say(name, measurements, metadata):
    """Print each instrumentation event as one line of JSON, for the test that started this process."""
    print(json.dumps({"event": name, **metadata, **measurements}), flush=True)


server = Server("test-app", version="1", store=os.environ["TASKWARD_STORE"], scope=SHARED, instrument=say)


@server.tool
def add(a: int, b: int = 1) -> dict:
    """Adds two numbers."""
    return {"sum": a + b}


@server.tool(task="optional")
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool(task="required")
def steps(ctx: TaskContext, count: int, seconds: float = 0.05) -> str:
    """Works in steps, cooperatively, and leaves a mark for each attempt and step."""
    for step in range(count):
        ctx.progress(f"attempt {ctx.attempt} step {step}")
        ctx.sleep(seconds)
    return f"attempt {ctx.attempt} did {count} steps"


@server.tool(task="optional")
def ask(ctx: TaskContext, question: str = "Go on?") -> str:
    """Asks its user."""
    answer = ctx.elicit("go", question, OK)
    return f"{answer.action} {answer.content.get('ok')}"


@server.tool(task="required")
def ask_twice(ctx: TaskContext) -> str:
    """Asks two things at once."""
    answers = ctx.elicit_all({"one": ("One?", OK), "two": ("Two?", OK)})
    return " ".join(str(answers[key].content["ok"]) for key in ("one", "two"))


@server.tool(task="optional")
def refuse() -> str:
    """Fails as a tool fails."""
    raise ToolError("the tool's own error")


@server.tool(task="optional")
def protocol_error() -> str:
    """Fails as a protocol fails."""
    raise ProtocolError(-31_000, "a protocol error", {"more": 1})


@server.tool(task="optional")
def crash() -> str:
    """Fails as nobody meant."""
    raise RuntimeError("secret detail")


@server.tool(task="required", retry=RetryPolicy.exact([50, 100]))
def flaky(ctx: TaskContext, succeed_on: int) -> str:
    """Asks for a retry until attempt `succeed_on`."""
    if ctx.attempt < succeed_on:
        raise Retry("not yet")
    return f"attempt {ctx.attempt}"


@server.tool(task="required")
def stubborn(ctx: TaskContext) -> str:
    """Works on although it is asked to stop, until it is stopped."""
    import gevent

    while True:
        gevent.sleep(0.01)
