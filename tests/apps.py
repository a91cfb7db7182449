"""Applications for the system tests, served as `taskward serve apps:server`; the store comes by environment."""

import json
import os

import mutants
from store_rig import refused_as_stale, worker_operations

from taskward import SHARED, ProtocolError, Retry, RetryPolicy, Server, TaskContext, ToolError
from taskward.stores.contract import Lease

mutants.install_from_environment()

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


def leak(ctx):
    """Say the lease of this attempt aloud, which nothing but a fault test would do."""
    lease = ctx._lease
    parts = [lease.store.hex(), lease.epoch, lease.generation, lease.nonce.hex(), lease.key.hex(), lease.task_id]
    print(json.dumps({"event": "lease", "parts": parts}), flush=True)


@server.tool(task="required")
def leaky_steps(ctx: TaskContext, count: int, seconds: float = 0.05) -> str:
    """Works in steps under a lease that everybody knows."""
    leak(ctx)
    return steps(ctx, count, seconds)


@server.tool(task="required")
def leaky_ask(ctx: TaskContext) -> str:
    """Asks its user under a lease that everybody knows."""
    leak(ctx)
    return ask(ctx)


@server.tool
def try_lease(parts: list) -> dict:
    """Tries every worker operation under a leaked lease, and tells which were not refused."""
    store, epoch, generation, nonce, key, task_id = parts
    lease = Lease(bytes.fromhex(store), epoch, generation, bytes.fromhex(nonce), bytes.fromhex(key), task_id)
    tried = {name: (op, server.system.store.execute(op)) for name, op in worker_operations(lease).items()}
    return {
        "tried": len(tried),
        "accepted": [name for name, (op, result) in tried.items() if not refused_as_stale(op, result)],
    }


@server.tool(task="required", retry=RetryPolicy.exact([2_000]))
def slow_retry(ctx: TaskContext) -> str:
    """Asks for a retry in two seconds, once."""
    if ctx.attempt == 1:
        raise Retry("not yet")
    return f"attempt {ctx.attempt}"


@server.tool(task="required")
def deaf() -> str:
    """Swallows every request to stop, and every kill."""
    import gevent

    while True:
        try:
            gevent.sleep(60)
        except BaseException:
            continue
