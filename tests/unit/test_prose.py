"""No page is too long to be read, and all of them together are not either."""

from __future__ import annotations

import pytest

from docs.prose import HOW_TO, IN_ALL, LONGER, PAGE, count, limit, pages


def test_code_and_tables_count_and_their_bars_do_not() -> None:
    assert count("| a | `b c` |\n|---|---|\n\n```\nd - e\n```\n") == 5


@pytest.mark.parametrize("page", pages())
def test_a_page_is_not_too_long(page: str) -> None:
    assert pages()[page] <= limit(page)


def test_all_pages_together_are_not_too_long() -> None:
    assert sum(pages().values()) <= IN_ALL


def test_no_page_has_a_limit_that_it_does_not_need() -> None:
    usual = {page: HOW_TO if page.startswith("docs/how-to/") else PAGE for page in pages()}
    assert {page for page, words in pages().items() if words > usual[page]} == set(LONGER)
