"""The demo's application: two slow tools on LMDB. Read it as an example."""

import json
import os
from collections.abc import Mapping

from taskward import SHARED, Server, TaskContext

STEPS = 20
STEP_S = 0.15
QUESTION = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def say(name: str, measurements: Mapping[str, float], metadata: Mapping[str, str]) -> None:
    """Print each attempt's start for the one who started this server."""
    if name == "attempt_start":
        print(json.dumps({**metadata, **measurements}), flush=True)


server = Server(
    "taskward-demo",
    version="1",
    store=f"lmdb:{os.environ.get('TASKWARD_DEMO_STORE', 'demo-store')}",
    scope=SHARED,
    instrument=say,
)


@server.tool(task="required")
def publish_report(ctx: TaskContext, region: str) -> str:
    """Collects the report of one region, asks whether to publish it, and does so."""
    for percent in (25, 50, 75, 100):
        ctx.progress(f"collecting {region}: {percent} %")
        ctx.sleep(0.3)
    answer = ctx.elicit("approve", f"Publish the report of {region}?", QUESTION)
    if not answer.accepted or not answer.content["ok"]:
        return f"The report of {region} was not published."
    ctx.progress("publishing")
    ctx.sleep(0.5)
    return f"The report of {region} is published."


@server.tool(task="required")
def export_orders(ctx: TaskContext, year: int) -> str:
    """Exports the orders of one year, slowly."""
    for step in range(1, STEPS + 1):
        ctx.progress(f"attempt {ctx.attempt}: exporting {year}, part {step} of {STEPS}")
        ctx.sleep(STEP_S)
    return f"All {STEPS} parts of {year} are exported (attempt {ctx.attempt})."
