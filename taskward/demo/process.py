"""The demo's server as a process of its own: started as a user would, killed as a machine would."""

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from taskward.domain.errors import TaskwardError

START_S = 15.0
STOP_S = 5.0


class ServerSilent(TaskwardError):
    """The demo server did not say what was expected of it in time."""


class ServerProcess:
    """A running `taskward serve taskward.demo.app:server`.

    Args:
        store_dir: where it keeps its tasks.
        port: where it listens; 0 takes a free port.
    """

    def __init__(self, store_dir: Path, port: int = 0) -> None:
        command = [sys.executable, "-m", "taskward", "serve", "taskward.demo.app:server", "--port", str(port)]
        environment = {**os.environ, "TASKWARD_DEMO_STORE": str(store_dir)}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        self._lines: queue.Queue[str] = queue.Queue()
        self._seen: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()
        self.port = int(self._expect(re.compile(r"serves http://.*:(\d+)/mcp"))[1])

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def attempt(self, task_id: str) -> dict[str, Any]:
        """Wait until an attempt of this task starts; give its epoch and generation."""
        found = self._expect(re.compile(rf'(\{{.*"{re.escape(task_id)}".*\}})'))
        started: dict[str, Any] = json.loads(found[1])
        return started

    def kill(self) -> None:
        """End it with SIGKILL: no handler of it runs, nothing is written after this."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(STOP_S)

    def terminate(self) -> int:
        """End it with SIGTERM; give its exit code."""
        self._process.terminate()
        return self._process.wait(STOP_S)

    def close(self) -> None:
        """Leave nothing running, whatever happened."""
        if self._process.poll() is None:
            self.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as said:
            for line in said:
                self._lines.put(line)

    def _expect(self, pattern: re.Pattern[str]) -> re.Match[str]:
        """Wait for a line that matches, past or future."""
        for line in self._seen:
            found = pattern.search(line)
            if found:
                return found
        while True:
            try:
                self._seen.append(self._lines.get(timeout=START_S))
            except queue.Empty:
                raise ServerSilent from None
            found = pattern.search(self._seen[-1])
            if found:
                return found
