"""Instrumentation: one callable that hears what happens, and never what it is about.

No event carries work input, access values, results, errors or answers.
"""

import logging
from collections.abc import Callable, Mapping

log = logging.getLogger("taskward.events")

Instrument = Callable[[str, Mapping[str, float], Mapping[str, str]], None]
"""Called with a name, measurements, and metadata (ids and kinds)."""


def log_event(name: str, measurements: Mapping[str, float], metadata: Mapping[str, str]) -> None:
    """Log an event at debug level: the default sink, silent unless asked."""
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s %s %s", name, dict(measurements), dict(metadata))
