"""Starting: a ref means initialised, anything else raises and leaves nothing behind."""

import gevent
import pytest
from gevent.event import Event

from taskward.actors import (
    KILLED,
    NOPROC,
    NORMAL,
    SHUTDOWN,
    Actor,
    ActorDied,
    ActorStartError,
    InitTimeout,
    Registry,
    StartOptions,
)

BOUND_S = 5.0
ERROR = ValueError("cannot be initialised")


class Doer(Actor):
    def on_receive(self, message):
        return message(self)


class Starts(Doer):
    """Writes down what was called, and starts as it is told to."""

    init_timeout_ms = 50

    def __init__(self, said, on_start=lambda me: None):
        super().__init__()
        self.said = said
        self._on_start = on_start

    def on_start(self):
        self.said.append("on_start")
        self._on_start(self)
        self.said.append("started")

    def terminate(self, reason):
        self.said.append(reason)


def fail(_me):
    raise ERROR


@pytest.fixture
def registry():
    return Registry()


@pytest.fixture
def named(registry):
    return StartOptions(name="one", registry=registry)


def test_p20_start_returns_when_on_start_has_run_in_the_new_actor(start):
    said, greenlets = [], []

    def yields(_me):
        greenlets.append(gevent.getcurrent())
        gevent.sleep(0.001)

    start(Starts, said, yields)
    assert said == ["on_start", "started"]
    assert greenlets[0] is not gevent.getcurrent()


def test_p20_a_message_sent_during_on_start_is_handled_after_it(start, registry, named):
    said, go_on = [], Event()
    starting = gevent.spawn(start, Starts, said, lambda _: go_on.wait(BOUND_S), options=named)
    starting.join(timeout=0)
    gevent.sleep(0)
    registry.whereis("one").tell(lambda me: me.said.append("message"))
    go_on.set()
    starting.get(timeout=BOUND_S).ask(lambda _: None)
    assert said == ["on_start", "started", "message"]


HOW_IT_FAILS = {
    "error": (fail, ERROR),
    "ignore": (lambda me: me.exit(NORMAL), NORMAL),
    "shutdown": (lambda me: me.exit(SHUTDOWN), SHUTDOWN),
    "exit_signal": (lambda me: me.actor_ref.exit(SHUTDOWN), SHUTDOWN),
    "kill": (lambda me: me.actor_ref.kill(), KILLED),
}


@pytest.mark.parametrize("how", HOW_IT_FAILS)
def test_p20_start_raises_with_the_reason_and_p21_no_name_is_kept(registry, named, how):
    on_start, reason = HOW_IT_FAILS[how]
    said = []
    with pytest.raises(ActorStartError) as error:
        Starts.start_with(named, said, on_start)
    assert error.value.reason is reason
    assert registry.names() == []
    assert said == ["on_start"]


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, gevent.GreenletExit, gevent.Timeout])
def test_p20_no_exception_of_on_start_gets_past_the_actor(kind):
    raised = kind()

    def fails(_me):
        raise raised

    with pytest.raises(ActorStartError) as error:
        Starts.start([], fails)
    assert error.value.reason is raised


def test_p20_the_error_of_on_start_is_the_cause():
    with pytest.raises(ActorStartError) as error:
        Starts.start([], fail)
    assert error.value.__cause__ is ERROR


def test_p20_on_start_has_a_time_limit(registry, named):
    said, dead = [], []

    def hangs(me):
        dead.append(me.actor_ref)
        Event().wait()

    with pytest.raises(ActorStartError) as error:
        Starts.start_with(named, said, hangs)
    assert isinstance(error.value.reason, InitTimeout)
    assert said == ["on_start"]
    assert not dead[0].is_alive()
    assert registry.names() == []


def test_p20_a_start_that_is_given_up_leaves_no_actor():
    inside, born = Event(), []

    def hangs(me):
        born.append(me.actor_ref)
        inside.set()
        Event().wait()

    class Patient(Starts):
        init_timeout_ms = None

    starting = gevent.spawn(Patient.start, [], hangs)
    assert inside.wait(BOUND_S)
    starting.kill(timeout=BOUND_S)
    assert born[0].exited.wait(BOUND_S)
    assert born[0].exit_reason is KILLED


def test_p20_a_failing_constructor_starts_nothing(registry, named):
    class Fails(Doer):
        def __init__(self):
            super().__init__()
            raise ERROR

    with pytest.raises(ValueError, match="cannot be initialised"):
        Fails.start_with(named)
    assert registry.names() == []


def test_p21_a_name_of_a_failed_start_may_be_used_at_once(start, registry, named):
    for _ in range(3):
        with pytest.raises(ActorStartError):
            Starts.start_with(named, [], fail)
    ref = start(Doer, options=named)
    assert registry.whereis("one") is ref


def test_a_kill_before_the_first_instruction_runs_nothing_and_fails_who_asked(registry, named):
    """Callbacks of the hub run in order: whoever is ready before the new actor may kill it before it began."""
    said, asked = [], []

    def ask_and_kill():
        ref = registry.whereis("one")
        asked.append(ref.ask("anything", block=False))
        ref.kill()

    starting = gevent.spawn(Starts.start_with, named, said)
    killing = gevent.spawn(ask_and_kill)
    gevent.joinall([starting, killing], timeout=BOUND_S)
    assert killing.successful()
    assert isinstance(starting.exception, ActorStartError)
    assert starting.exception.reason is KILLED
    with pytest.raises(ActorDied):
        asked[0].get(timeout=BOUND_S)
    assert said == []
    assert registry.names() == []


def test_a_child_of_a_dead_parent_ends_before_its_first_instruction(start):
    parent, said = start(Doer), []
    parent.stop()
    with pytest.raises(ActorStartError) as error:
        Starts.start_with(StartOptions(link_to=parent), said)
    assert error.value.reason is NOPROC
    assert said == []


def test_start_may_be_called_by_an_actor(start):
    parent = start(Doer)
    child = parent.ask(lambda me: Doer.start_with(StartOptions(link_to=me.actor_ref)))
    assert child.ask(lambda _: "alive") == "alive"
    parent.kill()
    assert child.exited.wait(BOUND_S)
