"""A task system in the test's own process, on an executor that the test writes."""

from functools import partial

import pytest
from store_rig import OPENERS
from system_rig import QUICK, SystemRig

from taskward import Settings


@pytest.fixture
def start(tmp_path):
    """Start a system on a body; again on the same store, if it was stopped."""
    started = []

    def begin(body, *, adapter="memory", **settings):
        opener = partial(OPENERS[adapter], tmp_path / "store")
        started.append(SystemRig(opener(), body, Settings(**{"timing": QUICK, **settings})))
        return started[-1]

    yield begin
    for rig in started:
        if rig.system.running:
            rig.stop()
