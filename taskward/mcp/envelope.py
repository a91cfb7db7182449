"""From one decoded JSON value to one `Request`: the JSON-RPC shape and the per-request `_meta`.

Sans I/O, no HTTP. Rungs 1, 2 and 4 of the order of checks; the header rung lies between them, so
each rung is a function of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from taskward.domain.json_value import JsonObject
from taskward.mcp.errors import INVALID_PARAMS, INVALID_REQUEST, TASKS, UNSUPPORTED_VERSION, WireError

PROTOCOL_VERSION = "2026-07-28"
SUPPORTED_VERSIONS = (PROTOCOL_VERSION,)
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

RequestId = str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, checked in shape; nothing below the wire sees more of it.

    Attributes:
        id: the JSON-RPC id.
        method: the method name.
        params: its params, `_meta` included.
        version: the protocol version it claims.
        capabilities: the client capabilities it declares, for itself alone.
        principal: who asks, as the application's authentication says; `None` = anonymous.
    """

    id: RequestId
    method: str
    params: JsonObject
    version: str
    capabilities: JsonObject
    principal: Any = None

    @property
    def declares_tasks(self) -> bool:
        """Whether this very request declares the Tasks extension; `{}` counts."""
        extensions = self.capabilities.get("extensions")
        return isinstance(extensions, Mapping) and TASKS in extensions


def message_of(value: Any) -> JsonObject:
    """Check the outer shape of a message.

    Returns:
        The message; without `id` it is a notification.

    Raises:
        WireError: -32600; it is a batch, a response, or not a JSON-RPC message at all.
    """
    if isinstance(value, list):
        raise WireError(INVALID_REQUEST, "Batches are not part of this protocol: send one message per POST.")
    if not isinstance(value, dict):
        raise WireError(INVALID_REQUEST, "A message is a JSON object.")
    if value.get("jsonrpc") != "2.0":
        raise WireError(INVALID_REQUEST, 'A message carries "jsonrpc": "2.0".')
    if not isinstance(value.get("method"), str):
        raise WireError(INVALID_REQUEST, "A client sends requests and notifications: `method` must be a string.")
    if "id" in value and type(value["id"]) not in (str, int):
        raise WireError(INVALID_REQUEST, "`id` must be a string or an integer.")
    if not isinstance(value.get("params", {}), dict):
        raise WireError(INVALID_REQUEST, "`params` must be an object.")
    return value


def readable_id(value: Any) -> RequestId | None:
    """Give the id of whatever was sent, if there is a usable one: errors carry it back."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if type(found) in (str, int) else None


def request_of(message: JsonObject, principal: Any) -> Request:
    """Check `_meta` and the two keys that every request must carry.

    Raises:
        WireError: -32602; one is missing or of the wrong type.
    """
    params = message.get("params", {})
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        raise WireError(INVALID_PARAMS, "`params._meta` must be an object that names version and capabilities.")
    _check_meta(meta)
    return Request(
        id=message["id"],
        method=message["method"],
        params=params,
        version=meta[META_VERSION],
        capabilities=meta[META_CAPABILITIES],
        principal=principal,
    )


def _check_meta(meta: JsonObject) -> None:
    for key, kind, name in ((META_VERSION, str, "a string"), (META_CAPABILITIES, dict, "an object")):
        if not isinstance(meta.get(key), kind):
            raise WireError(INVALID_PARAMS, f"`_meta` must carry `{key}` as {name}.")
    if META_CLIENT in meta and not _is_implementation(meta[META_CLIENT]):
        raise WireError(INVALID_PARAMS, f"`{META_CLIENT}` needs a `name` and a `version`, both strings.")
    if type(meta.get("progressToken", "")) not in (str, int):
        raise WireError(INVALID_PARAMS, "`progressToken` must be a string or an integer.")
    if meta.get(META_LOG_LEVEL, LOG_LEVELS[0]) not in LOG_LEVELS:
        raise WireError(INVALID_PARAMS, f"`{META_LOG_LEVEL}` must be one of {', '.join(LOG_LEVELS)}.")


def _is_implementation(client: Any) -> bool:
    return isinstance(client, dict) and all(isinstance(client.get(key), str) for key in ("name", "version"))


def check_version(request: Request) -> None:
    """Refuse a version that is not served.

    Raises:
        WireError: -32022, naming what is supported.
    """
    if request.version not in SUPPORTED_VERSIONS:
        raise unsupported_version(request.version)


def unsupported_version(requested: str) -> WireError:
    """Give the refusal of a protocol version."""
    return WireError(
        UNSUPPORTED_VERSION,
        f"Protocol version {requested!r} is not served; use {PROTOCOL_VERSION}.",
        {"supported": list(SUPPORTED_VERSIONS), "requested": requested},
    )
