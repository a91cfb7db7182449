"""Retry policies: `fixed` and `exponential` only expand to an exact list, and no list holds an impossible delay."""

import pytest
from domain.strategies import PROFILE
from hypothesis import example, given
from hypothesis import strategies as st

from taskward.domain.errors import InvalidValue
from taskward.domain.retry import MAX_DELAY_MS, MAX_DELAYS, RetryPolicy

delays = st.integers(0, MAX_DELAY_MS)


@PROFILE
@given(st.lists(delays, max_size=MAX_DELAYS), st.integers(0, MAX_DELAYS + 5))
def test_exact_gives_its_delays_in_order_and_then_none(wanted, count):
    policy = RetryPolicy.exact(wanted)
    assert policy.delays_ms == tuple(wanted)
    assert policy.delay_ms(count) == (wanted[count] if count < len(wanted) else None)


@PROFILE
@given(delays, st.integers(0, MAX_DELAYS))
def test_fixed_is_the_same_delay_again_and_again(delay, retries):
    assert RetryPolicy.fixed(delay, retries=retries) == RetryPolicy.exact([delay] * retries)


def test_exponential_grows_by_its_factor_up_to_its_longest():
    assert RetryPolicy.exponential(250, retries=5).delays_ms == (250, 500, 1_000, 2_000, 4_000)
    assert RetryPolicy.exponential(100, retries=4, factor=1.5).delays_ms == (100, 150, 225, 338)
    assert RetryPolicy.exponential(1_000, retries=4, factor=10, max_ms=20_000).delays_ms == (
        1_000,
        10_000,
        20_000,
        20_000,
    )
    assert RetryPolicy.exponential(5_000, retries=2, max_ms=1_000).delays_ms == (1_000, 1_000)


@PROFILE
@given(delays, st.integers(0, MAX_DELAYS), st.floats(1, 1e300), delays)
@example(1, 100, 1e10, MAX_DELAY_MS)
@example(0, 100, 1e300, MAX_DELAY_MS)
def test_exponential_never_falls_and_never_passes_its_longest(first_ms, retries, factor, max_ms):
    waits = RetryPolicy.exponential(first_ms, retries=retries, factor=factor, max_ms=max_ms).delays_ms
    assert len(waits) == retries and list(waits) == sorted(waits)
    assert all(wait <= max_ms for wait in waits)
    assert not waits or waits[0] == min(first_ms, max_ms)


@pytest.mark.parametrize("wrong", [-1, MAX_DELAY_MS + 1, 1.0, True, "1", None])
def test_an_impossible_delay_is_refused(wrong):
    with pytest.raises(InvalidValue, match="a retry delay is an integer"):
        RetryPolicy.exact([0, wrong])


@pytest.mark.parametrize("make", [RetryPolicy.fixed, RetryPolicy.exponential])
@pytest.mark.parametrize("retries", [MAX_DELAYS + 1, 2_000])
def test_too_many_delays_are_refused(make, retries):
    with pytest.raises(InvalidValue, match=f"at most 100 delays, not {retries}"):
        make(1, retries=retries)
