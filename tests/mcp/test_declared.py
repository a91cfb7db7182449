"""Which questions a client can answer, by the capabilities it declares on this request."""

import pytest

from taskward.mcp.declared import input_kinds
from taskward.mcp.tools import undeclared


@pytest.mark.parametrize(
    ("capabilities", "kinds"),
    [
        ({}, set()),
        ({"elicitation": {}}, {"elicitation.form"}),
        ({"elicitation": {"form": {}}}, {"elicitation.form"}),
        ({"elicitation": {"url": {}}}, {"elicitation.url"}),
        ({"elicitation": {"form": {}, "url": {}}}, {"elicitation.form", "elicitation.url"}),
        ({"elicitation": {"telepathy": {}}}, {"elicitation.form"}),
        ({"sampling": {}, "roots": {"listChanged": True}}, {"sampling", "roots"}),
        ({"sampling": {"tools": {}}}, {"sampling"}),
        ({"elicitation": None, "sampling": True, "roots": []}, set()),
        ({"tools": {}, "experimental": {"sampling": {}}, "extensions": {"roots": {}}}, set()),
    ],
)
def test_kinds_by_capabilities(capabilities, kinds):
    assert input_kinds(capabilities) == kinds


@pytest.mark.parametrize(
    ("kind", "required"),
    [
        ("elicitation.form", {"elicitation": {"form": {}}}),
        ("elicitation.url", {"elicitation": {"url": {}}}),
        ("sampling", {"sampling": {}}),
        ("roots", {"roots": {}}),
    ],
)
def test_what_was_not_declared_is_named_by_the_capability_that_would_do(kind, required):
    error = undeclared(kind)
    assert (error.code, error.http_status) == (-32021, 400)
    assert error.data == {"requiredCapabilities": required}
    assert kind in input_kinds(required)
