"""No sentence of the pages, the docstrings and the comments has to be read twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.prose import LIMIT, ROOT, files, habits, habits_of, long_sentences, sentences, subjects


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


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        ("Is told what came.", "Is"),
        ("Are called each time.", "Are"),
        ("Called when nothing is left to do.", "Called"),
        ("Takes a value. Is told in time.", None),
        ("Whether it is open.", None),
        ("Let who waits for a value go before the driver that moved it", "who"),
        ("What a lost reply told of waits for its deadline.", "What"),
        ("Sends what went along with no receive.", "what"),
        ("Keeps it for whoever comes.", "whoever"),
        ("The lease of a caller who is gone.", None),
        ("Who receives reads from Redis itself.", "Who"),
        ("Whose turn it is comes first.", "Whose"),
        ("Wakes whose turn it is.", "whose"),
        ("Serves who waits longest.", "who"),
        ("The lock is of the thread whose turn it is.", None),
        ("Values whose lease is over.", None),
        ("Says what it does. Asks the cluster anew who owns the slots.", None),
        ("Tells how many there are, and what they are.", None),
        ("It knows of what was announced.", "what"),
        ("Reads them, in what order they come.", None),
        ("What comes next? That one.", None),
        ("The same for asyncio.", "The same for"),
        ("Reads one. The same with many.", "The same with"),
        ("Same as `take`.", "Same as"),
        ("Reads one. The same request again gives the same leases.", None),
    ],
)
def test_a_habit_is_found_and_a_question_is_none(text: str, habit: str | None) -> None:
    assert [found for _, found in habits_of(text)] == ([] if habit is None else [habit])


def test_habits_are_found_in_docstrings_and_comments(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('"""Takes what comes.\n\n    >>> what\n"""\nx = 1  # what came\n', "utf-8")
    script = tmp_path / "script.lua"
    script.write_text("-- Takes what comes.\n-- KEYS: what\nlocal x = 1 -- what came\n", "utf-8")
    assert [(found.line, found.habit) for found in habits(module)] == [(1, "what"), (5, "what")]
    assert [(found.line, found.habit) for found in habits(script)] == [(1, "what"), (3, "what")]


def test_docstrings_and_comments_have_no_habit() -> None:
    sources = {path.relative_to(ROOT).as_posix(): path for path in files() if path.suffix != ".md"}
    found = [
        f"{habit.path}:{habit.line}: {habit.habit!r}: {habit.text}"
        for name, path in sources.items()
        for habit in habits(path)
    ]
    assert found == [], "see docs/prose.py for these habits:\n" + "\n".join(found)


def test_new_commits_have_no_habit_in_their_subjects() -> None:
    found = [f"{habit!r}: {text}" for subject in subjects() for text, habit in habits_of(subject)]
    assert found == [], "reword these subjects (git commit --amend, git rebase --interactive):\n" + "\n".join(found)
