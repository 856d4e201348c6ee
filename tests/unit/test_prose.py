"""Limits of the length of each page, and of all pages together."""

from __future__ import annotations

import subprocess
import sys

from docs.prose import IN_ALL, ROOT, count, limit, pages


def test_code_and_tables_count_and_their_bars_do_not() -> None:
    assert count("| a | `b c` |\n|---|---|\n\n```\nd - e\n```\n") == 5


def test_no_page_is_too_long() -> None:
    assert {page: words for page, words in pages().items() if words > limit(page)} == {}


def test_all_pages_together_are_not_too_long() -> None:
    assert sum(pages().values()) <= IN_ALL


def test_words_have_their_usual_spelling_and_ours_a_better_one() -> None:
    """By codespell: its own list, and the words of docs/spelling.txt."""
    command = [
        sys.executable,
        "-m",
        "codespell_lib",
        "-D",
        "-",
        "-D",
        "docs/spelling.txt",
        "-L",
        "datas,nd,te,fo,afterall",
    ]
    done = subprocess.run([*command, *pages()], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == ""
