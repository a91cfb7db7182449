"""Each contract test runs on each adapter."""

from functools import partial

import pytest
from store_rig import OPENERS, StoreRig


@pytest.fixture(params=list(OPENERS))
def adapter(request):
    return request.param


@pytest.fixture
def make_rig(adapter, tmp_path):
    """Make a rig on this adapter, with options."""
    made = []

    def make(**options):
        made.append(StoreRig(partial(OPENERS[adapter], tmp_path / "store"), **options))
        return made[-1]

    yield make
    for rig in made:
        rig.stop()


@pytest.fixture
def rig(make_rig):
    return make_rig()


@pytest.fixture
def lmdb_rig(tmp_path):
    """A rig on LMDB, whatever the adapter of the run: for what only a durable store can show."""
    rig = StoreRig(partial(OPENERS["lmdb"], tmp_path / "store"))
    yield rig
    rig.stop()
