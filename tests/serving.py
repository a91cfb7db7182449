"""Fixtures: a real server process, one for all tests of a file or one that a test may kill."""

import pytest
from harness import serve_app


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One running server for the tests of a file: tasks of one do not disturb those of another."""
    with serve_app(tmp_path_factory.mktemp("served") / "store") as server:
        yield server


@pytest.fixture
def wire(server):
    """A client of it."""
    return server.wire()


@pytest.fixture
def serve(tmp_path):
    """Start a server on a store of this test; again and again on the same store."""
    started = []

    def start(**env):
        started.append(serve_app(start.store, **env))
        return started[-1]

    start.store = tmp_path / "store"
    yield start
    for server in started:
        server.close()
