"""An application for `taskward serve`: one tool that reports, asks, and must not be lost.

taskward serve examples.reports:server --port 8080
"""

from taskward import SHARED, RetryPolicy, Server, TaskContext, ToolError

server = Server("reports", version="1.0", store="lmdb:reports-store", scope=SHARED)
APPROVAL = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@server.tool(task="required", retry=RetryPolicy.exponential(250, retries=5))
def quarterly_report(ctx: TaskContext, region: str) -> str:
    """Builds the quarterly report of one region."""
    for part in ("orders", "returns", "stock"):
        ctx.progress(f"collecting {part}")
        ctx.sleep(1.0)
    answer = ctx.elicit("approve", f"Publish the report of {region}?", APPROVAL)
    if not (answer.accepted and answer.content["ok"]):
        raise ToolError("The report was not approved.")
    return f"The report of {region} is published."
