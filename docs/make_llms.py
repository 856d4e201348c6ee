"""Writes docs/site/llms.txt: all pages with their first sentences, for language models (llmstxt.org).

``python docs/make_llms.py`` writes it, ``--check`` compares it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
TARGET = DOCS / "site" / "llms.txt"

_TREE = re.compile(r"```\{toctree\}\n:caption: (?P<caption>.+?)\n(?P<entries>.*?)```", re.DOTALL)


def llms() -> str:
    """The whole file: the chapters of docs/index.md, with a line for each page."""
    index = (DOCS / "index.md").read_text("utf-8")
    parts = [f"# {_title(index)}\n\n> {_summary(index)}"]
    for tree in _TREE.finditer(index):
        names = [line for line in tree["entries"].splitlines() if line and not line.startswith(":")]
        parts.append("\n".join([f"## {tree['caption']}", "", *map(_line, names)]))
    return "\n\n".join(parts) + "\n"


def _line(name: str) -> str:
    """One page, by its name in a toctree: relative to docs/, or to the root where it begins with a slash."""
    path = f"{name.removeprefix('/')}" if name.startswith("/") else f"docs/{name}"
    page = (DOCS.parent / f"{path}.md").read_text("utf-8")
    return f"- [{_title(page)}]({path}.html): {_summary(page)}"


def _title(page: str) -> str:
    return next(line for line in page.splitlines() if line.startswith("# ")).removeprefix("# ").replace("`", "")


def _summary(page: str) -> str:
    """The first sentence after the title, before the first section."""
    for paragraph in re.split(r"^# .+$", page, maxsplit=1, flags=re.MULTILINE)[1].partition("\n## ")[0].split("\n\n"):
        if re.match(r"[A-Z*`](?!``)", paragraph.lstrip("\n")):
            flat = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(paragraph.split())).replace("**", "")
            return re.split(r"(?<=[.:])\s", flat)[0].rstrip(":")
    return ""


def main() -> int:
    made = llms()
    if "--check" in sys.argv[1:]:
        if TARGET.read_text("utf-8") == made:
            return 0
        print(f"{TARGET} is not up to date: run python docs/make_llms.py", file=sys.stderr)
        return 1
    TARGET.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
