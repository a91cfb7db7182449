"""The stored form of one task: its snapshot, whose it is, and who may write to it."""

from dataclasses import dataclass, replace
from typing import Self

from taskward.domain import ids
from taskward.domain.snapshot import Snapshot
from taskward.domain.work import Work
from taskward.stores.codec import seal, unseal
from taskward.stores.contract import Claimed, Lease, View
from taskward.stores.layout import TASK, WORK

NO_NONCE = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One task as a store keeps it.

    Attributes:
        key: the task's key.
        scope: whose task it is, 16 bytes.
        snapshot: its state.
        generation: number of claims granted; never falls.
        nonce: of the lease granted last; empty when it was given back.
        epoch: boot epoch of that lease.
    """

    key: bytes
    scope: bytes
    snapshot: Snapshot
    generation: int = 0
    nonce: bytes = NO_NONCE
    epoch: int = 0

    @property
    def leased(self) -> bool:
        """Whether a lease was granted and not given back; it may be of a dead epoch."""
        return self.nonce != NO_NONCE

    def lease(self, store_id: bytes) -> Lease:
        """Give the lease granted last."""
        return Lease(
            store=store_id,
            epoch=self.epoch,
            generation=self.generation,
            nonce=self.nonce,
            key=self.key,
            task_id=self.snapshot.task.task_id,
        )

    def claimed(self, store_id: bytes) -> Claimed:
        """Give what the claimant is told."""
        return Claimed(self.lease(store_id), self.snapshot)

    def at(self, snapshot: Snapshot) -> Self:
        """Give this record with another snapshot."""
        return replace(self, snapshot=snapshot)

    def unleased(self) -> Self:
        """Give this record without a lease; the generation stays."""
        return replace(self, nonce=NO_NONCE)

    def sealed(self) -> bytes:
        """Encode the hot row."""
        row = {
            "scope": self.scope,
            "gen": self.generation,
            "nonce": self.nonce,
            "epoch": self.epoch,
            "state": self.snapshot.to_map(),
        }
        return seal(self.key, row)


def load(view: View, key: bytes) -> Record | None:
    """Read one record, work included.

    Raises:
        CorruptRecord: a row does not verify.
    """
    blob = view.get(TASK, key)
    if blob is None:
        return None
    row = unseal(TASK, key, blob)
    work_blob = view.get(WORK, key)
    work = Work.from_map(unseal(WORK, key, work_blob or b""))
    return Record(
        key=key,
        scope=row["scope"],
        snapshot=Snapshot.from_map(ids.id_of(key), row["state"], work),
        generation=row["gen"],
        nonce=row["nonce"],
        epoch=row["epoch"],
    )
