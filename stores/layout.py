"""Where things lie: the tables and the keys in them. Bytes only; big-endian, so that order is meaning.

`K` is a task key (22 bytes: store clock ms, then 16 random bytes); `ms` is 8 bytes of store clock.
"""

import hashlib

from taskward.stores.contract import Table

SCOPE_BYTES = 16

META = Table("meta")
"""name -> msgpack value: `schema`, `store_id`, `epoch`, `clock`, `clean`."""

TASK = Table("task")
"""K -> the hot row: snapshot without work, scope, lease. One table for live and ended tasks."""

WORK = Table("work")
"""K -> the work descriptor, written once."""

READY = Table("ready")
"""scope16, created ms, K -> nothing: working tasks without a lease that may be claimed now."""

SCHED = Table("sched")
"""due ms, K -> nothing: back-offs by the moment they end."""

LEASE = Table("lease")
"""epoch u64, K -> nothing: leased tasks; keys below the current epoch are orphans."""

ACTIVE = Table("active", group=SCOPE_BYTES)
"""scope16, K: tasks that have not ended, counted by scope."""

EXPIRY = Table("expiry")
"""expiry ms, K -> nothing: what to reap, soonest first."""

EVENT = Table("event")
"""K, blake2b-16 of the event id -> revision, kind, time: history, and proof that it was applied (I5)."""

TABLES = (META, TASK, WORK, READY, SCHED, LEASE, ACTIVE, EXPIRY, EVENT)

CLOCK_KEY = b"clock"

STORE_ID_BYTES = 8


def u64(value: int) -> bytes:
    """Encode an unsigned integer so that byte order is numeric order."""
    return value.to_bytes(8, "big")


def ready_key(scope: bytes, created_ms: int, key: bytes) -> bytes:
    """Key of `READY`."""
    return scope + u64(created_ms) + key


def due_key(due_ms: int, key: bytes) -> bytes:
    """Key of `SCHED` and `EXPIRY`."""
    return u64(due_ms) + key


def lease_key(epoch: int, key: bytes) -> bytes:
    """Key of `LEASE`."""
    return u64(epoch) + key


def event_key(key: bytes, event_id: str) -> bytes:
    """Key of `EVENT`."""
    return key + hashlib.blake2b(event_id.encode(), digest_size=16).digest()


def after(key: bytes) -> bytes:
    """Give the smallest key above `key`."""
    return key + b"\0"
