"""What may be kept: whatever passes is read back as the same value by JSON and by msgpack; all else names its path."""

import json
import math

import msgpack
import pytest
from domain.strategies import PROFILE, json_objects, json_values
from hypothesis import example, given
from hypothesis import strategies as st

from taskward.domain.errors import InvalidValue
from taskward.domain.json_value import MAX_DEPTH, check_json, digest, encode_json
from taskward.domain.work import MAX_INPUT_BYTES, Work

strange = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**4000])
    | st.floats()
    | st.text(max_size=4)
    | st.binary(max_size=2)
    | st.sampled_from([object(), {1}, 1j, ..., "\ud800", "\udc00x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=2) | st.integers() | st.none() | st.just("\ud800"), inner, max_size=3)
    ),
    max_leaves=6,
)


def passes(value):
    try:
        check_json(value, max_bytes=None)
    except InvalidValue as refused:
        return not str(refused).startswith("$")  # a refusal names a path
    return True


def belongs(value):
    """The rule in words of its own."""
    match value:
        case None | bool():
            return True
        case int():
            return -(2**63) <= value < 2**63
        case float():
            return math.isfinite(value)
        case str():
            return not any(0xD800 <= ord(character) < 0xE000 for character in value)
        case list():
            return all(map(belongs, value))
        case dict():
            return all(isinstance(key, str) and belongs(key) and belongs(item) for key, item in value.items())
    return False


@PROFILE
@given(strange)
@example(float("nan"))
@example(float("-inf"))
@example("\ud800")
@example({"\udfff": 1})
@example({1: 1})
@example({None: 1})
@example(2**63)
@example(-(2**63))
@example(-(2**63) - 1)
@example([{"a": b"bytes"}])
def test_a_value_passes_exactly_if_json_and_msgpack_can_carry_it(value):
    assert passes(value) == belongs(value)


@PROFILE
@given(json_values)
def test_whatever_passes_is_read_back_as_it_was(value):
    assert passes(value)
    assert json.loads(encode_json(value)) == value
    assert msgpack.unpackb(msgpack.packb(value), strict_map_key=True) == value


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, {"b": math.nan}]}, "$.a[1].b is nan"),
        ({"a": {"b": math.inf}}, "$.a.b is inf"),
        ([[{}, {"k": object()}]], "$[0][1].k is a object"),
        ({"a": {2: "two"}}, "$.a has a key of type int"),
        ({"a": "\ud800"}, "$.a holds half of a surrogate pair"),
        ({"a": [2**63]}, "$.a[0] is an integer beyond 64 bits"),
    ],
)
def test_the_message_names_the_path_of_the_fault(value, path):
    with pytest.raises(InvalidValue) as refused:
        check_json(value, max_bytes=None)
    assert str(refused.value).startswith(path)


def nested(levels, wrap):
    value = 1
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"k": value}])
def test_depth_has_a_limit_and_no_depth_overflows_the_stack(wrap):
    check_json(nested(MAX_DEPTH, wrap), max_bytes=None)
    for levels in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(InvalidValue, match="nested deeper than 64 levels"):
            check_json(nested(levels, wrap), max_bytes=None)


@PROFILE
@given(json_values)
@example("ä€😀")
def test_size_is_counted_in_bytes_of_compact_json_and_the_limit_itself_passes(value):
    size = len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
    check_json(value, max_bytes=size)
    with pytest.raises(InvalidValue, match=f"{size} bytes as JSON; at most {size - 1} bytes"):
        check_json(value, max_bytes=size - 1)


@PROFILE
@given(json_objects, json_objects)
def test_equal_values_have_equal_digests_whatever_their_order_and_others_have_others(one, other):
    assert digest(dict(reversed(one.items()))) == digest(one)
    if encode_json(one) != encode_json(other):
        assert digest(one) != digest(other)
    assert len(digest(one)) == 32


@pytest.mark.parametrize("missing", ["type", "idempotency_key"])
def test_work_needs_a_type_and_a_key(missing):
    values = {"type": "t", "input": {}, "idempotency_key": "k"}
    assert Work(**values).check()
    with pytest.raises(InvalidValue, match="non-empty"):
        Work(**{**values, missing: ""}).check()


def test_work_has_a_longest_input():
    frame = len(encode_json({"text": ""}))
    fitting = Work(type="t", input={"text": "x" * (MAX_INPUT_BYTES - frame)}, idempotency_key="k")
    assert fitting.check() is fitting
    over = Work(type="t", input={"text": "x" * (MAX_INPUT_BYTES - frame + 1)}, idempotency_key="k")
    with pytest.raises(InvalidValue, match=r"work\.input is 262145 bytes"):
        over.check()
