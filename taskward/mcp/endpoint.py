"""The endpoint sans I/O: from a checked `Request` to a result, by one table of methods.

Knows the task system and the tools, not HTTP. Keeps no state between requests.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Never

from taskward.domain import event as ev
from taskward.domain.errors import InvalidValue
from taskward.domain.json_value import JsonObject, check_json
from taskward.domain.work import TOOL_CALL, Work
from taskward.mcp.answers import check_answers
from taskward.mcp.call_context import CallContext
from taskward.mcp.declared import input_kinds
from taskward.mcp.envelope import SUPPORTED_VERSIONS, Request
from taskward.mcp.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    TASKS,
    WireError,
    retryable,
    tasks_not_declared,
)
from taskward.mcp.shapes import create_task_result, detailed_task
from taskward.mcp.signature import ArgumentsRefused
from taskward.mcp.tools import Tool, Tools, error_result, run
from taskward.stores import contract as c
from taskward.supervision.attempts.outcome import Completed, Failed, Retry
from taskward.supervision.attempts.tree import TaskSystem

SERVER_INFO = "io.modelcontextprotocol/serverInfo"
CACHE_TTL_MS = 60_000
ACK: JsonObject = {"resultType": "complete"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """How the server introduces itself.

    Attributes:
        name: its name.
        version: its version.
        instructions: what a model should know before it uses the tools.
    """

    name: str
    version: str
    instructions: str | None = None


class Endpoint:
    """Answers requests.

    Args:
        identity: how the server introduces itself.
        tools: the registered tools.
        system: the running task system.
        ttl_ms: how long a task is kept from its creation; `None` = for ever.
    """

    def __init__(self, identity: Identity, tools: Tools, system: TaskSystem, *, ttl_ms: int | None) -> None:
        self._identity = identity
        self._info = {"name": identity.name, "version": identity.version}
        self._tools = tools
        self._system = system
        self._ttl_ms = ttl_ms

    def handle(self, request: Request) -> JsonObject:
        """Answer one request.

        Returns:
            The result, with the server's identity in its `_meta`.

        Raises:
            WireError: the request is refused.
        """
        handler = _METHODS.get(request.method)
        if handler is None:
            raise WireError(METHOD_NOT_FOUND, f"The method {request.method!r} is not served here.")
        return {**handler(self, request), "_meta": {SERVER_INFO: self._info}}

    # --- discovery and plain tools

    def discover(self, _request: Request) -> JsonObject:
        """Answer `server/discover`."""
        result: JsonObject = {
            **_cacheable(),
            "supportedVersions": list(SUPPORTED_VERSIONS),
            "capabilities": {"tools": {}, "extensions": {TASKS: {}}},
        }
        if self._identity.instructions is not None:
            result["instructions"] = self._identity.instructions
        return result

    def list_tools(self, request: Request) -> JsonObject:
        """Answer `tools/list`: one page, in order of registration."""
        if request.params.get("cursor") is not None:
            raise WireError(INVALID_PARAMS, "This cursor was not given out here: the list has one page.")
        return {**_cacheable(), "tools": self._tools.listing()}

    def call_tool(self, request: Request) -> JsonObject:
        """Answer `tools/call`: by the tool's policy with a result, or with a task handle once it is on disk."""
        tool, arguments = self._called(request)
        if tool.task == "required" and not request.declares_tasks:
            raise tasks_not_declared(f"The tool {tool.name!r}")
        if tool.task == "sync" or not request.declares_tasks:
            return self._call_now(tool, arguments)
        try:
            tool.signature.check(arguments)
        except ArgumentsRefused as refusal:
            return error_result(str(refusal))
        return self._create_task(tool, arguments, request)

    def _called(self, request: Request) -> tuple[Tool, JsonObject]:
        name, arguments = request.params.get("name"), request.params.get("arguments", {})
        if not isinstance(name, str):
            raise WireError(INVALID_PARAMS, "`params.name` must name a tool.")
        if not isinstance(arguments, dict):
            raise WireError(INVALID_PARAMS, "`params.arguments` must be an object.")
        tool = self._tools.get(name)
        if tool is None:
            raise WireError(INVALID_PARAMS, f"There is no tool {name!r}; `tools/list` names those there are.")
        return tool, arguments

    def _call_now(self, tool: Tool, arguments: JsonObject) -> JsonObject:
        match run(tool, arguments, CallContext()):
            case Completed(result):
                return _sendable(result)
            case Failed(error):
                raise WireError(error["code"], error["message"], error.get("data"))
            case Retry(message=message):
                raise retryable(message)

    def _create_task(self, tool: Tool, arguments: JsonObject, request: Request) -> JsonObject:
        store = self._system.store
        key, task_id = store.mint()
        work = Work(
            type=TOOL_CALL,
            input={"name": tool.name, "arguments": arguments},
            idempotency_key=task_id,
            retry_policy=tool.retry,
        )
        try:
            work.check()
        except InvalidValue as error:
            raise WireError(INVALID_PARAMS, str(error)) from None
        access = store.authorize(request.principal, "create", task_id)
        created = self._system.create(
            c.Create(
                access=access,
                key=key,
                work=work,
                ttl_ms=self._ttl_ms,
                declared_inputs=input_kinds(request.capabilities),
            )
        )
        if not isinstance(created, c.Created):
            _refuse(created)
        return create_task_result(created.snapshot.task, store.now_ms())

    # --- tasks

    def get_task(self, request: Request) -> JsonObject:
        """Answer `tasks/get` from a read transaction: never through the runner, never behind a commit."""
        found = self._found(self._access(request, "get"))
        return {"resultType": "complete", **detailed_task(found.task, found.read_at_ms)}

    def update_task(self, request: Request) -> JsonObject:
        """Answer `tasks/update`: accepted answers are on disk before the ack (I6)."""
        responses = request.params.get("inputResponses")
        access = self._access(request, "update")
        if not isinstance(responses, dict):
            raise WireError(INVALID_PARAMS, "`params.inputResponses` must be an object of answers by key.")
        outstanding = self._found(access).task.input_requests
        check_answers(outstanding, responses)
        asked = {key: value for key, value in responses.items() if key in outstanding}
        return self._commit(access, ev.InputResponsesAccepted(responses=asked)) if asked else ACK

    def cancel_task(self, request: Request) -> JsonObject:
        """Answer `tasks/cancel`: terminal in the store first; the attempt is stopped after the ack."""
        return self._commit(self._access(request, "cancel"), ev.Cancelled(message="Cancelled by its client."))

    def _access(self, request: Request, action: str) -> c.Access:
        if not request.declares_tasks:
            raise tasks_not_declared(f"`{request.method}`")
        task_id = request.params.get("taskId")
        if not isinstance(task_id, str):
            raise WireError(INVALID_PARAMS, "`params.taskId` must be a string.")
        return self._system.store.authorize(request.principal, action, task_id)

    def _found(self, access: c.Access) -> c.Found:
        found = self._system.store.get(access)
        if not isinstance(found, c.Found):
            _refuse(found)
        return found

    def _commit(self, access: c.Access, event: ev.Event) -> JsonObject:
        match self._system.store.execute(c.Commit(authority=access, event=event)):
            case c.Committed() | c.Unchanged() | c.Replayed():
                return ACK
            case refusal:
                return _refuse(refusal)


