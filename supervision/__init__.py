"""Supervisors as in OTP: who starts, watches, restarts and stops whom. Its own files know processes, never tasks."""

if __name__ != "taskward.supervision":  # pragma: no cover - reached only by the wrong import
    raise ImportError(f"import this room as 'taskward.supervision', not as '{__name__}': a second copy would have its own globals")
