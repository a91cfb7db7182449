"""Shared by every room's tests: the campaign flag, loud skips, and helpers on the path."""

import pytest

pytest.register_assert_rewrite("harness", "mutants", "store_rig", "supervised", "system_rig")

import mutants  # noqa: E402 - after its asserts are rewritten

mutants.install_from_environment()

LOUD = "SKIPPED LOUDLY: "


def pytest_addoption(parser):
    parser.addoption("--campaign", action="store_true", help="run the long campaigns too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--campaign"):
        return
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="a long campaign; run it with --campaign"))


@pytest.fixture(scope="session")
def skip_loudly():
    """Skip, and say so at the end of the run: part of what is promised was not shown."""

    def skip(reason):
        pytest.skip(LOUD + reason)

    return skip


def pytest_terminal_summary(terminalreporter):
    reasons = {
        str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", []) if LOUD in str(report.longrepr)
    }
    for reason in sorted(reasons):
        terminalreporter.write_line(f"!!! {reason}", red=True, bold=True)
