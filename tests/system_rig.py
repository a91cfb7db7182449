"""A task system in the test's own process, on an executor that the test writes."""

import gevent
from gevent.event import Event
from store_rig import DECLARED

from taskward import SHARED, Completed, TaskSystem, Work
from taskward.domain import event as ev
from taskward.domain.retry import RetryPolicy
from taskward.stores import contract as c
from taskward.supervision.attempts.runner import Timing

BOUND_S = 10.0
QUICK = Timing(lease_ms=2_000, heartbeat_ms=500, shutdown_ms=100, kill_after_ms=200)


class SystemRig:
    """One task system, and short forms for what a request would do with it.

    Args:
        backend: an open store.
        body: `(work, ctx) -> outcome`; the work's input says which task this is.
        settings: as for `TaskSystem`.
    """

    def __init__(self, backend, body, settings):
        self.backend = backend
        self.events = []
        self._heard = Event()
        self._body = body
        self.system = TaskSystem(backend, self, scope=SHARED, settings=settings, instrument=self._hear)
        self.system.start()

    def execute(self, work, ctx):
        return self._body(work, ctx)

    def _hear(self, name, measurements, metadata):
        self.events.append((name, {**measurements, **metadata}))
        self._heard.set()

    def create(self, name="t", *, delays=(), ttl_ms=None):
        created = self.try_create(name, delays=delays, ttl_ms=ttl_ms)
        assert isinstance(created, c.Created), created
        return created.snapshot.task.task_id

    def try_create(self, name="t", *, delays=(), ttl_ms=None):
        key, task_id = self.system.store.mint()
        work = Work(
            type="test",
            input={"name": name},
            idempotency_key=task_id,
            retry_policy=RetryPolicy.exact(list(delays)),
        )
        access = self.system.store.authorize(None, "create", task_id)
        return self.system.create(c.Create(access=access, key=key, work=work, ttl_ms=ttl_ms, declared_inputs=DECLARED))

    def task(self, task_id):
        found = self.system.store.get(self.system.store.authorize(None, "get", task_id))
        return found.task if isinstance(found, c.Found) else found

    def until(self, task_id, status):
        """Wait, by the feed, until a task has this status."""
        key = self.system.store.authorize(None, "get", task_id).key
        woken = Event()
        with self.system.feed.listening(key, lambda transition: woken.set()), gevent.Timeout(BOUND_S):
            while self.task(task_id).status != status:
                woken.wait()
                woken.clear()
        return self.task(task_id)

    def until_event(self, name, count=1):
        """Wait until this event was heard `count` times; give the last of them."""
        with gevent.Timeout(BOUND_S, AssertionError(f"no {count} x {name} in {self.events}")):
            while len(self.heard(name)) < count:
                self._heard.wait()
                self._heard.clear()
        return self.heard(name)[count - 1]

    def heard(self, name):
        return [what for said, what in self.events if said == name]

    def answer(self, task_id, key="go", ok=True):
        access = self.system.store.authorize(None, "update", task_id)
        response = {"action": "accept", "content": {"ok": ok}}
        event = ev.InputResponsesAccepted(responses={key: response})
        return self.system.store.execute(c.Commit(authority=access, event=event))

    def cancel(self, task_id):
        access = self.system.store.authorize(None, "cancel", task_id)
        return self.system.store.execute(c.Commit(authority=access, event=ev.Cancelled(message=None)))

    def actor(self, name):
        """The living actor of this name in the system's tree."""
        return self.system.registry.whereis(name)

    def successor(self, name, predecessor):
        """Wait until another actor has the name."""
        with gevent.Timeout(BOUND_S):
            while self.actor(name) in (None, predecessor):
                gevent.sleep(0.001)  # a name has no event
        return self.actor(name)

    def stop(self):
        self.system.stop(drain_ms=0, shutdown_ms=100)


def hold_out(release):
    """What a body does that cannot be stopped: swallow everything until it is let go."""
    while not release.is_set():
        try:
            release.wait(BOUND_S)
        except BaseException:
            continue


def done(text="done"):
    return Completed({"resultType": "complete", "content": [{"type": "text", "text": text}]})
