"""The layout: rooms under one name, nothing generic installed, nothing left out of the wheel, files small."""

import ast
import configparser
import subprocess
import sys

import pytest
from harness import ROOT

ROOMS = ["actors", "stores", "supervision"]
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50


@pytest.fixture(scope="module")
def config():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def sources():
    for folder in (*ROOMS, "taskward"):
        for path in (ROOT / folder).rglob("*.py"):
            if folder != "taskward" or path.relative_to(ROOT).parts[1] not in ROOMS:
                yield path


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_importable_under_one_name_only(room):
    alone = subprocess.run(
        [sys.executable, "-c", f"import {room}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "ImportError" in alone.stderr and f"'taskward.{room}'" in alone.stderr
    proper = subprocess.run([sys.executable, "-c", f"import taskward.{room}"], cwd=ROOT, check=False)
    assert proper.returncode == 0


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_linked_for_tools_that_do_not_read_setup_cfg(room):
    link = ROOT / "taskward" / room
    assert link.is_symlink() and link.readlink().as_posix() == f"../{room}"


def test_every_package_is_named_in_setup_cfg(config):
    named = set(config["options"]["packages"].split())
    found = {
        ".".join(
            ("taskward" if path.relative_to(ROOT).parts[0] in ROOMS else "", *path.parent.relative_to(ROOT).parts)
        ).lstrip(".")
        for path in sources()
        if path.name == "__init__.py"
    }
    assert named == found


def test_nothing_generic_is_installed(config):
    assert {name.split(".")[0] for name in config["options"]["packages"].split()} == {"taskward"}


@pytest.mark.parametrize("path", sorted(sources()), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_is_small_and_says_what_it_is_for(path):
    text = path.read_text()
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    code = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    assert len(code) <= MAX_FILE_LINES
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            assert length <= MAX_FUNCTION_LINES, node.name


def test_no_import_starts_anything_and_none_patches():
    code = "import threading, sys; import taskward; import gevent.monkey as m; print(threading.active_count(), m.saved)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split(maxsplit=1) == ["1", "{}\n"]
