"""The public task: how long it lives, and how often its client is told to ask."""

from dataclasses import replace

from domain.strategies import LIVE, NOW, PROFILE, tasks
from hypothesis import given
from hypothesis import strategies as st

from taskward.domain.task import FIRST_POLL_MS, LONGEST_POLL_MS, TERMINAL, Status, poll_interval

ages = st.integers(-1_000, 10**9)


@PROFILE
@given(ages, ages)
def test_the_poll_interval_grows_with_age_between_its_bounds(age, other):
    younger, older = sorted((age, other))
    assert FIRST_POLL_MS <= poll_interval(younger) <= poll_interval(older) <= LONGEST_POLL_MS


def test_the_poll_interval_is_a_tenth_of_the_age():
    ages_ms = (0, 1_000, 2_000, 30_000, 50_000, 10**9)
    assert [poll_interval(age) for age in ages_ms] == [100, 100, 200, 3_000, 5_000, 5_000]


@PROFILE
@given(tasks(LIVE), tasks(tuple(TERMINAL)), st.integers(0, 10**9))
def test_the_poll_interval_of_an_ended_task_is_frozen(live, ended, step_ms):
    assert live.poll_ms(NOW + step_ms) == poll_interval(NOW + step_ms - live.created_at_ms)
    assert ended.poll_ms(NOW + step_ms) == ended.poll_interval_ms


@PROFILE
@given(tasks(), st.integers(1, 10**9))
def test_a_task_expires_at_its_creation_plus_ttl_and_not_a_moment_earlier(task, ttl_ms):
    mortal = replace(task, ttl_ms=ttl_ms)
    assert not mortal.expired(task.created_at_ms + ttl_ms - 1) and mortal.expired(task.created_at_ms + ttl_ms)
    assert not replace(task, ttl_ms=None).expired(2**62)


def test_three_statuses_are_terminal():
    assert [status.value for status in Status if status.terminal] == ["completed", "failed", "cancelled"]
