"""Serving one application from the command line: the one place that owns a process and its signals."""

import importlib
import logging
import signal
import sys

import gevent
from gevent.event import Event
from gevent.pool import Pool
from gevent.pywsgi import WSGIServer

from taskward.domain.errors import TaskwardError
from taskward.server import Server

MAX_CONNECTIONS = 10_000
GRACE_MS = 500
LAST_REQUESTS_S = 0.3
WATCH_S = 0.5


class NoSuchApplication(TaskwardError):
    """The application could not be loaded. Name it as MODULE:SERVER, e.g. myapp.reports:server."""


class ServingEnded(TaskwardError):
    """The task system gave up; the log says why. Start the server again: nothing acknowledged is lost."""


class CannotListen(TaskwardError):
    """The address cannot be listened on. Choose another --host or --port."""


def load(application: str) -> Server:
    """Import `MODULE:SERVER`.

    Raises:
        NoSuchApplication: there is no such module, attribute, or it is no `Server`.
    """
    module_name, colon, attribute = application.partition(":")
    if not colon:
        raise NoSuchApplication(f"{application!r} has no colon. Name the application as MODULE:SERVER.")
    try:
        server = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise NoSuchApplication(f"{application!r} could not be loaded: {error}.") from error
    if not isinstance(server, Server):
        raise NoSuchApplication(f"{application!r} is a {type(server).__name__}, not a taskward.Server.")
    return server


def serve_forever(server: Server, address: tuple[str, int], *, open_wait_ms: int, drain_ms: int) -> None:
    """Serve until SIGTERM or SIGINT, then drain and return.

    Args:
        server: the application.
        address: host and port to listen on.
        open_wait_ms: how long to wait for another holder of the store, in ms.
        drain_ms: how long running attempts may finish after the signal, in ms.

    Raises:
        ServingEnded: the tree ended by itself.
        CannotListen: the address is taken, or is not one of this machine's.
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    asked = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        gevent.signal_handler(number, asked.set)
    with server.running(open_wait_ms=open_wait_ms, drain_ms=drain_ms):
        wsgi = _listening(server, address)
        print(f"taskward serves http://{address[0]}:{wsgi.server_port}/mcp", flush=True)  # noqa: T201
        while not asked.wait(WATCH_S):
            if server.exit_reason is not None:
                raise ServingEnded(f"The task system ended: {server.exit_reason}. Mend that, then start again.")
        wsgi.close()
        server.stop(drain_ms=drain_ms, shutdown_ms=GRACE_MS)  # polls on open connections are answered meanwhile
        wsgi.stop(timeout=LAST_REQUESTS_S)


def _listening(server: Server, address: tuple[str, int]) -> WSGIServer:
    try:
        wsgi = server.wsgi_server(address, spawn=Pool(MAX_CONNECTIONS))
    except OSError as error:
        sentence = f"{address[0]}:{address[1]} cannot be listened on: {error}. Choose another --host or --port."
        raise CannotListen(sentence) from error
    wsgi.start()
    return wsgi
