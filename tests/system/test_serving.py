"""The command line and the sockets: what `serve` and `demo` tell a person, and that no answer stalls."""

import os
import re
import shutil
import subprocess
import sys
import time

import gevent
import pytest
from gevent.pywsgi import WSGIServer
from harness import ROOT, Wire
from rich.console import Console

from taskward import SHARED, Server, TaskwardError
from taskward.demo import process, script

STALL_S = 0.035
CALLS = 20


def taskward(*arguments, cwd=ROOT / "tests", **env):
    """Run the command to its end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    command = [sys.executable, "-m", "taskward", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60, check=False)


def refused(done, *sentence):
    """One sentence on stderr, no traceback, exit code 1."""
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert done.stderr.startswith("Error: ") and all(part in done.stderr for part in sentence), done.stderr
    return True


def test_a_store_that_is_open_already_is_refused_and_its_holder_named(serve):
    server = serve()
    env = {"TASKWARD_STORE": f"lmdb:{serve.store}"}
    done = taskward("serve", "apps:server", "--port", "0", "--open-wait-ms", "200", **env)
    assert refused(done, f"in use by process {server.process.pid}", "Stop it, or use another directory")
    assert server.wire().rpc("tools/list").status == 200


def test_the_next_server_waits_for_the_last_one_to_let_go(serve):
    """A rolling restart on one machine."""
    first = serve()
    task_id = first.wire().create("ask")
    first.process.terminate()
    second = serve()
    assert second.wire().get(task_id)["taskId"] == task_id and first.process.wait(5) == 0


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda store: (store / "data.mdb").write_bytes(b"junk" * 5_000), "head is not that of an LMDB file"),
        (lambda store: (store / "data.mdb").write_bytes(b""), "cut off"),
        (lambda store: (store / "data.mdb").unlink(), "it is missing"),
        (lambda store: (store / "store.id").write_bytes(b"?"), "does not name a store"),
    ],
)
def test_an_unreadable_store_is_refused_and_left_as_it_is(serve, spoil, sentence):
    serve().terminate()
    spoil(serve.store)
    before = sorted((entry.name, entry.stat().st_size) for entry in serve.store.iterdir())
    env = {"TASKWARD_STORE": f"lmdb:{serve.store}"}
    assert refused(taskward("serve", "apps:server", "--port", "0", **env), sentence, "Nothing was touched")
    assert sorted((entry.name, entry.stat().st_size) for entry in serve.store.iterdir() if entry.name) == before


@pytest.mark.parametrize(
    ("application", "sentence"),
    [
        ("apps", "has no colon"),
        ("no_such_module:server", "No module named 'no_such_module'"),
        ("apps:nothing", "has no attribute 'nothing'"),
        ("apps:json", "is a module, not a taskward.Server"),
    ],
)
def test_an_application_that_is_not_there_is_named(tmp_path, application, sentence):
    assert refused(taskward("serve", application, TASKWARD_STORE="memory:"), sentence)


def test_a_port_that_is_taken_is_a_sentence(serve):
    port = serve().port
    assert refused(taskward("serve", "apps:server", "--port", port, TASKWARD_STORE="memory:"), str(port))


def test_a_location_that_is_no_store_is_a_sentence():
    assert refused(taskward("serve", "apps:server", TASKWARD_STORE="redis://here"), "Name a store as lmdb:")


def test_a_tree_that_gave_up_is_named_as_the_reason():
    """Embedded, nobody ends the process: whoever asks for the system is told why there is none."""
    server = Server("ended", store="memory:", scope=SHARED)
    with server.running():
        root = server.system.registry.whereis("system")
        root.kill()
        assert root.exited.wait(5.0)
        with pytest.raises(TaskwardError, match="The task system ended: killed"):
            _ = server.system
    with server.running():
        assert server.system.running


# --- the delayed-ACK stall


def latency_s(port):
    """Median time of a small call on one kept-alive connection, in seconds."""
    wire, times = Wire(port), []
    for _ in range(CALLS):
        began = time.perf_counter()
        assert wire.rpc("tools/list").status == 200
        times.append(time.perf_counter() - began)
    wire.close()
    return sorted(times)[CALLS // 2]


@pytest.fixture
def running():
    server = Server("fast", store="memory:", scope=SHARED)
    with server.running():
        yield server


def served(http):
    """Latency of a gevent server that runs in this process, measured from another thread."""
    http.start()
    try:
        return gevent.get_hub().threadpool.apply(latency_s, (http.server_port,))
    finally:
        http.stop()


def test_our_wsgi_server_answers_without_the_delayed_ack_stall(running):
    assert served(running.wsgi_server(("127.0.0.1", 0))) < STALL_S


def test_mounted_in_a_bare_wsgi_server_it_does_so_too(running):
    assert served(WSGIServer(("127.0.0.1", 0), running.wsgi, log=None)) < STALL_S


def test_control_without_the_option_each_answer_waits_for_the_delayed_ack(running):
    """What the two tests above would measure if the option were not set."""

    def hidden(environ, start_response):
        return running.wsgi(environ, lambda *head: start_response(*head))  # noqa: PLW0108 - it hides the bound method

    assert served(WSGIServer(("127.0.0.1", 0), hidden, log=None)) > STALL_S


def test_a_served_application_does_not_stall_either(serve):
    assert latency_s(serve().port) < STALL_S


# --- the demo


@pytest.mark.timeout(90)
def test_the_demo_shows_what_it_promises_and_ends_with_zero(tmp_path):
    began = time.monotonic()
    done = taskward("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert time.monotonic() - began < 30
    order = ["working", "input_required", "completed", "SIGKILL", "All held"]
    places = [done.stdout.index(word) for word in order]
    assert places == sorted(places)
    leases = re.findall(r"epoch (\d+), generation (\d+)", done.stdout)
    assert leases == [("1", "1"), ("2", "2")]
    assert "\x1b[" not in done.stdout
    again = taskward("demo", cwd=tmp_path)
    assert again.returncode == 0


def test_the_demo_does_not_clear_a_directory_that_is_not_its_own(tmp_path):
    (tmp_path / "demo-store").mkdir()
    (tmp_path / "demo-store" / "thesis.tex").write_text("years of work")
    assert refused(taskward("demo", cwd=tmp_path), "is not empty and no demo store")
    assert (tmp_path / "demo-store" / "thesis.tex").read_text() == "years of work"


def test_the_demo_does_not_clear_a_store_that_is_not_the_demos(serve):
    """A real store, by its look: naming it by mistake must not cost its tasks."""
    serve().terminate()
    before = sorted(entry.name for entry in serve.store.iterdir())
    assert refused(taskward("demo", "--store", serve.store), "is not empty and no demo store")
    assert sorted(entry.name for entry in serve.store.iterdir()) == before


@pytest.mark.timeout(90)
def test_control_the_demo_fails_when_the_store_is_lost_over_the_kill(tmp_path, monkeypatch):
    class Forgetful(script.ServerProcess):
        def kill(self):
            super().kill()
            shutil.rmtree(tmp_path / "demo-store", ignore_errors=True)

    monkeypatch.setattr(script, "ServerProcess", Forgetful)
    monkeypatch.setattr(process, "START_S", 5.0)
    with pytest.raises(TaskwardError, match="did not say what was expected"):
        script.run(tmp_path / "demo-store", Console(quiet=True))
