"""The journey of a call over HTTP, against a real server on LMDB (design: policy, handle, poll, answer, cancel)."""

import time

import pytest
from harness import TASKS


def test_discover_advertises_the_extension_as_exactly_an_empty_object(wire):
    result = wire.rpc("server/discover").result
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["capabilities"]["extensions"] == {TASKS: {}}
    assert "tasks" not in result["capabilities"]
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "test-app", "version": "1"}
    assert result["ttlMs"] >= 0 and result["cacheScope"] == "private"


def test_tools_are_listed_in_a_fixed_order_with_their_schemas(wire):
    first, again = wire.rpc("tools/list").result["tools"], wire.rpc("tools/list").result["tools"]
    assert first == again
    add = first[0]
    assert add["name"] == "add" and add["description"] == "Adds two numbers."
    assert add["inputSchema"]["required"] == ["a"] and add["inputSchema"]["additionalProperties"] is False


def test_a_sync_tool_answers_at_once_whatever_the_client_declares(wire):
    for declared in (True, False):
        result = wire.call("add", declared, a=2, b=3).result
        assert result["resultType"] == "complete" and result["structuredContent"] == {"sum": 5}


def test_an_optional_tool_becomes_a_task_only_for_a_client_that_declares_it(wire):
    assert wire.call("echo", False, text="x").result["content"] == [{"type": "text", "text": "x"}]
    created = wire.call("echo", text="x").result
    assert created["resultType"] == "task"
    assert not {"task", "result", "error", "inputRequests", "requestState"} & created.keys()
    done = wire.until(created["taskId"], "completed")
    assert done["resultType"] == "complete"
    assert done["result"] == {"resultType": "complete", "content": [{"type": "text", "text": "x"}]}


def test_a_required_tool_refuses_a_client_that_does_not_declare_it(wire):
    reply = wire.call("steps", False, count=1)
    assert reply.status == 400 and reply.error["code"] == -32021
    assert reply.error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_the_capability_is_asked_for_before_the_task_is_looked_up(wire, method):
    reply = wire.rpc(method, {"taskId": "no-such-task", "inputResponses": {}}, tasks=False)
    assert reply.status == 400 and reply.error["code"] == -32021


def test_a_handle_is_found_the_moment_it_is_told(wire):
    """I1, and SEP-2663: no CreateTaskResult before tasks/get would resolve."""
    for _ in range(20):
        task_id = wire.create("echo", text="x")
        assert wire.get(task_id)["taskId"] == task_id


def test_a_question_parks_the_task_and_its_answer_completes_it(wire):
    task_id = wire.create("ask")
    asked = wire.until(task_id, "input_required")
    [(key, request)] = asked["inputRequests"].items()
    assert (key, request["method"], request["params"]["message"]) == ("go", "elicitation/create", "Go on?")
    ack = wire.update(task_id, go={"action": "accept", "content": {"ok": True}}).result
    assert ack.keys() == {"resultType", "_meta"} and ack["resultType"] == "complete"
    assert wire.until(task_id, "completed")["result"]["content"][0]["text"] == "accept True"


def test_declining_is_an_answer(wire):
    task_id = wire.create("ask")
    wire.until(task_id, "input_required")
    wire.update(task_id, go={"action": "decline"})
    assert wire.until(task_id, "completed")["result"]["content"][0]["text"] == "decline None"


def test_a_partial_answer_is_seen_by_the_very_next_read(wire):
    task_id = wire.create("ask_twice")
    wire.until(task_id, lambda task: len(task.get("inputRequests", {})) == 2)
    wire.update(task_id, one={"action": "accept", "content": {"ok": True}})
    left = wire.get(task_id)
    assert left["status"] == "input_required" and list(left["inputRequests"]) == ["two"]
    wire.update(task_id, two={"action": "accept", "content": {"ok": False}})
    assert wire.until(task_id, "completed")["result"]["content"][0]["text"] == "True False"


def test_an_answer_that_does_not_fit_is_refused_and_the_task_goes_on_waiting(wire):
    task_id = wire.create("ask")
    before = wire.until(task_id, "input_required")
    for wrong in ({"action": "accept", "content": {"ok": "maybe"}}, {"action": "accept"}, {"action": "shrug"}, 7):
        reply = wire.update(task_id, go=wrong)
        assert reply.error["code"] == -32602 and "'go'" in reply.error["message"]
    after = wire.get(task_id)
    assert after["inputRequests"] == before["inputRequests"] and after["lastUpdatedAt"] == before["lastUpdatedAt"]


