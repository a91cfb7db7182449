"""The official conformance suite against our fixture server, gated on its `checks.json`.

Its exit codes lie (`reference`: a failing extension scenario can exit 0), so the gate reads the
records, and counts a missing file as a failure.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import ROOT, ServerProcess

NODE_MODULES = ROOT / "node_modules"
SUITE = NODE_MODULES / ".bin" / "conformance"
NODE_22 = NODE_MODULES / ".bin" / "node"

SCENARIOS = {
    "tasks-lifecycle": 9,
    "tasks-wire-fields": 4,
    "tasks-capability-negotiation": 5,
    "tasks-request-headers": 5,
    "tasks-request-state-removal": 3,
    "tasks-required-task-error": 3,
    "tasks-dispatch-and-envelope": 9,
}
"""Scenario -> number of records that it writes when nothing is left out."""


@pytest.fixture(scope="module")
def fixture_server(tmp_path_factory, skip_loudly):
    if not SUITE.exists() or not NODE_22.exists():
        skip_loudly("the official conformance suite is not installed; run `npm ci --ignore-scripts`")
    store = tmp_path_factory.mktemp("conformance") / "store"
    with ServerProcess(Path(__file__).with_name("fixture_server.py"), store) as server:
        yield server


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_has_no_failure_and_no_warning(scenario, fixture_server, tmp_path):
    url = f"http://127.0.0.1:{fixture_server.port}/mcp"
    path = f"{SUITE.parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        [shutil.which("conformance", path=path), "server", "--url", url, "--scenario", scenario, "-o", tmp_path],
        env={**os.environ, "PATH": path},
        capture_output=True,
        timeout=50,
        check=False,
    )
    [checks] = tmp_path.glob("*/checks.json")
    records = json.loads(checks.read_text())
    failed = [record for record in records if record["status"] not in {"SUCCESS", "INFO"}]
    assert failed == []
    assert len(records) == SCENARIOS[scenario]
