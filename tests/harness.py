"""What the system tests stand on: a real server in a process of its own, and a plain HTTP client.

The client builds requests by hand, never with the project's own code: it is the other side.
"""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PREFIX = "io.modelcontextprotocol"
TASKS = f"{PREFIX}/tasks"
VERSION = "2026-07-28"
TERMINAL = {"completed", "failed", "cancelled"}
ROOT = Path(__file__).resolve().parent.parent
START_S = 20.0


def meta(*, tasks=True, **capabilities):
    """The `_meta` of one request."""
    if tasks:
        capabilities["extensions"] = {TASKS: {}}
    return {
        f"{PREFIX}/protocolVersion": VERSION,
        f"{PREFIX}/clientInfo": {"name": "test", "version": "1"},
        f"{PREFIX}/clientCapabilities": capabilities,
    }


class Reply:
    """One HTTP answer."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def result(self):
        answer = self.json
        assert "error" not in answer, answer
        return answer["result"]

    @property
    def error(self):
        return self.json["error"]


class Wire:
    """A client on one kept-alive connection."""

    def __init__(self, port, host="127.0.0.1", timeout=20.0):
        self.port = port
        self._connection = http.client.HTTPConnection(host, port, timeout=timeout)

    def close(self):
        self._connection.close()

    def send(self, body, headers=None, *, http_method="POST", path="/mcp"):
        """Send raw bytes with raw headers."""
        self._connection.request(http_method, path, body, headers or {})
        response = self._connection.getresponse()
        return Reply(response.status, response.headers, response.read())

    def rpc(self, method, params=None, *, tasks=True, request_id=1, headers=None, **capabilities):
        """Send one well-formed request; `headers` override, `None` removes one."""
        params = {"_meta": meta(tasks=tasks, **(capabilities or {"elicitation": {}})), **(params or {})}
        body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": method,
        }
        name = params.get("taskId") if method.startswith("tasks/") else params.get("name")
        if isinstance(name, str):
            sent["Mcp-Name"] = name
        sent.update(headers or {})
        return self.send(json.dumps(body), {key: value for key, value in sent.items() if value is not None})

    def call(self, tool, _tasks=True, **arguments):
        return self.rpc("tools/call", {"name": tool, "arguments": arguments}, tasks=_tasks)

    def create(self, tool, **arguments):
        result = self.call(tool, **arguments).result
        assert result["resultType"] == "task", result
        return result["taskId"]

    def get(self, task_id):
        return self.rpc("tasks/get", {"taskId": task_id}).result

    def update(self, task_id, **responses):
        return self.rpc("tasks/update", {"taskId": task_id, "inputResponses": responses})

    def cancel(self, task_id):
        return self.rpc("tasks/cancel", {"taskId": task_id})

    def until(self, task_id, wanted, seconds=20.0):
        """Poll until the task's state satisfies `wanted` (a status, or a predicate)."""
        seen = (lambda task: task["status"] == wanted) if isinstance(wanted, str) else wanted
        deadline = time.monotonic() + seconds
        while True:
            task = self.get(task_id)
            if seen(task):
                return task
            assert time.monotonic() < deadline, f"still {task}"
            assert task["status"] not in TERMINAL, f"ended as {task}"
            time.sleep(0.01)

    def until_ended(self, task_id, seconds=20.0):
        return self.until(task_id, lambda task: task["status"] in TERMINAL, seconds)


class ServerProcess:
    """A server in a process of its own; says its port on its first line."""

    def __init__(self, *command, env=None, cwd=ROOT):
        self.process = subprocess.Popen(
            [sys.executable, *map(str, command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        )
        self.lines, self.errors, self._wires = [], [], []
        self._said = threading.Condition()
        for stream, kept in ((self.process.stdout, self.lines), (self.process.stderr, self.errors)):
            threading.Thread(target=self._read, args=(stream, kept), daemon=True).start()
        self.port = int(self.expect(r"serves http://.*:(\d+)/mcp")[1])

    def _read(self, stream, kept):
        with contextlib.closing(stream):
            for line in stream:
                with self._said:
                    kept.append(line.rstrip("\n"))
                    self._said.notify_all()
        with self._said:
            kept.append(None)
            self._said.notify_all()

    def expect(self, pattern, seconds=START_S):
        """Wait for a line of output that matches, past or future."""

        def found():
            matches = (re.search(pattern, line) for line in self.lines if line is not None)
            return next((match for match in matches if match), None) or (None in self.lines and "ended")

        with self._said:
            match = self._said.wait_for(found, seconds)
        assert match and match != "ended", f"no {pattern!r} in {self.lines}, {self.errors}"
        return match

    def said_last(self, seconds=START_S):
        """The last line on stderr, once the server has ended."""
        with self._said:
            assert self._said.wait_for(lambda: None in self.errors, seconds)
        return [line for line in self.errors if line][-1]

    def events(self, name):
        """The instrumentation events of one name so far, oldest first."""
        said = [json.loads(line) for line in list(self.lines) if line and line.startswith("{")]
        return [event for event in said if event["event"] == name]

    def until_event(self, name, seconds=START_S, **wanted):
        """Wait for an event that has these values, past or future."""

        def found():
            matches = (e for e in self.events(name) if all(e.get(key) == value for key, value in wanted.items()))
            return next(matches, None) or (None in self.lines and "ended")

        with self._said:
            event = self._said.wait_for(found, seconds)
        assert event and event != "ended", f"no {name} {wanted} in {self.lines}, {self.errors}"
        return event

    def wire(self):
        """Another client; it is closed with the server."""
        self._wires.append(Wire(self.port))
        return self._wires[-1]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def terminate(self, seconds=10.0):
        self.process.terminate()
        return self.process.wait(seconds)

    def close(self):
        for wire in self._wires:
            wire.close()
        if self.process.poll() is None:
            self.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def serve_app(store, *options, **env):
    """Start `taskward serve apps:server` on a store."""
    command = ("-m", "taskward", "serve", "apps:server", "--port", "0", "--drain-ms", "500", *options)
    return ServerProcess(*command, env={"TASKWARD_STORE": f"lmdb:{store}", **env}, cwd=ROOT / "tests")
