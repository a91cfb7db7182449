"""A real server process for each test that asks for one."""

import pytest
from harness import ROOT, ServerProcess


@pytest.fixture
def serve(tmp_path):
    """Start `taskward serve apps:server` on a store of this test; again and again on the same store."""
    started = []
    store = tmp_path / "store"

    def start(**env):
        command = ("-m", "taskward", "serve", "apps:server", "--port", "0", "--drain-ms", "500")
        environment = {"TASKWARD_STORE": f"lmdb:{store}", "PYTHONPATH": str(ROOT), **env}
        started.append(ServerProcess(*command, env=environment, cwd=ROOT / "tests"))
        return started[-1]

    start.store = store
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
    wire = server.wire()
    yield wire
    wire.close()
