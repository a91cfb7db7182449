"""No index drifts: after any history, on either adapter, the entries are those that the rows call for.

A state machine drives both adapters through the same operations; they must answer alike.
"""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule
from store_rig import ERROR, LEASE_MS, OPENERS, RESULT, StoreRig

from taskward.domain import event as ev
from taskward.stores import contract as c
from taskward.stores.fence import Limits, key_range
from taskward.stores.indexes import entries
from taskward.stores.layout import ACTIVE, EVENT, EXPIRY, LEASE, READY, SCHED, TASK, WORK
from taskward.stores.record import load

INDEXES = (READY, SCHED, LEASE, ACTIVE, EXPIRY)
END = b"\xff" * 64
LIMITS = Limits(max_crashes=2, max_interruptions=2)


class Adapters(RuleBasedStateMachine):
    """Both adapters under one history; the n-th task and lease of one is the n-th of the other."""

    tasks = Bundle("tasks")
    leases = Bundle("leases")

    @initialize()
    def open(self):
        self._path = Path(tempfile.mkdtemp())
        self.rigs = [
            StoreRig(lambda: OPENERS["memory"](None), limits=LIMITS),
            StoreRig(lambda: OPENERS["lmdb"](self._path / "store"), limits=LIMITS),
        ]

    def teardown(self):
        for rig in getattr(self, "rigs", ()):
            rig.stop()
        shutil.rmtree(self._path, ignore_errors=True)

    def both(self, do):
        """Do one thing on each; the answers must be of one kind. Gives both."""
        answers = [do(rig, place) for place, rig in enumerate(self.rigs)]
        assert type(answers[0]) is type(answers[1]), answers
        return answers

    @rule(
        target=tasks,
        claim=st.booleans(),
        principal=st.sampled_from(["a", "b"]),
        delays=st.sampled_from([(), (100,), (100, 5_000)]),
        ttl_ms=st.sampled_from([None, 1_000, 60_000]),
    )
    def create(self, claim, principal, delays, ttl_ms):
        options = {"claim": claim, "principal": principal, "delays": delays, "ttl_ms": ttl_ms}
        created = self.both(lambda rig, _: rig.try_create(**options))
        for rig in self.rigs:
            rig.clock.advance(1)
        lease = [one.claimed.lease for one in created] if claim else None
        return [one.snapshot.task.task_id for one in created], principal, lease

    @rule(target=leases, task=tasks)
    def claim(self, task):
        ids, _, first = task
        answers = self.both(lambda rig, place: rig.claim(ids[place]))
        found = [answer.lease for answer in answers] if isinstance(answers[0], c.Claimed) else first
        return multiple() if found is None else found

    @rule(target=leases, limit=st.integers(1, 3))
    def claim_next(self, limit):
        claims = [rig.claim_next(limit=limit) for rig in self.rigs]
        assert len(claims[0].claimed) == len(claims[1].claimed) and claims[0].more == claims[1].more
        pairs = zip(*(one.claimed for one in claims), strict=True)
        return multiple(*([claimed.lease for claimed in pair] for pair in pairs))

    @rule(
        lease=leases,
        what=st.sampled_from(["progress", "ask", "retry", "complete", "fail", "release", "crash", "renew"]),
    )
    def work(self, lease, what):
        operations = {
            "progress": lambda one: c.Commit(authority=one, event=ev.Progress(message="half")),
            "retry": lambda one: c.Commit(authority=one, event=ev.RetryRequested(error=ERROR, message=None)),
            "complete": lambda one: c.Commit(authority=one, event=ev.Completed(result=RESULT)),
            "fail": lambda one: c.Commit(authority=one, event=ev.Failed(error=ERROR, message=None)),
            "release": lambda one: c.Release(lease=one),
            "crash": lambda one: c.Release(lease=one, crashed=True),
            "renew": lambda one: c.Renew(leases=(one,), lease_ms=LEASE_MS),
        }
        if what == "ask":
            self.both(lambda rig, place: rig.ask(lease[place]))
        else:
            self.both(lambda rig, place: rig.do(operations[what](lease[place])))

    @rule(task=tasks, what=st.sampled_from(["answer", "cancel", "get"]))
    def request(self, task, what):
        ids, principal, _ = task
        events = {
            "answer": ev.InputResponsesAccepted(responses={"go": {"action": "decline"}}),
            "cancel": ev.Cancelled(message=None),
        }
        if what == "get":
            self.both(lambda rig, place: rig.get(ids[place], principal))
        else:
            action = {"answer": "update", "cancel": "cancel"}[what]
            event = replace(events[what])
            self.both(lambda rig, place: rig.commit(rig.access(ids[place], action, principal), event))

    @rule(ms=st.sampled_from([1, 100, 5_000, LEASE_MS]))
    def pass_time(self, ms):
        for rig in self.rigs:
            rig.clock.advance(ms)

    @rule()
    def reap(self):
        assert len({len(rig.do(c.Reap(limit=2)).keys) for rig in self.rigs}) == 1

    @rule()
    def restart(self):
        for rig in self.rigs:
            rig.restart_actor()

    @invariant()
    def no_index_drifts(self):
        for rig in getattr(self, "rigs", ()):
            view = rig.backend.read()
            try:
                check(view)
            finally:
                view.close()


def check(view):
    keys = list(key_range(view, TASK, b"", END))
    wanted = {entry for key in keys for entry in entries(load(view, key))}
    found = {(table, key) for table in INDEXES for key in key_range(view, table, b"", END)}
    assert found == wanted
    assert list(key_range(view, WORK, b"", END)) == keys
    assert {place[:22] for place in key_range(view, EVENT, b"", END)} <= set(keys)
    assert view.count(ACTIVE) == sum(table is ACTIVE for table, _ in wanted)


TestAdapters = Adapters.TestCase
TestAdapters.settings = settings(max_examples=60, stateful_step_count=40, deadline=None, print_blob=True)
