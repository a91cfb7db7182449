"""Streamable HTTP as a WSGI application: bytes in, one JSON object out.

Holds the order of checks (first failure wins) and nothing of what a method means.
"""

import logging
import socket
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Protocol

from taskward.domain.errors import TaskwardError
from taskward.domain.json_value import JsonObject
from taskward.mcp import codec, headers
from taskward.mcp.endpoint import Endpoint
from taskward.mcp.envelope import (
    Request,
    check_version,
    message_of,
    readable_id,
    request_of,
    unsupported_version,
)
from taskward.mcp.errors import INTERNAL_ERROR, INVALID_REQUEST, WireError
from taskward.mcp.security import HostPolicy

log = logging.getLogger("taskward.http")

MAX_BODY_BYTES = 4 * 1024 * 1024
READ_CHUNK = 64 * 1024
PATHS = frozenset({"", "/", "/mcp"})

Environ = dict[str, Any]
StartResponse = Callable[..., Any]


class NotRunning(TaskwardError):
    """The task system is not running."""


class WsgiApp(Protocol):
    """A WSGI application."""

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one HTTP request."""


class HttpEndpoint:
    """The WSGI application.

    Args:
        endpoint: gives the endpoint of the running tree; raises `NotRunning` when there is none.
        hosts: which Host and Origin headers are served.
        require_mcp_name: refuse a missing `Mcp-Name` on `tasks/*` too.
        max_body_bytes: the longest body that is read.
    """

    def __init__(
        self,
        endpoint: Callable[[], Endpoint],
        *,
        hosts: HostPolicy,
        require_mcp_name: bool = False,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        self._endpoint = endpoint
        self._hosts = hosts
        self._strict = require_mcp_name
        self._max_body = max_body_bytes

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one HTTP request."""
        _send_at_once(start_response)
        refusal = self._http_refusal(environ)
        if refusal is not None:
            status, sentence, extra = refusal
            return _respond(start_response, status, sentence.encode(), "text/plain; charset=utf-8", extra)
        status_code, body = self._answer(environ)
        line = f"{status_code} {HTTPStatus(status_code).phrase}"
        return _respond(start_response, line, body, "application/json" if body else None, [])

    def _http_refusal(self, environ: Environ) -> tuple[str, str, list[tuple[str, str]]] | None:
        """Rung 0: what is wrong before the body is read."""
        if environ.get("PATH_INFO", "") not in PATHS:
            return "404 Not Found", "The endpoint is /mcp.", []
        if environ["REQUEST_METHOD"] != "POST":
            return "405 Method Not Allowed", "Send each message as a POST of its own.", [("Allow", "POST")]
        strange = self._hosts.refusal(environ.get("HTTP_HOST"), environ.get("HTTP_ORIGIN"))
        if strange is not None:
            return *strange, []
        if environ.get("CONTENT_TYPE", "").split(";")[0].strip().lower() != "application/json":
            return "415 Unsupported Media Type", "Send Content-Type: application/json.", []
        if _content_length(environ) > self._max_body:
            return "413 Content Too Large", f"A body has at most {self._max_body} bytes.", []
        return None

    def _answer(self, environ: Environ) -> tuple[int, bytes]:
        """Give the HTTP status and the JSON-RPC answer, encoded; empty for a notification."""
        request_id = None
        try:
            value = codec.decode(_read_body(environ, self._max_body))
            request_id = readable_id(value)
            message = message_of(value)
            if "id" not in message:
                return 202, b""
            result = self._serve(environ, message)
            return 200, codec.encode({"jsonrpc": "2.0", "id": request_id, "result": result})
        except WireError as error:
            return error.http_status, _error(request_id, error)
        except NotRunning as error:
            return 503, _error(request_id, WireError(INTERNAL_ERROR, str(error), {"retryable": True}))
        except Exception:
            log.exception("a request failed")
            sentence = "The server failed unexpectedly; its log says why."
            return 200, _error(request_id, WireError(INTERNAL_ERROR, sentence))

    def _serve(self, environ: Environ, message: JsonObject) -> JsonObject:
        _greet_legacy(message)
        request = request_of(message, environ.get("taskward.principal"))
        self._check_headers(environ, request)
        check_version(request)
        return self._endpoint().handle(request)

    def _check_headers(self, environ: Environ, request: Request) -> None:
        headers.check_version_header(environ, request)
        headers.check_method_header(environ, request)
        headers.check_name_header(environ, request, strict=self._strict)


def _greet_legacy(message: JsonObject) -> None:
    """Tell a client of an older era, which sends no envelope, what is spoken here."""
    params = message.get("params", {})
    if message["method"] == "initialize" and not isinstance(params.get("_meta"), dict):
        raise unsupported_version(str(params.get("protocolVersion", "unknown")))


def _content_length(environ: Environ) -> int:
    length = environ.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isascii() and length.isdigit() else 0


def _read_body(environ: Environ, limit: int) -> bytes:
    """Read the body, and never more than one chunk beyond the limit, whatever its length header says."""
    source, size = environ["wsgi.input"], 0
    parts: list[bytes] = []
    while size <= limit:
        part = source.read(READ_CHUNK)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    raise WireError(INVALID_REQUEST, f"A body has at most {limit} bytes.", http_status=413)


def _error(request_id: str | int | None, error: WireError) -> bytes:
    answer: JsonObject = {"jsonrpc": "2.0", "error": error.to_error()}
    return codec.encode(answer if request_id is None else {**answer, "id": request_id})


def _respond(
    start_response: StartResponse, status: str, body: bytes, content_type: str | None, extra: list[tuple[str, str]]
) -> list[bytes]:
    head = [("Content-Length", str(len(body))), *extra]
    if content_type is not None:
        head.append(("Content-Type", content_type))
    start_response(status, head)
    return [body]


def _send_at_once(start_response: StartResponse) -> None:
    """Set TCP_NODELAY on the connection, if it can be reached.

    gevent's WSGI server sends head and body in two writes; without this option each answer on a
    kept-alive connection waits for the client's delayed ACK (44 ms). Its handler is what the bound
    `start_response` belongs to. `Server.wsgi_server` sets it on the listener instead.
    """
    connection: Any = getattr(getattr(start_response, "__self__", None), "socket", None)
    if hasattr(connection, "setsockopt"):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # a Unix socket has no such option, and no delayed ACK
            return
