"""Names: who lives under one, decided atomically, free again before anybody hears of a death (N1 to N6).

Two registries do not see each other; there is no global one.
"""

from typing import TYPE_CHECKING, Any

from taskward.actors.errors import AlreadyStarted, NoProc

if TYPE_CHECKING:
    from taskward.actors.cell import Cell
    from taskward.actors.ref import ActorRef


class Registry:
    """Unique names for living actors."""

    def __init__(self) -> None:
        self._cells: dict[str, Cell] = {}

    def whereis(self, name: str) -> "ActorRef[Any] | None":
        """Give the living actor of this name, or `None`."""
        cell = self._cells.get(name)
        return None if cell is None else cell.ref

    def names(self) -> list[str]:
        """Give the names in use, sorted."""
        return sorted(self._cells)

    def register(self, name: str, cell: "Cell") -> None:
        """Take a name for an actor.

        Raises:
            AlreadyStarted: it is taken.
            ValueError: the actor has a name already, or is dead.
        """
        self.check_free(name)
        if cell.name is not None or cell.is_set():
            raise ValueError(f"{cell.ref} cannot be named {name!r}: it has a name, or it has ended")
        cell.name, cell.registry = name, self
        self._cells[name] = cell

    def check_free(self, name: str) -> None:
        """Raise `AlreadyStarted` if a name is taken."""
        taken = self._cells.get(name)
        if taken is not None:
            raise AlreadyStarted(name, taken.ref)

    def release(self, name: str, cell: "Cell") -> None:
        """Free a name, if this actor has it."""
        if self._cells.get(name) is cell:
            del self._cells[name]


class NamedRef:
    """A name used as a ref: it is looked up at each send, so it reaches whoever has it now (N6).

    Args:
        registry: where the name is kept.
        name: the name.
    """

    __slots__ = ("_name", "_registry")

    def __init__(self, registry: Registry, name: str) -> None:
        self._registry = registry
        self._name = name

    def __repr__(self) -> str:
        return f"<NamedRef {self._name}>"

    def resolve(self) -> "ActorRef[Any]":
        """Give the living actor of this name.

        Raises:
            NoProc: there is none now.
        """
        ref = self._registry.whereis(self._name)
        if ref is None:
            raise NoProc(f"nobody is named {self._name!r} now")
        return ref

    def tell(self, message: object) -> None:
        """Send a message.

        Raises:
            NoProc: nobody has the name.
            MailboxFull: it was not taken.
        """
        self.resolve().tell(message)

    def cast(self, message: object) -> None:
        """Send a message; to nobody it is dropped, as in OTP."""
        ref = self._registry.whereis(self._name)
        if ref is not None:
            ref.cast(message)

    def ask(self, message: object, *, timeout: float | None = 5.0) -> Any:
        """Send a message and wait for the answer; as `ActorRef.ask`."""
        return self.resolve().ask(message, timeout=timeout)
