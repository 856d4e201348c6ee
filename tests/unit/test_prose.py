"""No sentence of the pages, the docstrings and the comments is too long to be read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.prose import LIMIT, files, long_sentences, sentences


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("One. Two! `three` is code. ``Four`` too.", ["One", "Two", "Code is code", "Code too."]),
        ("It takes `a`, `b` and `c`, as 2.5 ms.", ["It takes Code, as 2.5 ms."]),
        ("[the page](errors.md) says so. :meth:`close` does it.", ["The page says so", "Code does it."]),
    ],
)
def test_sentences_end_where_they_end(block: str, expected: list[str]) -> None:
    assert list(sentences(block)) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "page.md",
            "a b\nc d\n\n- e f g\n\n| h | i j k |\n|---|---|\n\n```\nl m n o p\n```\n",
            ["a b c d", "e f g", "i j k"],
        ),
        (
            "module.py",
            '"""A b c.\n\n    >>> d e f g\n    h i j k\n\nL m n::\n\n    o p q r\n"""\n',
            ["A b c.", "L m n::"],
        ),
        ("module.py", "# a b\n# c d\nx = 1  # e f g\ny = 2  # h i j\n", ["a b c d", "e f g", "h i j"]),
        ("script.lua", "-- A b c.\n-- KEYS: d, e, f\nlocal g = 1 -- h i j\n", ["A b c.", "h i j"]),
    ],
)
def test_code_is_left_out(tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    assert [found.text for found in long_sentences(path, 2)] == expected


def test_no_sentence_is_longer() -> None:
    too_long = [
        f"{found.path}:{found.line}: {found.words} words: {found.text}"
        for path in files()
        for found in long_sentences(path)
    ]
    assert too_long == [], f"more than {LIMIT} words in a sentence:\n" + "\n".join(too_long)
