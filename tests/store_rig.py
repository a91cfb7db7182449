"""A store as the task system runs it, without the tasks: backend, committer, store actor, front door."""

import secrets

from taskward.actors import NORMAL, NamedRef, Registry, StartOptions, stop_actor
from taskward.domain import event as ev
from taskward.domain.work import TOOL_CALL, Work
from taskward.stores import contract as c
from taskward.stores.actor import StoreActor
from taskward.stores.clock import ManualClock, StoreClock
from taskward.stores.committer import Committer
from taskward.stores.fence import Limits
from taskward.stores.lmdb import LmdbBackend
from taskward.stores.memory import MemoryBackend
from taskward.stores.store import Store, clock_mark

DECLARED = frozenset({"elicitation.form"})
FORM = {"method": "elicitation/create", "params": {"mode": "form", "message": "Go on?", "requestedSchema": {}}}
RESULT = {"resultType": "complete", "content": []}
ERROR = {"code": -32603, "message": "no"}
LEASE_MS = 30_000
OPENERS = {"memory": lambda path: MemoryBackend(), "lmdb": LmdbBackend.open}


class StoreRig:
    """One open store on a clock of its own.

    Args:
        open_backend: called to open, and to open again.
        scope: as for `Store`.
        limits: as for `Store`.
    """

    def __init__(self, open_backend, *, scope=lambda principal: principal, limits=None):
        self._open_backend = open_backend
        self._scope = scope
        self._limits = limits or Limits()
        self.clock = ManualClock()
        self.published = []
        self.start()

    def start(self):
        self.backend = self._open_backend()
        self.committer = Committer(self.backend)
        self._registry = Registry()
        self._store_clock = StoreClock(self.clock, clock_mark(self.backend))
        self.start_actor()
        address = NamedRef(self._registry, "store")
        self.store = Store(address, self.backend, self._store_clock, scope=self._scope, limits=self._limits)

    def start_actor(self):
        args = (self.backend, self.committer, self._store_clock, self._limits, self.published.extend)
        self.actor = StoreActor.start_with(StartOptions(name="store", registry=self._registry), *args)

    def stop(self):
        stop_actor(self.actor, shutdown_ms=5_000)
        self.committer.close()
        self.backend.close()

    def reopen(self):
        """Stop in good order, and open the same store again."""
        self.stop()
        self.start()

    def restart_actor(self):
        """Kill the store actor, as a crash would, and start its successor on the same open store."""
        stop_actor(self.actor, shutdown_ms=0, reason=NORMAL)
        self.start_actor()

    # --- short forms

    def do(self, op, **options):
        return self.store.execute(op, **options)

    def access(self, task_id, action="get", principal="alice"):
        return self.store.authorize(principal, action, task_id)

    def create(self, *, principal="alice", delays=(), claim=False, ttl_ms=86_400_000, text=""):
        """Create a task; give its id and, if asked for, its first lease."""
        created = self.try_create(principal=principal, delays=delays, claim=claim, ttl_ms=ttl_ms, text=text)
        assert isinstance(created, c.Created), created
        task_id = created.snapshot.task.task_id
        return (task_id, created.claimed.lease) if claim else task_id

    def try_create(self, *, principal="alice", delays=(), claim=False, ttl_ms=86_400_000, text="", **options):
        from taskward.domain.retry import RetryPolicy

        key, task_id = self.store.mint()
        work = Work(
            type=TOOL_CALL,
            input={"name": "t", "arguments": {"text": text}},
            idempotency_key=task_id,
            retry_policy=RetryPolicy.exact(list(delays)),
        )
        op = c.Create(
            access=self.access(task_id, "create", principal),
            key=key,
            work=work,
            ttl_ms=ttl_ms,
            declared_inputs=DECLARED,
            claim=self.terms() if claim else None,
        )
        return self.do(op, **options)

    def terms(self, owner="rig", nonce=None):
        return c.ClaimTerms(owner=owner, nonce=nonce or secrets.token_bytes(16), lease_ms=LEASE_MS)

    def claim(self, task_id, *, supersedes=None, nonce=None):
        key = self.access(task_id).key
        return self.do(c.Claim(key=key, terms=self.terms(nonce=nonce), supersedes=supersedes))

    def claim_next(self, limit=10, after_scope=b""):
        return self.do(c.ClaimNext(terms=self.terms(), limit=limit, after_scope=after_scope))

    def claimed_ids(self, **options):
        return [claimed.lease.task_id for claimed in self.claim_next(**options).claimed]

    def commit(self, authority, event, **options):
        return self.do(c.Commit(authority=authority, event=event, **options))

    def get(self, task_id, principal="alice"):
        return self.store.get(self.access(task_id, principal=principal))

    def task(self, task_id, principal="alice"):
        found = self.get(task_id, principal)
        assert isinstance(found, c.Found), found
        return found.task

    def ask(self, lease, key="go", request=FORM):
        return self.commit(lease, ev.InputRequested(key=key, request=request))

    def answer(self, task_id, key="go"):
        response = {"action": "accept", "content": {"ok": True}}
        return self.commit(self.access(task_id, "update"), ev.InputResponsesAccepted(responses={key: response}))

    def cancel(self, task_id):
        return self.commit(self.access(task_id, "cancel"), ev.Cancelled(message="no more"))

    def complete(self, lease):
        return self.commit(lease, ev.Completed(result=RESULT))


def worker_operations(lease):
    """Every operation that a worker can do, under this lease, by name."""
    commit = {
        event.kind: c.Commit(authority=lease, event=event)
        for event in (
            ev.Progress(message="late"),
            ev.InputRequested(key="late", request=FORM),
            ev.RetryRequested(error=ERROR, message="late"),
            ev.Completed(result=RESULT),
            ev.Failed(error=ERROR, message="late"),
            ev.Cancelled(message="late"),
        )
    }
    return {
        **commit,
        "get": c.WorkerGet(lease=lease),
        "renew": c.Renew(leases=(lease,), lease_ms=LEASE_MS),
        "release": c.Release(lease=lease),
        "supersede": c.Claim(
            key=lease.key,
            terms=c.ClaimTerms(owner="late", nonce=secrets.token_bytes(16), lease_ms=LEASE_MS),
            supersedes=lease,
        ),
    }


def refused_as_stale(op, result):
    """Whether a result says that the lease of this operation is not the current one."""
    if isinstance(op, c.Renew):
        return result == c.Renewed(stale=op.leases)
    return isinstance(result, c.StaleLease)
