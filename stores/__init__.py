"""Where tasks are kept: the contract, the pure decisions, the adapters, and the one store actor."""

if __name__ != "taskward.stores":  # pragma: no cover - reached only by the wrong import
    raise ImportError(
        f"import this room as 'taskward.stores', not as '{__name__}': a second copy would have its own globals"
    )
