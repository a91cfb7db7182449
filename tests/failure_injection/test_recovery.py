"""Stories of one task whose server is killed, stopped, or whose parts crash; what of it must still be there."""

import signal
import time

from harness import TERMINAL

ANSWER = {"action": "accept", "content": {"ok": True}}


def attempt(server, task_id):
    """Wait until an attempt of this task starts; give epoch and generation."""
    started = server.until_event("attempt_start", task=task_id)
    return int(started["epoch"]), int(started["generation"])


def test_an_orphan_is_run_again_from_its_stored_arguments_under_a_newer_lease(serve):
    """SIGKILL in the middle of a body. I1 and I3: same id, higher epoch, higher generation."""
    server = serve()
    wire = server.wire()
    task_id = wire.create("steps", count=20, seconds=0.05)
    before = attempt(server, task_id)
    wire.until(task_id, lambda task: int(task.get("statusMessage", "0").split()[-1]) >= 3)
    server.kill()

    server = serve()
    after = attempt(server, task_id)
    assert after[0] == before[0] + 1 and after[1] == before[1] + 1
    done = server.wire().until_ended(task_id)
    assert done["result"]["content"][0]["text"] == "attempt 2 did 20 steps"
    assert done["taskId"] == task_id


def test_a_parked_orphan_is_not_run_until_its_answer_comes(serve):
    """SIGKILL while the user thinks: running the body again would only repeat its effects to ask the same."""
    server = serve()
    wire = server.wire()
    task_id = wire.create("ask")
    asked = wire.until(task_id, "input_required")
    server.kill()

    server = serve()
    wire = server.wire()
    assert wire.get(task_id)["inputRequests"] == asked["inputRequests"]
    other = wire.create("echo", text="hi")
    wire.until_ended(other)
    assert [event["task"] for event in server.events("attempt_start")] == [other]
    wire.update(task_id, go=ANSWER)
    assert wire.until_ended(task_id)["result"]["content"][0]["text"] == "accept True"
    assert attempt(server, task_id) == (2, 2)


def test_i6_an_acked_answer_survives_and_the_user_is_not_asked_again(serve):
    """SIGKILL right after the ack of the first of two answers."""
    server = serve()
    wire = server.wire()
    task_id = wire.create("ask_twice")
    wire.until(task_id, lambda task: len(task.get("inputRequests", {})) == 2)
    wire.update(task_id, one=ANSWER)
    server.kill()

    wire = serve().wire()
    assert set(wire.get(task_id)["inputRequests"]) == {"two"}
    wire.update(task_id, two=ANSWER)
    assert wire.until_ended(task_id)["result"]["content"][0]["text"] == "True True"


def test_i7_a_back_off_survives_and_is_not_cut_short(serve):
    """SIGKILL while a task waits for its retry: the next attempt starts when the first server had promised it."""
    server = serve()
    wire = server.wire()
    task_id = wire.create("slow_retry")
    attempt(server, task_id)
    asked_for = time.monotonic()
    server.until_event("attempt_stop", task=task_id)
    server.kill()

    server = serve()
    started = server.until_event("attempt_start", task=task_id)
    assert time.monotonic() - asked_for >= 1.9
    assert started["generation"] == "2"
    assert server.wire().until_ended(task_id)["result"]["content"][0]["text"] == "attempt 2"


def test_i8_a_cancelled_task_stays_cancelled_and_is_not_run_again(serve):
    """SIGKILL right after the ack of a cancel, while the body still runs."""
    server = serve()
    wire = server.wire()
    task_id = wire.create("stubborn")
    attempt(server, task_id)
    assert wire.cancel(task_id).result == {"resultType": "complete", "_meta": wire.cancel(task_id).result["_meta"]}
    cancelled = wire.get(task_id)
    server.kill()

    server = serve()
    wire = server.wire()
    wire.until_ended(wire.create("echo", text="hi"))
    assert wire.get(task_id) == cancelled
    assert task_id not in [event["task"] for event in server.events("attempt_start")]


def test_sigterm_ends_within_five_seconds_and_loses_nothing(serve):
    """SIGTERM with a task running, one parked and one in back-off; then a start on the same store."""
    server = serve()
    wire = server.wire()
    running = wire.create("steps", count=200, seconds=0.05)
    parked = wire.create("ask")
    waiting = wire.create("slow_retry")
    ended = wire.create("echo", text="done")
    terminal = wire.until_ended(ended)
    wire.until(parked, "input_required")
    attempt(server, running)
    attempt(server, waiting)
    asked = time.monotonic()
    assert server.terminate(seconds=5.0) == 0
    assert time.monotonic() - asked < 5.0

    server = serve()
    wire = server.wire()
    assert wire.get(ended) == terminal
    assert wire.get(parked)["status"] == "input_required"
    wire.update(parked, go=ANSWER)
    assert wire.until_ended(parked)["status"] == "completed"
    assert wire.until_ended(waiting)["result"]["content"][0]["text"] == "attempt 2"
    assert attempt(server, running)[0] == 2
    wire.cancel(running)


def test_sigterm_with_a_body_that_does_not_listen_is_bounded_too(serve):
    server = serve()
    wire = server.wire()
    task_id = wire.create("deaf")
    attempt(server, task_id)
    asked = time.monotonic()
    assert server.terminate(seconds=5.0) == 0
    assert time.monotonic() - asked < 5.0
    assert serve().wire().get(task_id)["status"] not in TERMINAL


def test_a_store_that_is_taken_away_ends_the_server_with_a_sentence_and_loses_nothing(serve):
    """The data file of a running server is moved away: it would go on "committing" to nowhere, so it fails instead.

    I1: what was acknowledged before is there again once the file is back.
    """
    server = serve()
    wire = server.wire()
    kept = wire.create("ask")
    wire.until(kept, "input_required")
    data = serve.store / "data.mdb"
    data.rename(serve.store.parent / "away")
    refused = wire.call("echo", text="hi").json
    assert refused["error"]["data"]["retryable"] is True
    assert server.process.wait(10.0) == 1
    last = server.said_last()
    assert last.startswith("Error: The task system ended: shutdown: 'store' had to be restarted"), server.errors
    (serve.store.parent / "away").rename(data)
    assert serve().wire().get(kept)["status"] == "input_required"


def test_sigint_ends_it_as_well(serve):
    server = serve()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(5.0) == 0
