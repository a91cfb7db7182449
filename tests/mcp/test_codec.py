"""The codec: strict in, compact out."""

import json

import pytest

from taskward.mcp import codec
from taskward.mcp.errors import PARSE_ERROR, WireError


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"{} {}",
        b"{'a': 1}",
        b'{"a": 1,}',
        b"[1, 2",
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b'"\xff"',
        b'"\\ud800"',
        b'{"\\udfff": 1}',
        b"\xef\xbb\xbf{}",
        b"01",
        b"9" * 5_000,
        b"[" * 100_000,
        b"[" * 500 + b"]" * 500,
        '"ä"'.encode("utf-16"),
    ],
)
def test_what_is_no_json_is_a_parse_error_with_a_sentence(body):
    with pytest.raises(WireError) as refused:
        codec.decode(body)
    assert (refused.value.code, refused.value.http_status) == (PARSE_ERROR, 400)
    assert refused.value.message.startswith("The body is not valid JSON: ") and refused.value.message.endswith(".")


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a":[1,-2.5,true,null,"\\u00e4\\ud83d\\ude00"]}', {"a": [1, -2.5, True, None, "ä😀"]}),
        (b"\t{ }\r\n", {}),
        (b"18446744073709551616", 2**64),
        (b'"\\u0000"', "\x00"),
        (b'{"a":1,"a":2}', {"a": 2}),
    ],
)
def test_what_is_json_is_read(body, value):
    assert codec.decode(body) == value


def test_a_value_is_one_compact_line_of_utf_8():
    value = {"text": "a\nb ä😀", "list": [1, None, True, 2**70], "empty": {}}
    line = codec.encode(value)
    assert b"\n" not in line and b": " not in line and "ä😀".encode() in line
    assert json.loads(line) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_json_has_not_never_reaches_the_wire(value):
    assert json.loads(codec.encode([value])) == [None]
