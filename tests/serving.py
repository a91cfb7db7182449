"""Fixtures: a real server process for each test that asks for one."""

import pytest
from harness import serve_app


@pytest.fixture
def serve(tmp_path):
    """Start `taskward serve apps:server` on a store of this test; again and again on the same store."""
    started = []

    def start(**env):
        started.append(serve_app(start.store, **env))
        return started[-1]

    start.store = tmp_path / "store"
    yield start
    for server in started:
        server.close()


@pytest.fixture
def server(serve):
    """One running server."""
    return serve()


@pytest.fixture
def wire(server):
    """A client of it."""
    return server.wire()
