"""The command line: `taskward serve` and `taskward demo`.

Exit codes: 0 done, 1 it could not be done (a sentence says why), 2 the command itself was wrong.
"""

import sys
from pathlib import Path

import click

from taskward.domain.errors import TaskwardError
from taskward.version import __version__


@click.group()
@click.version_option(__version__, prog_name="taskward")
def main() -> None:
    """Durable tasks for MCP tools."""


@main.command()
@click.argument("application", metavar="MODULE:SERVER")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8080, show_default=True, type=click.IntRange(0, 65_535), help="Port; 0 takes a free one."
)
@click.option(
    "--open-wait-ms", default=10_000, show_default=True, help="How long to wait for another holder of the store."
)
@click.option("--drain-ms", default=1_500, show_default=True, help="How long SIGTERM lets running attempts finish.")
def serve(application: str, host: str, port: int, open_wait_ms: int, drain_ms: int) -> None:
    r"""Serve an application's Server object until SIGTERM or Ctrl-C.

    \b
    Example:
        taskward serve myapp.reports:server --port 8080
    """
    from taskward.serving import load, serve_forever

    sys.path.insert(0, str(Path.cwd()))
    try:
        serve_forever(load(application), (host, port), open_wait_ms=open_wait_ms, drain_ms=drain_ms)
    except TaskwardError as error:
        raise click.ClickException(str(error)) from error


@main.command()
@click.option("--store", "store_dir", default="demo-store", show_default=True, type=click.Path(path_type=Path),
              help="Directory of the demo; only one that it made is cleared.")  # fmt: skip
def demo(store_dir: Path) -> None:
    r"""Show a task being asked, answered, killed with its server, recovered and completed.

    \b
    Example:
        taskward demo
    """
    from taskward.demo.script import run

    try:
        run(store_dir)
    except TaskwardError as error:
        raise click.ClickException(str(error)) from error
