"""The overlay answers like a view in which its writes were already made."""

from hypothesis import given
from hypothesis import strategies as st

from taskward.stores.contract import Table
from taskward.stores.memory import MemoryBackend
from taskward.stores.overlay import Overlay

PLAIN, GROUPED = Table("plain"), Table("grouped", group=1)
KEYS = st.binary(min_size=2, max_size=3).map(lambda key: bytes(byte % 3 for byte in key))
WRITES = st.lists(st.tuples(st.sampled_from([PLAIN, GROUPED]), KEYS, st.sampled_from([b"", b"v", b"w", None])))


class Rows:
    """The model: a dict, and everything else computed from it."""

    def __init__(self, writes):
        self.rows = {PLAIN: {}, GROUPED: {}}
        self.apply(writes)

    def apply(self, writes):
        for table, key, value in writes:
            if value is None:
                self.rows[table].pop(key, None)
            else:
                self.rows[table][key] = value

    def get(self, table, key):
        return self.rows[table].get(key)

    def seek(self, table, start):
        return min(((key, value) for key, value in self.rows[table].items() if key >= start), default=None)

    def count(self, table, group=b""):
        return sum(key.startswith(group) for key in self.rows[table])


@given(durable=WRITES, batches=st.lists(WRITES, max_size=4), probes=st.lists(KEYS, max_size=8))
def test_an_overlay_is_the_base_with_its_writes_made(durable, batches, probes):
    base, model = Rows(durable), Rows(durable)
    overlay = Overlay(base)
    for batch in batches:
        overlay.apply(batch)
        model.apply(batch)
    for table in (PLAIN, GROUPED):
        for key in probes:
            assert overlay.get(table, key) == model.get(table, key)
            assert overlay.seek(table, key) == model.seek(table, key)
        assert overlay.count(table) == model.count(table)
    for group in (b"\0", b"\1", b"\2"):
        assert overlay.count(GROUPED, group) == model.count(GROUPED, group)
    base.apply(overlay.writes())
    assert base.rows == model.rows


def test_an_overlay_without_writes_is_nothing_to_commit():
    assert not Overlay(MemoryBackend().read()) and Overlay(Rows([])).writes() == []
