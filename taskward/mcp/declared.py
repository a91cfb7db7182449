"""Which kinds of question a client said it can answer, as the domain names them."""

from collections.abc import Mapping
from typing import Any


def input_kinds(capabilities: Mapping[str, Any]) -> frozenset[str]:
    """Read client capabilities.

    Returns:
        A subset of `elicitation.form`, `elicitation.url`, `sampling`, `roots`; an empty `elicitation`
        object means forms only.
    """
    kinds = {name for name in ("sampling", "roots") if isinstance(capabilities.get(name), Mapping)}
    elicitation = capabilities.get("elicitation")
    if isinstance(elicitation, Mapping):
        modes = {mode for mode in ("form", "url") if mode in elicitation} or {"form"}
        kinds |= {f"elicitation.{mode}" for mode in modes}
    return frozenset(kinds)
