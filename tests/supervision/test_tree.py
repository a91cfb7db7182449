"""Looking at a tree: what runs, what waits, what was restarted, as data and as text."""

import pytest
from gevent.event import Event
from supervised import BOUND_S, refs

from taskward.actors import Actor, ActorDeadError
from taskward.supervision import (
    ChildSpec,
    DynamicSupervisor,
    Node,
    Restart,
    Supervisor,
    render_tree,
    start_child,
    tree,
    which_children,
)


class Child(Actor):
    def on_receive(self, message):
        return message(self)


@pytest.fixture
def root(start):
    inner = ChildSpec("inner", Supervisor, ([ChildSpec("a", Child), ChildSpec("b", Child, restart=Restart.TRANSIENT)],))
    return start(Supervisor, [inner, ChildSpec("dynamic", DynamicSupervisor)])


def child(node, *path):
    for id_ in path:
        node = next(one for one in node.children if one.id == id_)
    return node


def test_every_process_is_shown(root):
    dynamic = refs(root)["dynamic"]
    born = start_child(dynamic, Child)
    node = tree(root)
    assert (node.id, node.actor, node.state) == ("root", str(root), "running")
    assert [one.id for one in node.children] == ["inner", "dynamic"]
    assert [one.id for one in child(node, "inner").children] == ["a", "b"]
    assert [one.id for one in child(node, "dynamic").children] == [str(born)]


def test_restarts_are_counted_and_the_stopped_are_shown(root):
    inner = refs(root)["inner"]
    children = refs(inner)
    children["a"].kill()
    children["b"].stop()
    assert children["a"].exited.wait(BOUND_S)
    node = tree(root)
    assert (child(node, "inner", "a").restarts, child(node, "inner", "a").state) == (1, "running")
    assert (child(node, "inner", "b").restarts, child(node, "inner", "b").state) == (0, "stopped")


def test_messages_that_wait_are_counted(root):
    ref, entered, opened = refs(refs(root)["inner"])["a"], Event(), Event()
    ref.tell(lambda _: (entered.set(), opened.wait(BOUND_S)))
    assert entered.wait(BOUND_S)
    for _ in range(3):
        ref.tell(lambda _: None)
    assert child(tree(root), "inner", "a").mailbox_length == 3
    opened.set()


def test_a_large_family_is_cut_short(root):
    dynamic = refs(root)["dynamic"]
    for _ in range(5):
        start_child(dynamic, Child)
    assert len(child(tree(root, max_children=2), "dynamic").children) == 2


def test_a_dead_root_is_shown_as_stopped_and_has_no_children_to_ask_for(root):
    root.stop()
    node = tree(root)
    assert (node.state, node.children) == ("stopped", ())
    with pytest.raises(ActorDeadError):
        which_children(root)


def test_the_drawing():
    def node(id_, *children, state="running", waiting=0, restarts=0):
        return Node(id_, f"Some ({id_}-1)" if state == "running" else "", state, waiting, restarts, children)

    inner = node("inner", node("a", restarts=2), node("b", state="stopped"), waiting=3)
    assert render_tree(node("root", inner, node("dynamic", node("c")))).splitlines() == [
        "root  Some (root-1) (mailbox 0)",
        "├─ inner  Some (inner-1) (mailbox 3)",
        "│  ├─ a  Some (a-1) (mailbox 0, 2 restarts)",
        "│  └─ b  stopped (mailbox 0)",
        "└─ dynamic  Some (dynamic-1) (mailbox 0)",
        "   └─ c  Some (c-1) (mailbox 0)",
    ]
