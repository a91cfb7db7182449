"""The dynamic supervisor: many temporary children, bounded, not restarted, stopped in parallel."""

import gc
import time
import weakref

import gevent
import pytest
from gevent.event import Event

from taskward.actors import KILLED, SHUTDOWN, Actor, ActorDeadError, ActorStartError, NamedRef, stop_actor
from taskward.supervision import (
    ChildSpec,
    DynamicSupervisor,
    MaxChildren,
    Supervisor,
    start_child,
    start_children,
    which_children,
)

BOUND_S = 5.0
ERROR = ValueError("cannot start")


class Child(Actor):
    def __init__(self, *_given):
        super().__init__()

    def on_receive(self, message):
        return message(self)


class FailsToStart(Child):
    def on_start(self):
        raise ERROR


class FailsInConstructor(Child):
    def __init__(self, *given):
        super().__init__(*given)
        raise ERROR


class Hangs(Child):
    trap_exit = True

    def terminate(self, reason):
        Event().wait()


def children(supervisor):
    return [child.ref for child in which_children(supervisor)]


def test_d1_many_children_of_one_kind(start):
    supervisor = start(DynamicSupervisor)
    refs = [start_child(supervisor, Child, n) for n in range(100)]
    assert children(supervisor) == refs
    assert [ref.ask(lambda _: "alive") for ref in refs] == ["alive"] * 100


def test_d1_a_child_that_ended_is_forgotten_and_not_restarted(start):
    supervisor = start(DynamicSupervisor)
    refs = [start_child(supervisor, Child) for _ in range(3)]
    refs[0].stop()
    refs[1].kill()
    assert refs[1].exited.wait(BOUND_S)
    assert children(supervisor) == refs[2:]


def test_d1_a_hundred_crashes_do_not_end_it(start):
    """It has no restart intensity: it restarts nothing."""
    supervisor = start(DynamicSupervisor)
    for _ in range(100):
        ref = start_child(supervisor, Child)
        ref.kill()
        assert ref.exited.wait(BOUND_S)
    assert children(supervisor) == []


@pytest.mark.parametrize("failing", [FailsToStart, FailsInConstructor])
def test_d1_a_child_that_does_not_start_harms_no_other(start, failing):
    supervisor = start(DynamicSupervisor)
    healthy = start_child(supervisor, Child)
    with pytest.raises(ActorStartError) as error:
        start_child(supervisor, failing)
    assert error.value.reason is ERROR
    assert children(supervisor) == [healthy]
    assert healthy.is_alive()


def test_d1_of_many_that_are_wanted_at_once_each_has_its_own_answer(start):
    supervisor = start(DynamicSupervisor, max_children=2)
    wanted = [(Child, (1,)), (FailsToStart, ()), (FailsInConstructor, ()), (Child, (2,)), (Child, (3,))]
    first, *failed, second, third = start_children(supervisor, wanted)
    assert children(supervisor) == [first, second]
    assert [error.reason for error in failed] == [ERROR, ERROR]
    assert isinstance(third, MaxChildren)


def test_d1_children_are_started_by_name_of_their_supervisor(start, registry):
    start(Supervisor, [ChildSpec("dynamic", DynamicSupervisor, name="dynamic")])
    dynamic = NamedRef(registry, "dynamic")
    ref = start_child(dynamic, Child)
    assert children(dynamic.resolve()) == [ref]


def test_d1_a_dead_supervisor_starts_nothing(start):
    supervisor = start(DynamicSupervisor)
    supervisor.stop()
    with pytest.raises(ActorDeadError):
        start_child(supervisor, Child)


def test_d2_as_many_as_may_be_and_no_more(start):
    supervisor, started = start(DynamicSupervisor, max_children=2), []

    class Counted(Child):
        def on_start(self):
            started.append(self.actor_ref)

    refs = [start_child(supervisor, Counted) for _ in range(2)]
    with pytest.raises(MaxChildren):
        start_child(supervisor, Counted)
    assert started == children(supervisor) == refs
    refs[0].kill()
    assert refs[0].exited.wait(BOUND_S)
    start_child(supervisor, Counted)
    assert len(started) == 3


def test_d3_children_are_stopped_in_parallel_on_one_timer(start):
    """Twenty that use up a grace of 50 ms: one after the other they would take a second."""
    supervisor = start(DynamicSupervisor, shutdown_ms=50)
    hanging = [start_child(supervisor, Hangs) for _ in range(20)]
    obedient = [start_child(supervisor, Child) for _ in range(20)]
    began = time.monotonic()
    assert stop_actor(supervisor, shutdown_ms=None).reason is SHUTDOWN
    assert 0.049 <= time.monotonic() - began < 0.8
    assert {ref.exit_reason for ref in hanging} == {KILLED}
    assert {ref.exit_reason for ref in obedient} == {SHUTDOWN}


def test_d3_a_dynamic_supervisor_that_is_killed_takes_its_children_along(start):
    supervisor = start(DynamicSupervisor)
    refs = [start_child(supervisor, Child) for _ in range(20)]
    supervisor.kill()
    assert all(ref.exited.wait(BOUND_S) for ref in refs)


def test_s12_after_a_restart_it_has_no_children(start, registry):
    start(Supervisor, [ChildSpec("dynamic", DynamicSupervisor, name="dynamic")])
    dynamic = NamedRef(registry, "dynamic")
    child, first = start_child(dynamic, Child), dynamic.resolve()
    first.kill()
    assert child.exited.wait(BOUND_S)
    assert dynamic.resolve() is not first
    assert children(dynamic.resolve()) == []


def test_d4_the_arguments_of_children_are_not_kept(start):
    class Payload:
        pass

    supervisor, payload = start(DynamicSupervisor), Payload()
    kept = weakref.ref(payload)
    ref = start_child(supervisor, Child, payload)
    del payload
    gevent.sleep(0)
    gc.collect()
    assert ref.is_alive()
    assert kept() is None
