"""Mutants: each switches one guard off, and at least one test must turn red under it.

A test run is put under a mutant by `TASKWARD_MUTANT=name`; `tests/test_mutants.py` does that for each
and expects red. That is how we know that the tests bite.
"""

import os

from taskward.domain import transition
from taskward.domain.task import Status
from taskward.stores import claiming, decisions, fence
from taskward.stores.committer import Committer


def epoch_check_off():
    """A lease of an earlier boot may write."""
    fence.epoch_current = lambda view, epoch: True


def generation_check_off():
    """A lease of a replaced attempt may write, if its nonce is right."""
    fence.generation_current = lambda record, generation: True


def fence_off():
    """Any lease may write: what a store without a fence would do."""
    for room in (fence, claiming, decisions):
        room.lease_current = lambda view, record, lease: True


def ack_before_sync():
    """An operation is answered while its commit is still on its way to the disk."""

    def run(self, work, *args):
        self._job = self._pool.spawn(work, *args)

    Committer._run = run


def terminal_check_off():
    """An ended task may end again."""
    Status.terminal = property(lambda self: False)
    working = transition.TRANSITIONS[Status.WORKING]
    transition.TRANSITIONS = dict.fromkeys(Status, working)


_ALL = (epoch_check_off, generation_check_off, fence_off, ack_before_sync, terminal_check_off)
MUTANTS = {mutant.__name__: mutant for mutant in _ALL}


def install_from_environment():
    """Install the mutant that the environment names, if it names one."""
    name = os.environ.get("TASKWARD_MUTANT")
    if name:
        MUTANTS[name]()
