"""Checks what a client sends as `inputResponses` before anything of it is kept."""

from collections.abc import Mapping
from typing import Any

import jsonschema
import mcp_types
import pydantic
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from taskward.domain import event as ev
from taskward.domain.errors import InvalidValue
from taskward.domain.json_value import JsonObject, check_json
from taskward.mcp.errors import INTERNAL_ERROR, INVALID_PARAMS, WireError

MAX_ANSWER_BYTES = 256 * 1024

_NO_NETWORK: Registry[Any] = Registry()

RESULT_TYPES: Mapping[str, type[pydantic.BaseModel]] = {
    ev.ELICITATION: mcp_types.ElicitResult,
    ev.SAMPLING: mcp_types.CreateMessageResult,
    ev.ROOTS: mcp_types.ListRootsResult,
}
"""The shape of an answer, by the method of its question."""


def check_answers(outstanding: Mapping[str, JsonObject], responses: Mapping[str, Any]) -> None:
    """Check the answers to outstanding questions; whatever is under another key is ignored (SEP-2663).

    Args:
        outstanding: the questions that wait, by key.
        responses: what the client sent.

    Raises:
        WireError: nothing was applied, the questions go on waiting. -32602, an answer does not fit;
            -32603, the tool asked with a schema that is none.
    """
    for key, request in outstanding.items():
        if key in responses:
            _check(key, request, responses[key])


def _check(key: str, request: JsonObject, response: Any) -> None:
    try:
        check_json(response, max_bytes=MAX_ANSWER_BYTES, path=f"inputResponses.{key}")
        RESULT_TYPES[request["method"]].model_validate(response)
        if request["method"] == ev.ELICITATION and response["action"] == "accept":
            _check_form(request["params"], response)
    except (InvalidValue, pydantic.ValidationError, jsonschema.ValidationError) as error:
        raise WireError(
            INVALID_PARAMS, f"The answer under {key!r} does not fit its question: {_first_line(error)}"
        ) from None
    except (jsonschema.SchemaError, Unresolvable):
        raise WireError(
            INTERNAL_ERROR, f"The question under {key!r} has a schema that no answer can be checked against."
        ) from None


def _check_form(params: JsonObject, response: JsonObject) -> None:
    if params.get("mode", "form") == "form":
        schema = params["requestedSchema"]
        validator = validator_for(schema, default=jsonschema.Draft202012Validator)
        validator.check_schema(schema)
        validator(schema, registry=_NO_NETWORK).validate(response.get("content") or {})


def _first_line(error: Exception) -> str:
    if isinstance(error, jsonschema.ValidationError):
        return f"{error.json_path}: {error.message}"
    if isinstance(error, pydantic.ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
    return str(error)
