"""Story: clients create, answer, cancel and poll over HTTP while the server is killed again and again.

What runs: a real server on LMDB, and four clients on real sockets.
What breaks: SIGKILL at a seeded random moment, twenty times on one store.
What must hold: every acknowledged create is found (I1), every task ends, no terminal answer ever
changes (I2), and no operation under a lease of a dead server is accepted (I3): each operation that a
worker has is tried with such leases.
How we know: the clients keep what they were told, and compare at the end; the stale leases are those
of real attempts, said aloud by a tool. A control runs without the fence and must be caught.
"""

import http.client
import json
import random
import threading
import time

import pytest
from harness import TERMINAL, serve_app

KILLS = 20
CLIENTS = 4
LONGEST_S = 0.4
END_S = 60.0
ANSWER = {"go": {"action": "accept", "content": {"ok": True}}}
GONE = (OSError, http.client.HTTPException, json.JSONDecodeError)

TOOLS = [
    ("echo", {"text": "hi"}, 5),
    ("steps", {"count": 3, "seconds": 0.02}, 3),
    ("leaky_steps", {"count": 4, "seconds": 0.05}, 2),
    ("flaky", {"succeed_on": 2}, 2),
    ("leaky_ask", {}, 1),
    ("protocol_error", {}, 1),
]


class Clients:
    """What the clients were told, and what of it did not hold."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.acked = {}
        self.terminal = {}
        self.violations = []

    def load(self, server):
        """Use a server until it is gone."""
        seeds = [self.random.random() for _ in range(CLIENTS)]
        clients = [threading.Thread(target=self._use, args=(server.wire(), random.Random(seed))) for seed in seeds]
        for client in clients:
            client.start()
        return clients

    def _use(self, wire, rng):
        try:
            while True:
                self._one(wire, rng)
        except GONE:
            wire.close()

    def _one(self, wire, rng):
        known = list(self.acked)
        if not known or rng.random() < 0.4:
            [(tool, arguments, _)] = rng.choices(TOOLS, [weight for *_, weight in TOOLS])
            answer = wire.call(tool, **arguments).json
            if "result" in answer:
                self.acked[answer["result"]["taskId"]] = tool
            return
        task_id = rng.choice(known)
        if rng.random() < 0.1:
            wire.cancel(task_id)
        self.look(wire, task_id)

    def look(self, wire, task_id):
        """Look at a task; answer what it asks, and compare what must not change."""
        answer = wire.rpc("tasks/get", {"taskId": task_id}).json
        task = answer.get("result")
        if task is None:
            self.violations.append(("not found", self.acked[task_id], task_id, answer["error"]))
            return True
        if task["status"] in TERMINAL and self.terminal.setdefault(task_id, task) != task:
            self.violations.append(("a terminal answer changed", self.terminal[task_id], task))
        if task["status"] == "input_required":
            wire.update(task_id, **ANSWER)
        return task["status"] in TERMINAL


def leases_of(server):
    return [event["parts"] for event in server.events("lease")]


def accepted_under(wire, leases):
    """Which operations the server accepts under leases that are not current."""
    answers = [wire.call("try_lease", parts=parts).result["structuredContent"] for parts in leases]
    assert all(answer["tried"] == 10 for answer in answers)
    return [name for answer in answers for name in answer["accepted"]]


def campaign(store, seed, kills, **env):
    """Kill `kills` servers in turn, then let the last one finish everything; give what was seen."""
    clients, leaked, accepted = Clients(seed), [], []
    for _ in range(kills):
        with serve_app(store, **env) as server:
            accepted += accepted_under(server.wire(), leaked[-6:])
            using = clients.load(server)
            time.sleep(clients.random.uniform(0.02, LONGEST_S))  # the moment of the fault, not a wait for something
            server.kill()
            for client in using:
                client.join(END_S)
            leaked += leases_of(server)
    with serve_app(store, **env) as server:
        wire = server.wire()
        accepted += accepted_under(wire, leaked[-6:])
        deadline = time.monotonic() + END_S
        left = list(clients.acked)
        while left and time.monotonic() < deadline:
            left = [task_id for task_id in left if not clients.look(wire, task_id)]
        for task_id in clients.acked:
            clients.look(wire, task_id)
    return clients, accepted, left, len(leaked)


@pytest.mark.timeout(180)
def test_twenty_kills_lose_nothing_and_let_no_old_lease_write(tmp_path):
    seed = 20_261_203
    clients, accepted, left, leaked = campaign(tmp_path / "store", seed, KILLS)
    print(f"seed {seed}: {len(clients.acked)} acknowledged, {leaked} leases leaked")
    assert clients.violations == []
    assert accepted == []
    assert left == []
    assert len(clients.acked) > KILLS and leaked > KILLS / 2


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_five_hundred_kills(tmp_path):
    seed = random.SystemRandom().getrandbits(32)
    print(f"seed {seed}")
    clients, accepted, left, _ = campaign(tmp_path / "store", seed, 500)
    assert (clients.violations, accepted, left) == ([], [], []), seed


@pytest.mark.timeout(90)
def test_control_without_the_fence_an_old_lease_writes(tmp_path):
    """The campaign has to see it: under a server whose fence is switched off, a dead server's lease ends the task."""
    store = tmp_path / "store"
    with serve_app(store) as server:
        wire = server.wire()
        wire.until(wire.create("leaky_ask"), "input_required")
        server.kill()
        [lease] = leases_of(server)
    with serve_app(store, TASKWARD_MUTANT="fence_off") as server:
        assert "completed" in accepted_under(server.wire(), [lease])
