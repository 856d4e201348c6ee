"""Makes redisson_dq/_sync/ from redisson_dq/_async/.

    python .ci/unasync.py            writes the files
    python .ci/unasync.py --check    fails when a committed file differs, is missing or has no source

The rules are word replacements. A line ``# sync: code`` stands in the generated code only. A rule that matched
nothing is an error, so the table below holds no dead ones.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "redisson_dq" / "_async"
TARGET = ROOT / "redisson_dq" / "_sync"

HEADER = """\
# Generated from redisson_dq/_async/{name} by .ci/unasync.py. Do not edit: edit that file and run it.

"""

RULES = [
    (r"^( *)# sync: ?(.*)$", r"\1\2"),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bredis\.asyncio\b", "redis"),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\b__aiter__\b", "__iter__"),
    (r"\baclose\b", "close"),
    (r"\basync_(?=[a-z])", ""),
    (r"\bAsync(?=[A-Z])", ""),
]


def generate() -> dict[str, str]:
    used = dict.fromkeys(RULES, 0)
    made = {}
    for path in sorted(SOURCE.glob("*.py")):
        text = path.read_text("utf-8")
        for rule in RULES:
            text, count = re.subn(*rule, text, flags=re.MULTILINE)
            used[rule] += count
        made[path.name] = formatted(HEADER.format(name=path.name) + text)
    dead = [pattern for (pattern, _), count in used.items() if not count]
    if dead:
        sys.exit(f"rules that match nothing: {dead}")
    return made


def formatted(text: str) -> str:
    command = [sys.executable, "-m", "ruff"]
    for arguments in (["check", "--select=I", "--fix-only", "--quiet"], ["format", "--quiet"]):
        run = [*command, *arguments, "--stdin-filename", str(TARGET / "generated.py"), "-"]
        text = subprocess.run(run, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only, change nothing")
    check = parser.parse_args().check
    made = generate()
    present = {path.name: path.read_text("utf-8") for path in TARGET.glob("*.py")}
    wrong = sorted(name for name in made.keys() | present.keys() if made.get(name) != present.get(name))
    if check:
        if wrong:
            sys.exit(f"run python .ci/unasync.py; not up to date: {', '.join(wrong)}")
        return
    for name in wrong:
        if name in made:
            (TARGET / name).write_text(made[name], "utf-8")
        else:
            (TARGET / name).unlink()
        print(f"{'wrote' if name in made else 'removed'} {TARGET.relative_to(ROOT) / name}")


if __name__ == "__main__":
    main()
