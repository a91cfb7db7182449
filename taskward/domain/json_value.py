"""What may be kept: JSON values that every reader, today and later, decodes to the same thing.

Knows nothing of tasks. A value is checked at the edge, before anything is written, so that a
stored record can always be read back.
"""

import hashlib
import json
import math
from typing import Any

from taskward.domain.errors import InvalidValue

MAX_DEPTH = 64
MIN_INTEGER, MAX_INTEGER = -(2**63), 2**63 - 1

JsonObject = dict[str, Any]


def check_json(value: Any, *, max_bytes: int | None, path: str = "$") -> None:
    """Refuse a value that JSON cannot carry safely, or that is too large.

    Args:
        value: the value to check.
        max_bytes: the longest allowed compact UTF-8 encoding, in bytes; `None` = any.
        path: how the message names the root of the value.

    Raises:
        InvalidValue: the message names the path of the first fault.
    """
    _check(value, path, 0)
    if max_bytes is None:
        return
    size = len(encode_json(value))
    if size > max_bytes:
        raise InvalidValue(f"{path} is {size} bytes as JSON; at most {max_bytes} bytes are kept. Send less.")


def encode_json(value: Any) -> bytes:
    """Give the canonical compact encoding of a checked JSON value (sorted keys, UTF-8 bytes)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value: Any) -> str:
    """Give a short stable digest of a checked JSON value: equal values, equal digests."""
    return hashlib.blake2b(encode_json(value), digest_size=16).hexdigest()


def _check(value: Any, path: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidValue(f"{path} is nested deeper than {MAX_DEPTH} levels. Flatten it.")
    match value:
        case None | bool():
            return
        case str():
            _check_text(value, path)
        case int() | float():
            _check_number(value, path)
        case list() | tuple():
            for index, item in enumerate(value):
                _check(item, f"{path}[{index}]", depth + 1)
        case dict():
            _check_object(value, path, depth)
        case _:
            raise InvalidValue(f"{path} is a {type(value).__name__}, which JSON does not have.")


def _check_number(value: float, path: str) -> None:
    if isinstance(value, int) and not MIN_INTEGER <= value <= MAX_INTEGER:
        raise InvalidValue(f"{path} is an integer beyond 64 bits. Send it as a string.")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidValue(f"{path} is {value}, which JSON does not have. Send null or a string.")


def _check_object(value: dict[Any, Any], path: str, depth: int) -> None:
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidValue(f"{path} has a key of type {type(key).__name__}; object keys are strings in JSON.")
        _check_text(key, path)
        _check(item, f"{path}.{key}", depth + 1)


def _check_text(value: str, path: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValue(f"{path} holds half of a surrogate pair, which UTF-8 cannot carry.") from None
