"""From a Python function's signature to a JSON Schema, and from JSON arguments to a call."""

import inspect
from collections.abc import Callable, Container
from typing import Annotated, Any, get_origin, get_type_hints

import pydantic

from taskward.domain.errors import TaskwardError
from taskward.domain.json_value import JsonObject
from taskward.supervision.attempts.context import TaskContext

_CONFIG = pydantic.ConfigDict(extra="forbid", allow_inf_nan=False, protected_namespaces=())


class UnfitSignature(TaskwardError):
    """This function cannot be a tool."""


class ArgumentsRefused(TaskwardError):
    """The arguments do not fit the tool's schema."""


class Signature:
    """The calling convention of one tool.

    Args:
        fn: the function; a parameter annotated `TaskContext` is handed the context, by whatever name.

    Raises:
        UnfitSignature: it is no function, takes `*args`, `**kwargs` or positional-only parameters, or
            has a type that JSON arguments cannot fill.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        if not inspect.isroutine(fn):
            raise UnfitSignature(f"{fn!r} cannot be a tool: it is no function. Wrap it in one.")
        try:
            hints = get_type_hints(fn, include_extras=True)
            parameters = inspect.signature(fn).parameters
            self._context = next((name for name in parameters if _is_context(hints.get(name))), None)
            named = [parameter for name, parameter in parameters.items() if name != self._context]
            self._fields = {p.name: _field_name(p.name, parameters) for p in named}
            fields: dict[str, Any] = {self._fields[p.name]: _field(fn, p, hints) for p in named}
            self._model = pydantic.create_model(f"{fn.__name__}Arguments", __config__=_CONFIG, **fields)
            self.input_schema: JsonObject = self._model.model_json_schema()
        except (pydantic.errors.PydanticUserError, NameError) as error:
            why = str(error).partition("\n")[0]
            raise UnfitSignature(f"{fn.__qualname__} cannot be a tool: {why}") from error
        self.input_schema.pop("title", None)

    def bind(self, arguments: JsonObject, ctx: TaskContext) -> dict[str, Any]:
        """Check JSON arguments and give the keyword arguments of the call.

        Raises:
            ArgumentsRefused: the sentence names each argument at fault.
        """
        model = self.check(arguments)
        values = {name: getattr(model, field) for name, field in self._fields.items()}
        return values if self._context is None else {**values, self._context: ctx}

    def check(self, arguments: JsonObject) -> pydantic.BaseModel:
        """Check JSON arguments against the signature.

        Raises:
            ArgumentsRefused: the sentence names each argument at fault.
        """
        try:
            checked: pydantic.BaseModel = self._model.model_validate(arguments)
        except pydantic.ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors())
            raise ArgumentsRefused(f"The arguments do not fit the tool's schema: {faults}.") from None
        return checked


def _is_context(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        hint = hint.__origin__
    return isinstance(hint, type) and issubclass(hint, TaskContext)


def _field(fn: Callable[..., Any], parameter: inspect.Parameter, hints: dict[str, Any]) -> Any:
    if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
        raise UnfitSignature(f"{fn.__qualname__} cannot be a tool: {parameter} has no name in JSON. Name it.")
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    hint = hints.get(parameter.name, Any)
    return (Annotated[hint, pydantic.Field(alias=parameter.name)] if _is_taken(parameter.name) else hint, default)


def _is_taken(name: str) -> bool:
    """Whether pydantic has another use for this name: `json`, `copy`, `model_config`, `_anything`."""
    return name.startswith("_") or hasattr(pydantic.BaseModel, name)


def _field_name(name: str, names: Container[str]) -> str:
    """Name the model's field of a parameter: as the parameter, where pydantic lets it."""
    if not _is_taken(name):
        return name
    field = f"arg_{name}"
    while field in names:
        field = f"arg_{field}"
    return field
