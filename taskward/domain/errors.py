"""The one error tree of the project.

Each class's docstring is the sentence its user reads when no better one is given.
Must not know JSON-RPC codes or HTTP: the wire maps these at its own edge.
"""


class TaskwardError(Exception):
    """Something in taskward went wrong; the sentence of the subclass says what to do."""

    def __init__(self, sentence: str | None = None) -> None:
        super().__init__(sentence or (type(self).__doc__ or "").strip())


class InvalidValue(TaskwardError):
    """A value cannot be stored as JSON; the message names its path."""


class NotBuilt(TaskwardError):
    """This operation is named by the contract but not built in this version."""
