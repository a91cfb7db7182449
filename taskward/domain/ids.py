"""Task ids: 48 bits of store time and 128 random bits, spelt so that they sort by age.

Time and randomness are arguments; nothing here reads a clock. The *key* is the 22 bytes under
which a store keeps the task, the *id* is what a client holds: base32hex, 36 header-safe characters.
"""

import base64
import binascii

KEY_BYTES = 22
RANDOM_BYTES = 16
ID_LENGTH = 36

_PADDING = "===="


def mint_key(now_ms: int, random: bytes) -> bytes:
    """Give a new task key.

    Args:
        now_ms: the store clock, in ms since the epoch.
        random: 16 bytes from a cryptographic source (SEP-2663: ids are not guessable).
    """
    if len(random) != RANDOM_BYTES:
        raise ValueError(f"a task key takes {RANDOM_BYTES} random bytes, not {len(random)}")
    return now_ms.to_bytes(6, "big") + random


def id_of(key: bytes) -> str:
    """Spell a key as the id that a client holds."""
    return base64.b32hexencode(key).decode().rstrip("=").lower()


def key_of(task_id: str) -> bytes | None:
    """Read an id back; `None` if it is not one that `id_of` can have spelt."""
    if len(task_id) != ID_LENGTH or not task_id.isascii():
        return None
    try:
        key = base64.b32hexdecode(task_id.upper() + _PADDING)
    except binascii.Error:
        return None
    return key if id_of(key) == task_id else None