def test_answers_to_unknown_keys_are_acked_and_ignored(wire):
    task_id = wire.create("ask")
    wire.until(task_id, "input_required")
    assert wire.update(task_id, **{"unknown-key": {"ignored": True}}).result["resultType"] == "complete"
    assert wire.get(task_id)["status"] == "input_required"


def test_a_task_may_not_ask_what_its_client_cannot_answer(wire):
    created = wire.rpc("tools/call", {"name": "ask", "arguments": {}}, sampling={}).result
    failed = wire.until(created["taskId"], "failed")
    assert failed["error"]["code"] == -32021
    assert failed["error"]["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


def test_a_plain_call_cannot_wait_for_its_user(wire):
    reply = wire.call("ask", False)
    assert reply.error["code"] == -32021
    assert TASKS in reply.error["data"]["requiredCapabilities"]["extensions"]


def test_cancel_is_acked_and_stops_a_cooperative_tool(server, wire):
    task_id = wire.create("steps", count=10_000)
    wire.until(task_id, lambda task: "step 1" in task.get("statusMessage", ""))
    assert wire.cancel(task_id).result.keys() == {"resultType", "_meta"}
    ended = wire.get(task_id)
    assert ended["status"] == "cancelled" and "result" not in ended and "error" not in ended
    server.expect(rf'"attempt_stop".*"{task_id}"', seconds=5)
    assert wire.get(task_id) == ended


def test_cancel_stops_a_tool_that_does_not_listen(server, wire):
    """I8: terminal in the store first, then the ladder."""
    task_id = wire.create("stubborn")
    server.expect(rf'"attempt_start".*"{task_id}"')
    wire.cancel(task_id)
    assert wire.get(task_id)["status"] == "cancelled"
    server.expect(rf'"attempt_stop".*"{task_id}"', seconds=10)


def test_cancel_of_an_ended_task_is_acked_and_changes_nothing(wire):
    """I2."""
    task_id = wire.create("echo", text="x")
    done = wire.until(task_id, "completed")
    assert wire.cancel(task_id).status == 200
    assert wire.get(task_id) == done


def test_cancel_wakes_a_parked_task(server, wire):
    task_id = wire.create("ask")
    wire.until(task_id, "input_required")
    wire.cancel(task_id)
    server.expect(rf'"attempt_stop".*"{task_id}"', seconds=5)
    assert wire.get(task_id)["status"] == "cancelled"


def test_a_tools_own_error_is_a_completed_result(wire):
    done = wire.until(wire.create("refuse"), "completed")
    assert done["result"]["isError"] is True and done["result"]["content"][0]["text"] == "the tool's own error"
    assert wire.call("refuse", False).result["isError"] is True


def test_a_protocol_error_is_a_failed_task(wire):
    failed = wire.until(wire.create("protocol_error"), "failed")
    assert failed["error"] == {"code": -31_000, "message": "a protocol error", "data": {"more": 1}}
    assert failed["statusMessage"] == "a protocol error" and "result" not in failed
    assert wire.call("protocol_error", False).error == failed["error"]


def test_an_unexpected_exception_fails_the_task_and_is_masked(wire):
    failed = wire.until(wire.create("crash"), "failed")
    assert failed["error"]["code"] == -32603 and "secret" not in str(failed)
    reply = wire.call("crash", False)
    assert reply.error["code"] == -32603 and b"secret" not in reply.body


def test_a_retry_follows_the_policy_and_then_completes(wire):
    task_id = wire.create("flaky", succeed_on=3)
    started = time.monotonic()
    done = wire.until(task_id, "completed")
    assert done["result"]["content"][0]["text"] == "attempt 3"
    assert time.monotonic() - started >= 0.15  # I7: 50 ms, then 100 ms


def test_a_used_up_policy_fails_the_task_with_the_last_error(wire):
    failed = wire.until(wire.create("flaky", succeed_on=9), "failed")
    assert failed["error"]["message"] == "not yet"


def test_poll_interval_is_short_at_first_and_frozen_at_the_end(wire):
    task_id = wire.create("echo", text="x")
    done = wire.until(task_id, "completed")
    assert 0 < done["pollIntervalMs"] <= 1_000
    assert wire.get(task_id)["pollIntervalMs"] == done["pollIntervalMs"]


def test_the_legacy_task_param_is_ignored(wire):
    params = {"name": "add", "arguments": {"a": 1}, "task": {"ttl": 1, "pollInterval": 1}}
    assert wire.rpc("tools/call", params).result["structuredContent"] == {"sum": 2}
