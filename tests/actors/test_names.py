"""Names: one living actor each, decided before anything of a second one has run, free before anybody hears."""

import gevent
import pytest
from gevent.event import Event

from taskward.actors import Actor, ActorStartError, AlreadyStarted, NamedRef, NoProc, Registry, StartOptions

BOUND_S = 5.0


class Doer(Actor):
    def on_receive(self, message):
        return message(self)


@pytest.fixture
def registry():
    return Registry()


@pytest.fixture
def named(registry):
    return StartOptions(name="one", registry=registry)


def test_n1_of_two_concurrent_starts_one_wins_and_nothing_of_the_other_has_run(start, registry, named):
    ran, go_on = [], Event()

    class Slow(Doer):
        def on_start(self):
            ran.append(self.actor_ref)
            assert go_on.wait(BOUND_S)

    starts = [gevent.spawn(start, Slow, options=named) for _ in range(2)]
    with pytest.raises(AlreadyStarted) as error:
        starts[1].get(timeout=BOUND_S)
    refused = error.value
    assert refused.ref is registry.whereis("one")
    go_on.set()
    winner = starts[0].get(timeout=BOUND_S)
    assert ran == [winner] == [refused.ref]


def test_n1_a_constructor_that_yields_does_not_get_two_past_the_check(start, registry, named):
    class Yields(Doer):
        def __init__(self):
            super().__init__()
            gevent.sleep(0)

    starts = [gevent.spawn(start, Yields, options=named) for _ in range(5)]
    gevent.joinall(starts, timeout=BOUND_S)
    assert [start.successful() for start in starts].count(True) == 1
    assert {type(start.exception) for start in starts} == {AlreadyStarted, type(None)}
    assert registry.whereis("one").ask(lambda _: "alive") == "alive"


def test_n1_a_name_of_one_registry_is_free_in_another(start, named):
    start(Doer, options=named)
    start(Doer, options=StartOptions(name="one", registry=Registry()))


def test_n2_a_taken_name_an_actor_that_has_one_and_a_dead_one_are_refused(start, registry, named):
    ref, nameless = start(Doer, options=named), start(Doer)
    with pytest.raises(AlreadyStarted):
        registry.register("one", nameless.cell)
    with pytest.raises(ValueError, match="has a name"):
        registry.register("another", ref.cell)
    nameless.kill()
    assert nameless.exited.wait(BOUND_S)
    with pytest.raises(ValueError, match="has ended"):
        registry.register("another", nameless.cell)
    assert registry.names() == ["one"]
    assert ref.name == "one"


def test_n2_a_living_actor_may_be_named_later(start, registry):
    ref = start(Doer)
    registry.register("late", ref.cell)
    assert registry.whereis("late") is ref
    ref.stop()
    assert registry.names() == []


@pytest.mark.parametrize("end", [lambda ref: ref.stop(), lambda ref: ref.kill()], ids=["stop", "kill"])
def test_n3_a_name_is_free_when_the_exit_is_visible(start, registry, named, end):
    for _ in range(10):
        ref = start(Doer, options=named)
        end(ref)
        assert ref.exited.wait(BOUND_S)
        assert registry.names() == []


def test_n4_whoever_is_found_is_alive(start, registry, named):
    """At every turn of the hub, from before the start until after the end."""
    found, stop = [], Event()

    def look():
        while not stop.is_set():
            ref = registry.whereis("one")
            found.append(ref is not None and ref.is_alive())
            assert ref is None or ref.is_alive()
            gevent.sleep(0)

    looking = gevent.spawn(look)
    for n in range(20):
        ref = start(Doer, options=named)
        (ref.kill if n % 2 else ref.stop)()
        assert ref.exited.wait(BOUND_S)
    stop.set()
    looking.get(timeout=BOUND_S)
    assert True in found


def test_n4_the_name_of_an_actor_that_did_not_start_is_free(registry, named):
    class Fails(Doer):
        def on_start(self):
            raise ValueError

    with pytest.raises(ActorStartError):
        Fails.start_with(named)
    assert registry.whereis("one") is None


def test_n4_releasing_a_name_does_not_take_it_from_its_next_holder(start, registry, named):
    first = start(Doer, options=named)
    first.stop()
    second = start(Doer, options=named)
    registry.release("one", first.cell)
    assert registry.whereis("one") is second


def test_n6_a_name_reaches_whoever_has_it_now(start, registry, named):
    ref, got = NamedRef(registry, "one"), []
    with pytest.raises(NoProc):
        ref.resolve()
    for generation in range(2):
        holder = start(Doer, options=named)
        assert ref.resolve() is holder
        assert ref.ask(lambda me: me.actor_ref) is holder
        ref.tell(lambda me: got.append(me.actor_ref))
        ref.cast(lambda me: got.append(me.actor_ref))
        holder.stop()
        assert got[2 * generation :] == [holder, holder]
    with pytest.raises(NoProc):
        ref.resolve()
