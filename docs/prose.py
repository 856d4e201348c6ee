"""Counts the words of the pages: ``python docs/prose.py``. ``tests/unit/test_prose.py`` holds them to the limits below.

A word holds a letter or a digit, so the bars of tables do not count. Code, tables and generated parts do.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IN_ALL = 75_000
PAGE = 1_200
HOW_TO = 600
README = 400


def pages() -> dict[str, int]:
    """The words of each page."""
    names = ("README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md")
    paths = [*(ROOT / name for name in names), *sorted((ROOT / "docs").rglob("*.md"))]
    return {path.relative_to(ROOT).as_posix(): count(path.read_text("utf-8")) for path in paths}


def count(text: str) -> int:
    return sum(1 for word in text.split() if re.search(r"\w", word))


def limit(page: str) -> int:
    return README if page == "README.md" else HOW_TO if page.startswith("docs/how-to/") else PAGE


def main() -> None:
    counted = pages()
    for page, words in sorted(counted.items(), key=lambda row: -row[1]):
        print(f"{words:6} {page}{'' if words <= limit(page) else f', more than {limit(page)}'}")
    print(f"{sum(counted.values()):6} in all")


if __name__ == "__main__":
    main()
