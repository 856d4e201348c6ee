"""How many lines of what kind the core has: ``python -m tests.lines``.

The core is what is written by hand in ``redisson_dq``, Lua included, without the areas in :data:`APART`. The generated
``_sync`` is counted by itself.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "redisson_dq"
APART = {
    *("codecs", "java", "cli", "web", "doctor", "mending", "migrating", "browsing", "planning.py", "testing"),
    *("embedded", "_sync"),
}
KINDS = ("docstring", "comment", "blank", "import", "signature", "code", "Lua", "Lua comment")


def kinds_of_lines(path: Path) -> Counter[str]:
    """The lines of one file, by their kind."""
    lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    if path.suffix == ".lua":
        return Counter("blank" if not line else "Lua comment" if line.startswith("--") else "Lua" for line in lines)
    kinds = ["blank" if not line else "comment" if line.startswith("#") else "code" for line in lines]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            kinds[node.lineno - 1 : node.end_lineno] = ["docstring"] * ((node.end_lineno or 0) - node.lineno + 1)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            kinds[node.lineno - 1 : node.end_lineno] = ["import"] * ((node.end_lineno or 0) - node.lineno + 1)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            last = max(node.lineno, node.body[0].lineno - 1)
            kinds[first - 1 : last] = ["signature" if kind == "code" else kind for kind in kinds[first - 1 : last]]
    return Counter(kinds)


def main() -> None:
    rooms: dict[str, Counter[str]] = {}
    for path in sorted(PACKAGE.rglob("*")):
        room = path.relative_to(PACKAGE).parts[0]
        if path.suffix in (".py", ".lua") and room not in APART:
            rooms.setdefault(room if path.parent != PACKAGE else "the root", Counter()).update(kinds_of_lines(path))
    rooms["the core"] = sum(rooms.values(), Counter())
    print(f"{'':18}" + "".join(f"{kind:>12}" for kind in (*KINDS, "all")))
    for room, counts in sorted(rooms.items(), key=lambda each: each[1].total()):
        print(f"{room:18}" + "".join(f"{count:12}" for count in (*(counts[kind] for kind in KINDS), counts.total())))
    print("generated _sync:", sum(kinds_of_lines(path).total() for path in (PACKAGE / "_sync").rglob("*.py")))


if __name__ == "__main__":
    main()
