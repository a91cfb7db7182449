"""The tests bite: with a guard switched off, those that stand for it turn red; with all guards on, they are green."""

import os
import subprocess
import sys

import pytest
from harness import ROOT
from mutants import MUTANTS

RUN_S = 120
WATCHED_BY = {
    "epoch_check_off": ("tests/stores/test_fencing.py", "earlier_boot and completed"),
    "generation_check_off": ("tests/stores/test_fencing.py", "same_nonce and completed"),
    "fence_off": ("tests/stores/test_fencing.py", "another_store and completed"),
    "ack_before_sync": ("tests/stores/test_store_actor.py", "before_the_sync"),
    "terminal_check_off": ("tests/stores/test_contract.py", "i2"),
}


def run(selections, mutant=None):
    """Run the chosen tests in a fresh interpreter, under a mutant or under none."""
    files = sorted({file for file, _ in selections})
    chosen = " or ".join(f"({words})" for _, words in selections)
    environment = {name: value for name, value in os.environ.items() if name != "TASKWARD_MUTANT"}
    if mutant is not None:
        environment["TASKWARD_MUTANT"] = mutant
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", chosen]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=RUN_S, check=False
    )


def test_every_mutant_is_watched():
    assert set(WATCHED_BY) == set(MUTANTS)


@pytest.mark.timeout(RUN_S + 10)
def test_without_a_mutant_they_are_green():
    done = run(list(WATCHED_BY.values()))
    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(RUN_S + 10)
@pytest.mark.parametrize("mutant", WATCHED_BY)
def test_a_mutant_turns_them_red(mutant):
    done = run([WATCHED_BY[mutant]], mutant)
    assert done.returncode == 1 and " failed" in done.stdout and "AssertionError" in done.stdout, done.stdout
