"""What a test of many rows says when some of them fail."""

from __future__ import annotations

import pytest

from tests.unit.codecs.rows import check_rows


def is_small(row: int) -> None:
    assert row < 5
    if row < 0:
        with pytest.raises(ValueError, match="no such row"):
            str(row)


def test_each_row_that_fails_is_named_with_its_error() -> None:
    checked = []

    def check(row: int) -> None:
        checked.append(row)
        is_small(row)

    with pytest.raises(AssertionError) as caught:
        check_rows([1, 7, 2, -3, 4, 8], check, name=lambda row: f"row {row}")
    assert checked == [1, 7, 2, -3, 4, 8]
    first, *others = str(caught.value).splitlines()
    assert first == "3 of 6 rows failed"
    told = [line for line in others if line.startswith("row ")]
    assert (told[0], told[2]) == ("row 7: AssertionError: assert 7 < 5", "row 8: AssertionError: assert 8 < 5")
    assert told[1].startswith("row -3: Failed: DID NOT RAISE")
    assert len(told) == 3
    assert isinstance(caught.value.__cause__, AssertionError)


def test_of_many_that_fail_the_first_are_told_in_full_and_the_others_named() -> None:
    with pytest.raises(AssertionError) as caught:
        check_rows(range(5, 100), is_small)
    lines = str(caught.value).splitlines()
    assert lines[0] == "95 of 95 rows failed"
    assert lines[-1] == "99"
    assert len([line for line in lines if "AssertionError" in line]) == 20
    assert {int(line.partition(":")[0]) for line in lines[1:]} == set(range(5, 100))


def test_rows_that_are_all_right_and_rows_that_are_not_there() -> None:
    check_rows([1, 2], is_small)
    with pytest.raises(AssertionError, match="there are no rows"):
        check_rows([], is_small)
