"""The one room that knows both tasks and processes: the tree, the runner, attempts, the feed."""

if __name__ != "taskward.supervision.attempts":  # pragma: no cover - reached only by the wrong import
    raise ImportError(
        f"import this room as 'taskward.supervision.attempts', not as '{__name__}': "
        "a second copy would have its own globals"
    )
