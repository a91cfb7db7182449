"""The examples run as they say, as programs of their own."""

import shutil

from harness import ROOT, ServerProcess

ANSWER = {"action": "accept", "content": {"ok": True}}


def test_taskward_runs_inside_a_gevent_program_beside_its_greenlets(tmp_path):
    """Mounted in a bare `WSGIServer`, without monkey patching: tasks, own routes and own greenlets go on together."""
    with ServerProcess(ROOT / "examples/embed_in_gevent.py", "0", cwd=tmp_path) as server:
        wire = server.wire()
        before = int(wire.send(None, http_method="GET", path="/ticks").body.split()[0])
        task_id = wire.create("count_slowly", upto=5)
        assert wire.until_ended(task_id)["result"]["content"][0]["text"] == "counted to 5"
        after = int(wire.send(None, http_method="GET", path="/ticks").body.split()[0])
        assert after - before >= 4
        assert server.terminate(10.0) == 0
        assert server.errors == [None]


def test_the_reports_example_serves_and_asks(tmp_path):
    shutil.copy(ROOT / "examples/reports.py", tmp_path / "reports.py")
    with ServerProcess("-m", "taskward", "serve", "reports:server", "--port", "0", cwd=tmp_path) as server:
        wire = server.wire()
        task_id = wire.create("quarterly_report", region="north")
        wire.until(task_id, "input_required")
        wire.update(task_id, approve=ANSWER)
        assert "north is published" in wire.until_ended(task_id)["result"]["content"][0]["text"]
