"""How the demo looks: a progress line that rewrites itself on a terminal, plain lines elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.status import Status

STYLES = {"working": "cyan", "input_required": "yellow", "completed": "green", "failed": "red", "cancelled": "red"}


class Screen:
    """Shows the demo.

    Args:
        console: where to; colours and the moving line appear on a terminal only.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def step(self, sentence: str) -> None:
        """Say what happens now."""
        self._console.print(f"[bold]•[/] {escape(sentence)}", soft_wrap=True)

    def result(self, text: str) -> None:
        """Show what a task produced."""
        self._console.print(f"  [green]→[/] {escape(text)}", soft_wrap=True)

    def lease(self, attempt: dict[str, Any]) -> None:
        """Show under which epoch and generation an attempt runs."""
        self._console.print(f"  its attempt runs under epoch {attempt['epoch']}, generation {attempt['generation']}")

    @contextmanager
    def following(self) -> Iterator["Follower"]:
        """Follow one task for the length of a `with` block."""
        if not self._console.is_terminal:
            yield Follower(self._console, None)
            return
        with self._console.status("") as status:
            yield Follower(self._console, status)


class Follower:
    """Shows a task's states as they are seen."""

    def __init__(self, console: Console, status: Status | None) -> None:
        self._console = console
        self._status = status
        self._last = ""

    def __call__(self, task: dict[str, Any]) -> None:
        """Show one state, if it is news."""
        name = task["status"]
        line = f"{name:<15} {task.get('statusMessage', '')}".rstrip()
        if line == self._last:
            return
        self._last = line
        shown = f"[{STYLES[name]}]{escape(line)}[/]"
        if self._status is not None:
            self._status.update(shown)
        if self._status is None or not line.startswith("working"):
            self._console.print(f"  {shown}", soft_wrap=True)

    def remark(self, sentence: str) -> None:
        """Say something beside the states."""
        self._console.print(f"  {escape(sentence)}", soft_wrap=True)
