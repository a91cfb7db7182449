"""What the demo does, in order; any step that does not hold ends it with a sentence."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from taskward.demo.client import Client
from taskward.demo.process import ServerProcess
from taskward.demo.screen import Screen
from taskward.domain.errors import TaskwardError

MIDDLE = 6
LONGEST_S = 12.0
MARK = "made-by-taskward-demo"
STORE = "store"


class DemoFailed(TaskwardError):
    """Something that taskward promises did not hold."""


def run(store_dir: Path, console: Console | None = None) -> None:
    """Run the whole demonstration.

    Args:
        store_dir: the demo's own directory; what an earlier run left there is replaced, anything else is refused.
        console: where to show it; the terminal by default.

    Raises:
        TaskwardError: something did not hold; the sentence says what.
    """
    screen = Screen(console or Console(highlight=False))
    _clear(store_dir)
    with _serving(ServerProcess(store_dir / STORE)) as server:
        screen.step(f"A server runs (pid {server.pid}), its tasks kept in {store_dir}/ on LMDB.")
        _answered(screen, Client(server.port))
        task_id, before = _half_done(screen, server)
        screen.step(f"SIGKILL to pid {server.pid}, in the middle of it.")
        server.kill()
    with _serving(ServerProcess(store_dir / STORE, server.port)) as server:
        screen.step(f"Another server starts on the same store (pid {server.pid}).")
        _recovered(screen, server, task_id, before)
        if server.terminate() != 0:
            raise DemoFailed("The server did not end with exit code 0 on SIGTERM.")
    screen.step(
        "All held: asked, answered, killed, recovered under the same id, and no lease of the dead server lives."
    )


def _clear(store_dir: Path) -> None:
    """Begin afresh, but never delete what the demo did not make: a real store least of all."""
    if store_dir.exists():
        empty = store_dir.is_dir() and not any(store_dir.iterdir())
        if not empty and not (store_dir / MARK).exists():
            raise DemoFailed(f"{store_dir} is not empty and no demo store. Name another directory with --store.")
        shutil.rmtree(store_dir)
    store_dir.mkdir(parents=True)
    (store_dir / MARK).touch()


@contextmanager
def _serving(server: ServerProcess) -> Iterator[ServerProcess]:
    try:
        yield server
    finally:
        server.close()


def _answered(screen: Screen, client: Client) -> None:
    """The first task: working, input_required, answered, completed."""
    task_id = client.call_tool("publish_report", region="north")["taskId"]
    screen.step(f"tools/call publish_report(region='north') gave task {task_id}.")
    with screen.following() as follow:
        asked = client.watch(task_id, follow, _is("input_required"), seconds=LONGEST_S)
        [(key, request)] = asked["inputRequests"].items()
        follow.remark(f"it asks: {request['params']['message']} We answer: yes.")
        client.answer(task_id, {key: {"action": "accept", "content": {"ok": True}}})
        done = client.watch(task_id, follow, _is("completed"), seconds=LONGEST_S)
    screen.result(_text(done))


def _half_done(screen: Screen, server: ServerProcess) -> tuple[str, dict[str, Any]]:
    """The second task, followed to its middle."""
    client = Client(server.port)
    task_id = client.call_tool("export_orders", year=2026)["taskId"]
    before = server.attempt(task_id)
    screen.step(f"tools/call export_orders(year=2026) gave task {task_id}.")
    screen.lease(before)
    with screen.following() as follow:
        client.watch(task_id, follow, _half_way, seconds=LONGEST_S)
    return task_id, before


def _recovered(screen: Screen, server: ServerProcess, task_id: str, before: dict[str, Any]) -> None:
    """The second task again, under the same id and a newer lease."""
    after = server.attempt(task_id)
    screen.lease(after)
    if not (int(after["epoch"]) > int(before["epoch"]) and int(after["generation"]) > int(before["generation"])):
        raise DemoFailed("The recovered attempt does not run under a newer epoch and generation.")
    with screen.following() as follow:
        done = Client(server.port).watch(task_id, follow, _is("completed"), seconds=LONGEST_S)
    screen.result(_text(done))


def _half_way(task: dict[str, Any]) -> bool:
    """Whether the export has come to its middle; a poll may miss any one part."""
    part = re.search(r"part (\d+)", task.get("statusMessage", ""))
    return part is not None and int(part[1]) >= MIDDLE


def _is(status: str) -> Callable[[dict[str, Any]], bool]:
    return lambda task: bool(task["status"] == status)


def _text(task: dict[str, Any]) -> str:
    text: str = task["result"]["content"][0]["text"]
    return text