def _sendable(result: JsonObject) -> JsonObject:
    try:
        check_json(result, max_bytes=None, path="result")
    except InvalidValue as error:
        raise WireError(INTERNAL_ERROR, f"The tool's result cannot be sent: {error}") from None
    return result


def _cacheable() -> JsonObject:
    return {"resultType": "complete", "ttlMs": CACHE_TTL_MS, "cacheScope": "private"}


def _refuse(refusal: Any) -> Never:
    match refusal:
        case c.TaskNotFound():
            raise WireError(INVALID_PARAMS, "There is no task with this id: it is unknown, or its time is over.")
        case c.CapacityExceeded(limit):
            raise retryable(f"The server holds as many tasks as it may ({limit}). Try again later.", limit)
        case c.StoreUnavailable(why):
            raise retryable(f"The store did not take it, and nothing was changed: {why}. Try again.")
        case c.OutcomeUnknown():
            raise retryable("The store cannot tell whether it took it. Look at the task, then try again.")
        case _:
            raise WireError(INTERNAL_ERROR, f"The store refused it ({type(refusal).__name__}).")


_METHODS: Mapping[str, Callable[[Endpoint, Request], JsonObject]] = {
    "server/discover": Endpoint.discover,
    "tools/list": Endpoint.list_tools,
    "tools/call": Endpoint.call_tool,
    "tasks/get": Endpoint.get_task,
    "tasks/update": Endpoint.update_task,
    "tasks/cancel": Endpoint.cancel_task,
}
