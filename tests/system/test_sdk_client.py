"""The official Python SDK's client against our server over HTTP, with a small client extension of the test's own.

It is given a handle, polls, answers an elicitation, and returns the final result: no code of ours on its side.
"""

import asyncio
from typing import Any, Literal

import mcp_types as types
import pytest
from harness import TASKS, TERMINAL
from pydantic import ConfigDict, Field

pytest.importorskip("mcp", reason="the official SDK is a test dependency")

from mcp import Client
from mcp.client.extension import ClientExtension, ResultClaim
from mcp.client.session import ClientRequestContext

POLLS = 400


class Handle(types.Result):
    model_config = ConfigDict(populate_by_name=True, extra="allow")
    result_type: Literal["task"] = Field(alias="resultType")
    task_id: str = Field(alias="taskId")
    poll_interval_ms: int = Field(alias="pollIntervalMs")


class TaskParams(types.RequestParams):
    model_config = ConfigDict(populate_by_name=True, extra="allow")
    task_id: str = Field(alias="taskId")


class GetTask(types.Request[TaskParams, Literal["tasks/get"]]):
    name_param = "taskId"
    method: Literal["tasks/get"] = "tasks/get"
    params: TaskParams


class UpdateTask(types.Request[TaskParams, Literal["tasks/update"]]):
    name_param = "taskId"
    method: Literal["tasks/update"] = "tasks/update"
    params: TaskParams


class Detailed(types.Result):
    model_config = ConfigDict(populate_by_name=True, extra="allow")
    task_id: str = Field(alias="taskId")
    status: str


class TasksOnClient(ClientExtension):
    identifier = TASKS

    def __init__(self):
        self.statuses = []

    def claims(self):
        return [ResultClaim(result_type="task", model=Handle, resolve=self.resolve)]

    async def resolve(self, handle, ctx):
        answered = set()
        for _ in range(POLLS):
            task = await ctx.session.send_request(GetTask(params=TaskParams(taskId=handle.task_id)), Detailed)
            extra: dict[str, Any] = task.model_extra
            if not self.statuses or self.statuses[-1] != task.status:
                self.statuses.append(task.status)
            if task.status in TERMINAL:
                return types.CallToolResult.model_validate(extra["result"])
            for key, asked in extra.get("inputRequests", {}).items():
                if key not in answered:
                    answered.add(key)
                    await self.answer(ctx.session, handle.task_id, key, asked)
            await asyncio.sleep(0.02)
        raise TimeoutError(task)

    async def answer(self, session, task_id, key, asked):
        request = types.ElicitRequest.model_validate(asked)
        response = await session.dispatch_input_request(ClientRequestContext(session=session, request_id=key), request)
        responses = {key: response.model_dump(by_alias=True, mode="json", exclude_none=True)}
        await session.send_request(
            UpdateTask(params=TaskParams(taskId=task_id, inputResponses=responses)), types.Result
        )


async def say_yes(_context, params):
    assert params.message == "Go on?"
    return types.ElicitResult(action="accept", content={"ok": True})


def run(port, use, extensions=()):
    async def session():
        url = f"http://127.0.0.1:{port}/mcp"
        async with Client(url, extensions=list(extensions), elicitation_callback=say_yes) as client:
            return await use(client)

    return asyncio.run(session())


def test_a_call_is_resolved_through_its_task(server):
    extension = TasksOnClient()
    result = run(server.port, lambda client: client.call_tool("ask", {}), [extension])
    assert result.content[0].text == "accept True"
    assert extension.statuses[-1] == "completed" and "input_required" in extension.statuses


def test_a_client_can_have_the_handle_itself(server):
    async def use(client):
        return await client.session.call_tool("echo", {"text": "hi"}, allow_claimed=True)

    handle = run(server.port, use, [TasksOnClient()])
    assert server.wire().until_ended(handle.task_id)["result"]["content"][0]["text"] == "hi"


def test_a_client_without_the_extension_is_answered_at_once(server):
    result = run(server.port, lambda client: client.call_tool("echo", {"text": "plain"}))
    assert result.content[0].text == "plain"


def test_a_client_lists_the_tools(server):
    listing = run(server.port, lambda client: client.list_tools())
    assert [tool.name for tool in listing.tools][:2] == ["add", "echo"]
