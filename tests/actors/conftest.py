"""Starts actors for a test, and sees all of them gone after it."""

import pytest

from taskward.actors import StartOptions

BOUND_S = 5.0


@pytest.fixture
def start():
    """Start an actor that is killed after the test, if it still lives then."""
    started = []

    def start(actor, *args, options=None, **kwargs):
        ref = actor.start_with(options or StartOptions(), *args, **kwargs)
        started.append(ref)
        return ref

    yield start
    for ref in started:
        ref.kill()
    assert all(ref.exited.wait(BOUND_S) for ref in started)
