"""From a Python function's signature to a JSON Schema, and from JSON arguments to a call."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_origin, get_type_hints

import pydantic

from taskward.domain.errors import TaskwardError
from taskward.domain.json_value import JsonObject
from taskward.supervision.attempts.context import TaskContext


class UnfitSignature(TaskwardError):
    """This function cannot be a tool."""


class ArgumentsRefused(TaskwardError):
    """The arguments do not fit the tool's schema."""


class Signature:
    """The calling convention of one tool.

    Args:
        fn: the function; a parameter annotated `TaskContext` is handed the context, by whatever name.

    Raises:
        UnfitSignature: it takes `*args`, `**kwargs` or positional-only parameters.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        hints = get_type_hints(fn, include_extras=True)
        parameters = inspect.signature(fn).parameters
        self._context = next((name for name in parameters if _is_context(hints.get(name))), None)
        fields = {name: _field(fn, p, hints) for name, p in parameters.items() if name != self._context}
        config = pydantic.ConfigDict(extra="forbid")
        self._model = pydantic.create_model(f"{fn.__name__}Arguments", __config__=config, **fields)
        self.input_schema: JsonObject = self._model.model_json_schema()
        self.input_schema.pop("title", None)

    def bind(self, arguments: JsonObject, ctx: TaskContext) -> dict[str, Any]:
        """Check JSON arguments and give the keyword arguments of the call.

        Raises:
            ArgumentsRefused: the sentence names each argument at fault.
        """
        model = self.check(arguments)
        values = {name: getattr(model, name) for name in type(model).model_fields}
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
    return (hints.get(parameter.name, Any), default)
