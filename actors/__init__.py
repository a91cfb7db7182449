"""Actors on Pykka and gevent: mailboxes, exits, links, monitors, names, timers. Never heard of a task."""

if __name__ != "taskward.actors":  # pragma: no cover - reached only by the wrong import
    raise ImportError(f"import this room as 'taskward.actors', not as '{__name__}': a second copy would have its own globals")
