"""The demo's client: what any MCP client puts on the wire, and nothing of the server's code."""

import http.client
import json
import time
from collections.abc import Callable
from typing import Any

from taskward.domain.errors import TaskwardError

PREFIX = "io.modelcontextprotocol"
VERSION = "2026-07-28"
META = {
    f"{PREFIX}/protocolVersion": VERSION,
    f"{PREFIX}/clientInfo": {"name": "taskward-demo", "version": "1"},
    f"{PREFIX}/clientCapabilities": {"elicitation": {}, "extensions": {f"{PREFIX}/tasks": {}}},
}
TIMEOUT_S = 10.0
TERMINAL = frozenset({"completed", "failed", "cancelled"})


class CallFailed(TaskwardError):
    """The server refused a request of the demo."""


class Client:
    """One client of the demo server.

    Args:
        port: where the server listens on the loopback address.
    """

    def __init__(self, port: int) -> None:
        self._port = port

    def call_tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; give the `CreateTaskResult`."""
        return self._request("tools/call", {"name": name, "arguments": arguments}, name)

    def get(self, task_id: str) -> dict[str, Any]:
        """Look at a task."""
        return self._request("tasks/get", {"taskId": task_id}, task_id)

    def answer(self, task_id: str, responses: dict[str, Any]) -> None:
        """Answer a task's questions."""
        self._request("tasks/update", {"taskId": task_id, "inputResponses": responses}, task_id)

    def watch(
        self,
        task_id: str,
        show: Callable[[dict[str, Any]], None],
        until: Callable[[dict[str, Any]], bool],
        *,
        seconds: float,
    ) -> dict[str, Any]:
        """Poll at the task's own interval until a state is the one waited for.

        Args:
            task_id: the task.
            show: is shown each state.
            until: tells whether a state is the one waited for.
            seconds: how long to wait at most.

        Raises:
            CallFailed: the state did not come in time, or the task ended without it.
        """
        deadline = time.monotonic() + seconds
        while True:
            task = self.get(task_id)
            show(task)
            if until(task):
                return task
            if task["status"] in TERMINAL or time.monotonic() > deadline:
                raise CallFailed(f"The task ended or waited as {task['status']!r}, which was not expected.")
            time.sleep(task["pollIntervalMs"] / 1000)

    def _request(self, method: str, params: dict[str, Any], name: str) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": method,
            "Mcp-Name": name,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT_S)
        try:
            connection.request("POST", "/mcp", json.dumps(body), headers)
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if "error" in answer:
            raise CallFailed(f"{method} was refused: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result
