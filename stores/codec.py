"""How a value lies on disk: record version, CRC over key and payload, msgpack. Never guesses.

A record that does not verify is an error that names it; it is skipped by claims and served to nobody.
"""

from contextlib import closing
from typing import Any
from zlib import crc32

import msgpack

from taskward.domain.errors import TaskwardError
from taskward.stores.contract import Backend, Table
from taskward.stores.layout import META

RECORD_VERSION = 1
HEADER_BYTES = 5


class CorruptRecord(TaskwardError):
    """A stored record does not verify. Run `taskward store verify` on a copy; restore it from a backup."""


def seal(key: bytes, value: Any) -> bytes:
    """Encode a value for storage under `key`: version byte, CRC-32 of key and payload, payload."""
    payload: bytes = msgpack.packb(value, use_bin_type=True)
    return bytes((RECORD_VERSION,)) + crc32(payload, crc32(key)).to_bytes(4, "big") + payload


def unseal(table: Table, key: bytes, blob: bytes) -> Any:
    """Decode what `seal` gave.

    Raises:
        CorruptRecord: the version is unknown or the checksum is wrong; names table and key.
    """
    if len(blob) < HEADER_BYTES or blob[0] != RECORD_VERSION:
        raise CorruptRecord(f"record {key.hex()} of table {table.name!r} is not of version {RECORD_VERSION}")
    payload = blob[HEADER_BYTES:]
    if int.from_bytes(blob[1:HEADER_BYTES], "big") != crc32(payload, crc32(key)):
        raise CorruptRecord(f"record {key.hex()} of table {table.name!r} fails its checksum")
    return msgpack.unpackb(payload, raw=False, strict_map_key=True)


def read_meta(backend: Backend, name: bytes, default: Any) -> Any:
    """Read one value of the table of facts about the store itself; `default` if it is not there.

    Raises:
        CorruptRecord: it does not verify.
    """
    with closing(backend.read()) as view:
        blob = view.get(META, name)
    return default if blob is None else unseal(META, name, blob)
