"""From a function to a schema, and from JSON arguments to its call."""

import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal

import jsonschema
import pydantic
import pytest

from taskward import TaskContext
from taskward.mcp.call_context import CallContext
from taskward.mcp.signature import ArgumentsRefused, Signature, UnfitSignature

CTX = CallContext()


class Point(pydantic.BaseModel):
    x: int
    y: int = 0


def schema_of(fn):
    schema = Signature(fn).input_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object" and schema["additionalProperties"] is False
    return schema


def bound(fn, **arguments):
    return Signature(fn).bind(arguments, CTX)


def refused(fn, **arguments):
    with pytest.raises(ArgumentsRefused) as caught:
        Signature(fn).check(arguments)
    sentence = str(caught.value)
    assert sentence.startswith("The arguments do not fit the tool's schema: ")
    return sentence


def test_no_parameters():
    def fn(): ...

    assert schema_of(fn) == {"type": "object", "properties": {}, "additionalProperties": False}
    assert bound(fn) == {}
    assert "colour" in refused(fn, colour="red")


def test_types_and_what_is_required():
    def fn(a: int, b: str, *, c: bool, d: list[float], e: dict, f: Literal["x", "y"], g: Any): ...

    schema = schema_of(fn)
    assert list(schema["properties"]) == list("abcdefg") == schema["required"]
    kinds = {name: property_.get("type") for name, property_ in schema["properties"].items()}
    assert kinds["a"] == "integer" and kinds["b"] == kinds["f"] == "string" and kinds["c"] == "boolean"
    assert kinds["d"] == "array" and kinds["e"] == "object" and kinds["g"] is None
    given = {"a": 1, "b": "", "c": True, "d": [1.5], "e": {"k": None}, "f": "x", "g": [None]}
    assert bound(fn, **given) == given


def test_defaults_are_told_and_filled_in_and_never_shared():
    def fn(a: int = 3, b: str | None = None, c: list = []): ...  # noqa: B006 - what an author may write

    schema = schema_of(fn)
    assert "required" not in schema
    assert [schema["properties"][name]["default"] for name in "abc"] == [3, None, []]
    first = bound(fn)
    first["c"].append(1)
    assert bound(fn) == {"a": 3, "b": None, "c": []}


def test_annotated_fields_and_fields_as_defaults():
    def fn(
        a: Annotated[int, pydantic.Field(ge=1, description="how many")], b: str = pydantic.Field("x", max_length=2)
    ): ...

    properties = schema_of(fn)["properties"]
    assert properties["a"]["minimum"] == 1 and properties["a"]["description"] == "how many"
    assert properties["b"]["maxLength"] == 2 and properties["b"]["default"] == "x"
    assert bound(fn, a=1) == {"a": 1, "b": "x"}
    sentence = refused(fn, a=0, b="xyz")
    assert "a: " in sentence and "; b: " in sentence


def test_models_are_handed_over_as_models():
    def fn(at: Point, more: list[Point]): ...

    assert "$defs" in schema_of(fn)
    values = bound(fn, at={"x": 1}, more=[{"x": 2, "y": 3}])
    assert values == {"at": Point(x=1), "more": [Point(x=2, y=3)]}
    assert "at.x: " in refused(fn, at={}, more=[]) and "more.0.x: " in refused(fn, at={"x": 1}, more=[{}])


def test_the_context_is_handed_over_by_whatever_name_and_is_no_argument():
    class OwnContext(TaskContext): ...

    def first(c: TaskContext, a: int): ...
    def last(a: int, *, context: Annotated[TaskContext, "the way to the user"]): ...
    def derived(a: int, own: OwnContext): ...

    for fn, name in ((first, "c"), (last, "context"), (derived, "own")):
        assert list(schema_of(fn)["properties"]) == ["a"]
        assert bound(fn, a=1) == {"a": 1, name: CTX}
        assert name in refused(fn, a=1, **{name: {}})


@pytest.mark.parametrize(
    "name",
    ["json", "copy", "schema", "dict", "model_config", "model_dump", "model_dump_x", "_x", "__y", "self", "arg_x"],
)
def test_any_name_that_python_allows(name):
    space = {}
    exec(f"def fn({name}: int, arg_json: int = 1): return {name}", space)
    fn = space["fn"]
    assert list(schema_of(fn)["properties"]) == [name, "arg_json"] and schema_of(fn)["required"] == [name]
    assert bound(fn, **{name: 5}) == {name: 5, "arg_json": 1}
    assert f"{name}: " in refused(fn, **{name: "x"})


def test_a_reserved_name_keeps_its_field_and_yields_to_a_namesake():
    def fn(json: int = pydantic.Field(3, ge=1), arg_json: int = 7): ...

    assert schema_of(fn)["properties"]["json"]["minimum"] == 1
    assert bound(fn) == {"json": 3, "arg_json": 7} and bound(fn, json=2) == {"json": 2, "arg_json": 7}


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_a_number_beyond_a_double_is_no_argument(value):
    def fn(a: float): ...

    assert "finite" in refused(fn, a=value)


def test_methods_are_bound():
    class Holder:
        def tool(self, a: int):
            return self, a

    holder = Holder()
    assert list(schema_of(holder.tool)["properties"]) == ["a"]
    assert holder.tool(**bound(holder.tool, a=1)) == (holder, 1)


def positional_only(a: int, /): ...
def star(*args: int): ...
def double_star(**options: int): ...
def no_schema(a: functools.partial): ...
def no_json_schema(a: Callable[[], int]): ...
def unresolved(a: "Nowhere"): ...  # noqa: F821
def two_contexts(a: TaskContext, b: TaskContext): ...


class Called:
    def __call__(self, a: int): ...


@pytest.mark.parametrize(
    "fn",
    [
        positional_only,
        star,
        double_star,
        no_schema,
        no_json_schema,
        unresolved,
        two_contexts,
        functools.partial(test_no_parameters),
        Called(),
        len,
        5,
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_one_sentence(fn):
    with pytest.raises(UnfitSignature, match="cannot be a tool") as refused_:
        Signature(fn)
    assert "\n" not in str(refused_.value)
