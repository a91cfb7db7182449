"""A gevent program of your own with taskward inside: one WSGI server, your routes, your greenlets, no monkey patching.

    python examples/embed_in_gevent.py

Then, from another terminal, ask who is there, start a task, and watch both go on side by side:

    curl -s localhost:8080/ticks
"""

import signal
import sys
from itertools import count

import gevent
from gevent.pywsgi import WSGIServer

from taskward import SHARED, Server, TaskContext

server = Server("embedded", version="1.0", store="lmdb:embedded-store", scope=SHARED)
ticks = count(1)
last_tick = 0


@server.tool(task="optional")
def count_slowly(ctx: TaskContext, upto: int) -> str:
    """Counts, one number in a tenth of a second."""
    for number in range(1, upto + 1):
        ctx.progress(f"{number} of {upto}")
        ctx.sleep(0.1)
    return f"counted to {upto}"


def tick():
    """Something of your own, beside the tasks."""
    global last_tick
    while True:
        last_tick = next(ticks)
        gevent.sleep(0.05)


def application(environ, start_response):
    """Your routes and taskward's in one WSGI application."""
    if environ["PATH_INFO"] == "/mcp":
        return server.wsgi(environ, start_response)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"{last_tick} ticks\n".encode()]


def main(port):
    """Serve until SIGTERM."""
    with server.running():
        gevent.spawn(tick)
        http = WSGIServer(("127.0.0.1", port), application, log=None)
        gevent.signal_handler(signal.SIGTERM, http.stop)
        http.start()
        print(f"serves http://127.0.0.1:{http.server_port}/mcp", flush=True)
        http.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8080)
