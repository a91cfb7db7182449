"""Errors as the wire knows them: JSON-RPC code, sentence, data, HTTP status.

The only place that knows codes. Rooms below raise their own errors; they are renamed here.
"""

from typing import Any

from taskward.domain.errors import TaskwardError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

TASKS = "io.modelcontextprotocol/tasks"

HTTP_STATUS = {METHOD_NOT_FOUND: 404, INTERNAL_ERROR: 200}
"""HTTP status by code (MCP 2026-07-28, base protocol, errors); every other code answers 400."""


class WireError(TaskwardError):
    """A request is refused with a JSON-RPC error.

    Args:
        code: JSON-RPC error code.
        message: one sentence that says what to do.
        data: what the code requires, e.g. `requiredCapabilities` for -32021.
        http_status: HTTP status; by default the one that belongs to the code.
    """

    def __init__(self, code: int, message: str, data: Any = None, *, http_status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.http_status = http_status or HTTP_STATUS.get(code, 400)

    def to_error(self) -> dict[str, Any]:
        """Give the JSON-RPC `error` object."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


def missing_capability(required: dict[str, Any], message: str) -> WireError:
    """Refuse for want of a client capability (-32021), naming it as the schema demands."""
    return WireError(MISSING_CAPABILITY, message, {"requiredCapabilities": required})


def tasks_not_declared(what: str) -> WireError:
    """Refuse a caller that did not declare the Tasks extension on this very request (SEP-2663)."""
    return missing_capability(
        {"extensions": {TASKS: {}}},
        f"{what} needs the Tasks extension: declare {TASKS} in this request's client capabilities.",
    )


def retryable(message: str, limit: str | None = None) -> WireError:
    """Refuse for now: the same request may succeed later."""
    data: dict[str, Any] = {"retryable": True}
    if limit is not None:
        data["limit"] = limit
    return WireError(INTERNAL_ERROR, message, data)
