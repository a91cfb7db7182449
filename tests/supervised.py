"""Children for the tests of supervisors: each writes its life into a log, and does what it is sent."""

import gevent

from taskward.actors import Actor
from taskward.supervision import ChildSpec, which_children

BOUND_S = 5.0


class Child(Actor):
    """Yields before each word, so that an order that holds is not one of luck; handles a message by calling it."""

    trap_exit = True

    def __init__(self, name, log):
        super().__init__()
        self.name = name
        self.log = log

    def on_start(self):
        gevent.sleep(0)
        self.log.append(f"+{self.name}")

    def on_receive(self, message):
        return message(self)

    def terminate(self, reason):
        gevent.sleep(0)
        self.log.append(f"-{self.name}")


def specs(log, *names, actor=Child, **options):
    return [ChildSpec(name, actor, (name, log), **options) for name in names]


def refs(supervisor):
    return {child.id: child.ref for child in which_children(supervisor)}
