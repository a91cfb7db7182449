"""The one JSON codec of the wire: strict in, compact out."""

from typing import Any

import pydantic_core

from taskward.mcp.errors import PARSE_ERROR, WireError


def decode(body: bytes) -> Any:
    """Read one JSON text.

    Raises:
        WireError: -32700; the body is not JSON, is nested too deeply, or holds the words NaN or Infinity.
            A number beyond a double, `1e999`, is JSON, and is read as infinity.
    """
    try:
        return pydantic_core.from_json(body, allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        raise WireError(PARSE_ERROR, f"The body is not valid JSON: {error}.") from None


def encode(value: Any) -> bytes:
    """Write one value as compact UTF-8 JSON on one line."""
    return pydantic_core.to_json(value, inf_nan_mode="null")
