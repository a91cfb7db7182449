"""Starts supervisors for a test, and sees every one of their processes gone after it."""

import pytest

from taskward.actors import Registry, StartOptions
from taskward.supervision import tree

BOUND_S = 5.0


@pytest.fixture
def registry():
    return Registry()


@pytest.fixture
def start(registry):
    """Start an actor, with its names in `registry`; it is killed after the test, if it still lives then."""
    started = []

    def start(actor, *args, **kwargs):
        ref = actor.start_with(StartOptions(registry=registry), *args, **kwargs)
        started.append(ref)
        return ref

    yield start
    for ref in started:
        ref.kill()
    assert all(ref.exited.wait(BOUND_S) for ref in started)
    assert all(tree(ref).state == "stopped" for ref in started)
