"""Host and Origin: loopback by default, names that were allowed, and nothing that only looks like them."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from taskward.mcp.security import HostPolicy

FUZZ = settings(deadline=None, print_blob=True, derandomize=False, max_examples=150)
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@pytest.mark.parametrize("name", LOOPBACK)
@pytest.mark.parametrize("port", ["", ":80", ":65535"])
def test_loopback_is_served_by_default(name, port):
    policy = HostPolicy()
    assert policy.refusal(name + port, None) is None
    assert policy.refusal(name.upper() + port, f"http://{name}{port}") is None
    assert policy.refusal(name, f"https://{name}:1") is None


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example.com",
        "localhost.evil.example.com",
        "evil.example.com:80",
        "localhost@evil.example.com",
        "127.0.0.2",
        "::1",
        "[::1",
        "[::2]",
        "localhost:port",
        "localhost:80:80",
        "localhost,evil.example.com",
    ],
)
def test_another_host_is_misdirected(host):
    status, sentence = HostPolicy().refusal(host, None)
    assert status == "421 Misdirected Request" and "allowed_hosts" in sentence


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "localhost",
        "http://",
        "http://evil.example.com",
        "http://evil.example.com#localhost",
        "http://localhost.evil.example.com",
        "http://localhost@evil.example.com",
        "http://evil.example.com@localhost",
        "http://evil.example.com\\@localhost",
        "http://[::1",
        "http://[zz]",
        "http://[::1]x",
    ],
)
def test_another_origin_is_forbidden_whatever_the_host(origin):
    for host in ("localhost", "evil.example.com", None):
        status, sentence = HostPolicy().refusal(host, origin)
        assert status == "403 Forbidden" and "allowed_hosts" in sentence


def test_allowed_names_replace_the_default_and_have_no_port():
    policy = HostPolicy(["API.example.com"])
    assert policy.refusal("api.example.com:8443", "https://api.EXAMPLE.com") is None
    assert policy.refusal("localhost", None)[0].startswith("421")
    assert policy.refusal("api.example.com", "http://localhost")[0].startswith("403")


@pytest.mark.parametrize("host", [None, "evil.example.com"])
@pytest.mark.parametrize("origin", [None, "null", "http://[::1"])
def test_a_star_switches_both_checks_off(host, origin):
    assert HostPolicy(["*"]).refusal(host, origin) is None


headers = st.text(st.characters(max_codepoint=255), max_size=30)
netlocs = st.builds("{}{}{}".format, st.sampled_from(["", "http://", "https://["]), headers, st.sampled_from(LOOPBACK))


@FUZZ
@given(st.none() | headers | netlocs, st.none() | headers | netlocs)
@example("localhost", "http://[::1")
@example("localhost", "http://½.com")
def test_no_header_raises_and_what_is_refused_has_a_status_and_a_sentence(host, origin):
    refusal = HostPolicy().refusal(host, origin)
    assert refusal is None or (refusal[0][:3] in ("403", "421") and refusal[1].endswith("."))
    if origin is not None and not any(name in origin.lower() for name in LOOPBACK):
        assert refusal[0].startswith("403")
