"""The routing headers of Streamable HTTP: they repeat what the body says, and must agree with it.

Takes a WSGI environ; knows the digest's header rung and nothing else.
"""

import base64
from collections.abc import Mapping
from typing import Any

from taskward.mcp.envelope import Request
from taskward.mcp.errors import HEADER_MISMATCH, WireError

NAMED_BY = {
    "tools/call": "name",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
"""Which param `Mcp-Name` repeats, by method."""

TOLERATED = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})
"""Methods whose missing `Mcp-Name` is forgiven by default: a common client omits it there."""

_PREFIX, _SUFFIX = "=?base64?", "?="


def check_version_header(environ: Mapping[str, Any], request: Request) -> None:
    """Compare `MCP-Protocol-Version` with the body, before the version itself is judged."""
    _must_equal("MCP-Protocol-Version", _header(environ, "MCP_PROTOCOL_VERSION"), request.version)


def check_method_header(environ: Mapping[str, Any], request: Request) -> None:
    """Compare `Mcp-Method` with the body."""
    _must_equal("Mcp-Method", _header(environ, "MCP_METHOD"), request.method)


def check_name_header(environ: Mapping[str, Any], request: Request, *, strict: bool) -> None:
    """Compare `Mcp-Name` with the param that it repeats.

    Args:
        environ: the WSGI environ.
        request: the request.
        strict: refuse a missing header on `tasks/*` too.

    Raises:
        WireError: -32020; it is missing, unreadable, or says something else.
    """
    param = NAMED_BY.get(request.method)
    named = request.params.get(param) if param else None
    if not isinstance(named, str):
        return  # whether the param itself is there is judged with the params
    value = _header(environ, "MCP_NAME")
    if value is None and request.method in TOLERATED and not strict:
        return
    _must_equal("Mcp-Name", None if value is None else decode_value("Mcp-Name", value), named)


def decode_value(header: str, value: str) -> str:
    """Undo the base64 sentinel `=?base64?…?=` in a header's value; anything else is a literal.

    Raises:
        WireError: -32020; what stands in the sentinel is not base64 of UTF-8.
    """
    inner = value.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    if value != f"{_PREFIX}{inner}{_SUFFIX}":
        return value
    try:
        decoded = base64.b64decode(inner, validate=True)
        if base64.b64encode(decoded).decode() == inner:  # Python forgives padding that is too long
            return decoded.decode()
    except ValueError:
        pass
    raise WireError(HEADER_MISMATCH, f"{header} holds =?base64?…?= that is not base64 of UTF-8.")


def _header(environ: Mapping[str, Any], name: str) -> str | None:
    value = environ.get(f"HTTP_{name}")
    return None if value is None else value.strip(" \t")


def _must_equal(name: str, value: str | None, expected: str) -> None:
    if value is None:
        raise WireError(HEADER_MISMATCH, f"The header {name} is missing; it must repeat what the body says.")
    if value != expected:
        raise WireError(HEADER_MISMATCH, f"The header {name} does not match the body; they must be equal.")
