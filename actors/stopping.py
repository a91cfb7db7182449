"""The kill ladder: signal and grace, kill sent again and again, abandon. Always bounded, unless asked not to be."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gevent import get_hub

from taskward.actors.exits import SHUTDOWN, Abandoned, ExitReason
from taskward.actors.ref import ActorRef

KILL_AGAIN_S = 0.02
DEFAULT_KILL_AFTER_MS = 1_000


@dataclass(frozen=True, slots=True)
class StopOutcome:
    """How one actor ended.

    Attributes:
        reason: the exit reason that everybody saw.
        killed: whether the grace ran out and it had to be killed.
        abandoned: whether it could not be stopped: its greenlet may still run, as nobody.
    """

    reason: ExitReason
    killed: bool
    abandoned: bool


def stop_actor(
    ref: ActorRef[Any],
    *,
    shutdown_ms: float | None,
    kill_after_ms: float = DEFAULT_KILL_AFTER_MS,
    reason: ExitReason = SHUTDOWN,
) -> StopOutcome:
    """Stop one actor and wait for its confirmed exit; see `stop_actors`."""
    return stop_actors([ref], shutdown_ms=shutdown_ms, kill_after_ms=kill_after_ms, reason=reason)[0]


def stop_actors(
    refs: Sequence[ActorRef[Any]],
    *,
    shutdown_ms: float | None,
    kill_after_ms: float = DEFAULT_KILL_AFTER_MS,
    reason: ExitReason = SHUTDOWN,
) -> list[StopOutcome]:
    """Stop actors in parallel and wait for their confirmed exits, on one common timer (D3).

    Args:
        refs: whom.
        shutdown_ms: grace after the exit signal; 0 kills at once (`brutal_kill`), `None` waits without
            limit (`infinity`).
        kill_after_ms: how long the kill is sent again, every 20 ms, before an actor is abandoned: its
            mailbox is closed, its names are free, its watchers hear of it, its code may go on.
        reason: of the exit signal.
    """
    if shutdown_ms != 0:
        for ref in refs:
            ref.exit(reason)
        _wait(refs, None if shutdown_ms is None else shutdown_ms / 1000)
    late = [ref for ref in refs if ref.is_alive()]
    _kill(late, kill_after_ms / 1000)
    return [_outcome(ref, killed=ref in late) for ref in refs]


def _kill(refs: Sequence[ActorRef[Any]], seconds: float) -> None:
    """Kill, again and again, until all are gone or the time is up; then abandon."""
    deadline = time.monotonic() + seconds
    alive = list(refs)
    while alive:
        for ref in alive:
            ref.kill()
        _wait(alive, KILL_AGAIN_S)
        alive = [ref for ref in alive if ref.is_alive()]
        if time.monotonic() >= deadline:
            break
    for ref in alive:  # in the hub, as ever: its signals may end the very actor that calls this
        get_hub().loop.run_callback(ref.cell.reap, Abandoned())
    _wait(alive, None)


def _wait(refs: Sequence[ActorRef[Any]], seconds: float | None) -> None:
    """Wait until all have exited, or until `seconds` have passed in all."""
    deadline = None if seconds is None else time.monotonic() + seconds
    for ref in refs:
        ref.exited.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))


def _outcome(ref: ActorRef[Any], *, killed: bool) -> StopOutcome:
    assert ref.exit_reason is not None
    return StopOutcome(ref.exit_reason, killed, isinstance(ref.exit_reason, Abandoned))
