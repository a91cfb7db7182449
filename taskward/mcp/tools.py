"""Tools: what an application registers, and how one call of it becomes a `CallToolResult`.

Knows neither HTTP nor the store. The split of errors is the same for a plain call and for a task: a
tool's own error is a result with `isError`, a protocol error is an error, anything else is masked.
"""

import inspect
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import pydantic
import pydantic_core

from taskward.domain.errors import InvalidValue, NotBuilt, TaskwardError
from taskward.domain.event import check_error
from taskward.domain.json_value import JsonObject
from taskward.domain.retry import RetryPolicy
from taskward.domain.work import TOOL_CALL, Work
from taskward.mcp.errors import INVALID_PARAMS, WireError, missing_capability
from taskward.mcp.signature import ArgumentsRefused, Signature, UnfitSignature
from taskward.supervision.attempts.context import InputNotDeclared, TaskContext
from taskward.supervision.attempts.outcome import Completed, Failed, Outcome, Retry, internal_failure

log = logging.getLogger("taskward.tools")

Policy = Literal["sync", "optional", "required"]
Isolation = Literal["greenlet", "thread", "process"]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class ToolError(TaskwardError):
    """The tool could not do what was asked: a result with `isError`, for the model to read."""


class ProtocolError(TaskwardError):
    """The call is to end in a JSON-RPC error.

    Args:
        code: JSON-RPC code, outside -32768..-32000 for an application's own.
        message: one sentence.
        data: more about it, JSON-safe.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error: JsonObject = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One registered tool.

    Attributes:
        name: as clients call it.
        fn: the function.
        description: what it does, from its docstring.
        signature: its calling convention.
        task: whether a call becomes a task: never, if the client can follow one, or always.
        retry: the delays between attempts that it may ask for by raising `Retry`.
        isolation: where its body runs.
    """

    name: str
    fn: Callable[..., Any]
    description: str
    signature: Signature
    task: Policy = "sync"
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    isolation: Isolation = "greenlet"

    def to_listing(self) -> JsonObject:
        """Give the tool as `tools/list` shows it."""
        return {"name": self.name, "description": self.description, "inputSchema": self.signature.input_schema}


class Tools:
    """The registered tools, in order of registration."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def register(
        self,
        fn: Callable[..., Any],
        *,
        name: str | None = None,
        task: Policy = "sync",
        retry: RetryPolicy | None = None,
        isolation: Isolation = "greenlet",
    ) -> Tool:
        """Register a function as a tool.

        Args:
            fn: the function.
            name: as clients call it; by default the function's name.
            task: see `Tool`.
            retry: see `Tool`; none by default.
            isolation: see `Tool`; `thread` and `process` are not built in this version.

        Raises:
            UnfitSignature: the function cannot be called with JSON arguments, or the name is taken.
            NotBuilt: the option is named but not built in this version.
        """
        tool = Tool(
            name=name or fn.__name__,
            fn=fn,
            description=inspect.getdoc(fn) or "",
            signature=Signature(fn),
            task=task,
            retry=retry or RetryPolicy(),
            isolation=isolation,
        )
        self._check(tool)
        self._tools[tool.name] = tool
        return tool

    def get(self, name: str) -> Tool | None:
        """Give the tool of this name, if there is one."""
        return self._tools.get(name)

    def listing(self) -> list[JsonObject]:
        """Give all tools as `tools/list` shows them, in order of registration."""
        return [tool.to_listing() for tool in self._tools.values()]

    def _check(self, tool: Tool) -> None:
        if not _NAME.fullmatch(tool.name):
            raise UnfitSignature(f"{tool.name!r} is no tool name: use 1 to 128 letters, digits, `_`, `.`, `-`.")
        if tool.name in self._tools:
            raise UnfitSignature(f"A tool named {tool.name!r} is registered already. Give this one another name.")
        if inspect.iscoroutinefunction(tool.fn):
            raise UnfitSignature(f"{tool.name!r} is a coroutine function; tools are plain functions on gevent.")
        if tool.task not in get_args(Policy):
            raise NotBuilt(f"The task policy {tool.task!r} is not built; use one of {get_args(Policy)}.")
        if tool.isolation != "greenlet":
            raise NotBuilt(f"The isolation {tool.isolation!r} is not built in this version; use 'greenlet'.")


def run(tool: Tool, arguments: JsonObject, ctx: TaskContext) -> Outcome:
    """Call a tool and give the outcome; only a stop of its attempt passes through.

    Its errors are in JSON; a result may still hold what JSON has not, and is checked where it is kept or sent.
    """
    try:
        return Completed(to_result(tool.fn(**tool.signature.bind(arguments, ctx))))
    except (ToolError, ArgumentsRefused) as error:
        return Completed(error_result(str(error)))
    except ProtocolError as error:
        return _reportable(tool, Failed(error.error, error.error["message"]))
    except WireError as error:
        return Failed(error.to_error(), error.message)
    except InputNotDeclared as error:
        return Failed(undeclared(error.kind).to_error(), str(error))
    except Retry as retry:
        return _reportable(tool, retry)
    except Exception:
        log.exception("tool %s failed", tool.name)
        return internal_failure()


def _reportable(tool: Tool, outcome: Failed | Retry) -> Outcome:
    """Mask an error that is none in JSON: neither the wire nor a store could carry it."""
    try:
        check_error(outcome.error)
    except InvalidValue as fault:
        log.error("tool %s raised an error that JSON cannot carry: %s", tool.name, fault)  # noqa: TRY400
        return internal_failure()
    return outcome


def undeclared(kind: str) -> WireError:
    """Name the capability that a question of this kind needs (-32021)."""
    name, _, mode = kind.partition(".")
    required: JsonObject = {name: {mode: {}} if mode else {}}
    return missing_capability(
        required, f"The client did not declare that it can answer {kind}; the tool needs to ask it."
    )


def to_result(value: Any) -> JsonObject:
    """Turn what a tool returned into a `CallToolResult`."""
    if value is None:
        return {"resultType": "complete", "content": []}
    if isinstance(value, str):
        return {"resultType": "complete", "content": [_text(value)]}
    structured = value.model_dump(mode="json") if isinstance(value, pydantic.BaseModel) else _plain(value)
    text = pydantic_core.to_json(structured).decode()
    return {"resultType": "complete", "content": [_text(text)], "structuredContent": structured}


def error_result(sentence: str) -> JsonObject:
    """Give the result of a tool that could not do what was asked."""
    return {"resultType": "complete", "content": [_text(sentence)], "isError": True}


def _plain(value: Any) -> Any:
    return pydantic_core.to_jsonable_python(value)


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


class ToolExecutor:
    """The default executor: re-runs the registered tool with its stored arguments."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def execute(self, work: Work, ctx: TaskContext) -> Outcome:
        """Run a stored `tools/call`."""
        tool = self._tools.get(work.input["name"]) if work.type == TOOL_CALL else None
        if tool is None:
            sentence = f"No tool here runs this work ({work.type})."
            return Failed({"code": INVALID_PARAMS, "message": sentence}, sentence)
        return run(tool, work.input["arguments"], ctx)
