"""Task ids: what is spelt is read back, ids sort by age, and whatever was never spelt is refused."""

import string

import pytest
from domain.strategies import PROFILE
from hypothesis import example, given
from hypothesis import strategies as st

from taskward.domain import ids

times = st.integers(0, 2**48 - 1)
randoms = st.binary(min_size=16, max_size=16)
SAFE = set(string.ascii_lowercase[:22] + string.digits)


@PROFILE
@given(times, randoms)
@example(0, bytes(16))
@example(2**48 - 1, b"\xff" * 16)
def test_an_id_is_read_back_and_is_safe_in_a_header(now_ms, random):
    key = ids.mint_key(now_ms, random)
    task_id = ids.id_of(key)
    assert ids.key_of(task_id) == key and len(key) == ids.KEY_BYTES
    assert len(task_id) == ids.ID_LENGTH and set(task_id) <= SAFE
    assert int.from_bytes(key[:6], "big") == now_ms and key[6:] == random


@PROFILE
@given(times, times, randoms, randoms)
@example(1, 2, b"\xff" * 16, bytes(16))
def test_ids_sort_by_age_and_as_their_keys_do(earlier, later, random, other):
    keys = [ids.mint_key(earlier, random), ids.mint_key(later, other)]
    spelt = [ids.id_of(key) for key in keys]
    assert (spelt[0] < spelt[1]) == (keys[0] < keys[1]) and (spelt[0] == spelt[1]) == (keys[0] == keys[1])
    if earlier < later:
        assert spelt[0] < spelt[1]


@PROFILE
@given(st.text(max_size=40) | st.text("0123456789abcdefghijklmnopqrstuvw=", min_size=36, max_size=36))
@example("")
@example("Ä" * 36)
@example("0" * 35 + "1")
@example("w" * 36)
@example("A" + "0" * 35)
@example("0" * 30 + "======")
@example("0" * 35 + "\x00")
def test_junk_is_refused_and_two_spellings_never_mean_one_task(junk):
    key = ids.key_of(junk)
    assert key is None or (ids.id_of(key) == junk and len(key) == ids.KEY_BYTES)


@PROFILE
@given(randoms, st.integers(0, 35), st.sampled_from(sorted(SAFE)))
def test_another_character_is_another_task_or_none(random, place, character):
    task_id = ids.id_of(ids.mint_key(5, random))
    changed = task_id[:place] + character + task_id[place + 1 :]
    assert (ids.key_of(changed) == ids.key_of(task_id)) == (changed == task_id)
    assert ids.key_of(task_id.upper()) is None or task_id.isdigit()


@pytest.mark.parametrize("size", [0, 15, 17])
def test_the_wrong_amount_of_randomness_is_refused(size):
    with pytest.raises(ValueError, match="16 random bytes"):
        ids.mint_key(1, bytes(size))


@pytest.mark.parametrize("now_ms", [-1, 2**48])
def test_a_moment_that_no_key_can_hold_is_refused(now_ms):
    with pytest.raises(OverflowError):
        ids.mint_key(now_ms, bytes(16))
