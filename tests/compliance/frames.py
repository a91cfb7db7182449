"""Literal frames: an HTTP request and its answer as text, sent through the WSGI callable itself.

A request is its first line, its headers, an empty line and one JSON text; an answer is its status line, the headers
that matter, an empty line and one JSON text. `<task>` stands for the id of the task that the test is about.
What goes over the wire is also judged by the official `mcp_types` package, where it has the model.
"""

import io
import json
import textwrap

import gevent
import mcp_types
from mcp_types import methods

VERSION = "2026-07-28"
BOUND_S = 10.0
TASK = "<task>"
ERROR_DATA = {
    -32021: mcp_types.MissingRequiredClientCapabilityErrorData,
    -32022: mcp_types.UnsupportedProtocolVersionErrorData,
}


class Wire:
    """A client of one WSGI callable; remembers the task that was made last."""

    def __init__(self, wsgi):
        self._wsgi = wsgi
        self._task_id = None

    def exchange(self, request, answer):
        """Send a frame; the answer must be this one, word for word."""
        status, headers, sent = self._send(request)
        self._compare(answer, status, headers, sent)

    def exchange_until(self, request, answer):
        """Send a frame again and again until the task has the status and message of the answer; then compare."""
        wanted = json.loads(_split(answer)[2])["result"]
        with gevent.Timeout(BOUND_S, AssertionError(f"never {wanted['status']}")):
            while True:
                status, headers, sent = self._send(request)
                result = sent.get("result", {})
                if all(result.get(key) == wanted.get(key) for key in ("status", "statusMessage")):
                    return self._compare(answer, status, headers, sent)
                gevent.sleep(0.005)

    def _send(self, frame):
        first, head, body = _split(frame.replace(TASK, str(self._task_id)))
        method, path = first.split()
        body = body.encode()
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.input": io.BytesIO(body),
            "CONTENT_LENGTH": str(len(body)),
        }
        for name, value in head.items():
            key = name.upper().replace("-", "_")
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        started = []
        answered = b"".join(self._wsgi(environ, lambda status, headers: started.append((status, dict(headers)))))
        [(status, headers)] = started
        assert headers["Content-Length"] == str(len(answered))
        answer = json.loads(answered)
        judge(json.loads(body), answer)
        return status, headers, self._without_id(answer)

    def _without_id(self, answer):
        result = answer.get("result", {})
        if result.get("resultType") == "task":
            self._task_id = result["taskId"]
        text = json.dumps(answer)
        return json.loads(text.replace(self._task_id, TASK) if self._task_id else text)

    def _compare(self, answer, status, headers, sent):
        first, head, body = _split(answer)
        assert sent == json.loads(body)
        assert status == first
        assert {name: headers.get(name) for name in head} == head


def _split(frame):
    head, _, body = textwrap.dedent(frame).strip().partition("\n\n")
    first, *lines = head.splitlines()
    return first, dict(line.split(": ", 1) for line in lines), body


# --- the official models


def judge(request, answer):
    """Hold one exchange against the official package."""
    method = request["method"]
    mcp_types.JSONRPCRequest.model_validate(request)
    if "error" in answer:
        judge_error(mcp_types.JSONRPCError.model_validate(answer).error)
        return
    if (method, VERSION) in methods.CLIENT_REQUESTS:
        methods.validate_client_request(method, VERSION, request["params"])
    result = mcp_types.JSONRPCResponse.model_validate(answer).result
    mcp_types.Implementation.model_validate(result["_meta"][mcp_types.SERVER_INFO_META_KEY])
    if method.startswith("tasks/"):
        judge_task(result)
    elif result["resultType"] != "task":
        methods.validate_server_result(method, VERSION, result)


def judge_error(error):
    if error.code in ERROR_DATA:
        ERROR_DATA[error.code].model_validate(error.data)


def judge_task(result):
    """The package has no model of the extension, but of all that a task holds."""
    assert result["resultType"] == "complete"
    if "status" not in result:
        mcp_types.EmptyResult.model_validate(result)
        assert result.keys() == {"resultType", "_meta"}
        return
    assert {"result", "error", "inputRequests"} & result.keys() == {
        "completed": {"result"},
        "failed": {"error"},
        "input_required": {"inputRequests"},
    }.get(result["status"], set())
    if "result" in result:
        methods.validate_server_result("tools/call", VERSION, result["result"])
    if "error" in result:
        judge_error(mcp_types.ErrorData.model_validate(result["error"]))
    for request in result.get("inputRequests", {}).values():
        mcp_types.ElicitRequest.model_validate(request)
