"""The bytes that Java writes, in ``tests/vectors``: ``python -m tests.vector_files [VERSION ...]`` makes the files of a
Redisson.

The files of the newest Redisson are whole. A file of an older one has only the rows that differ, and its first line
names what that Redisson has no row for. A codec's options are part of a row's key, as are its name or value. The word
``kotlin`` in place of a version makes the files of Kotlin.

``--check`` writes nothing. It makes every row, and prints those that are not as in the files. A Redisson that has none
is compared with the newest one.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.peer import INTEROP, build, vectors
from tests.versions import NEWEST, OLDEST, REDISSONS

__all__ = ["FOLDER", "KINDS", "all_rows", "made", "own_rows", "rows", "settled"]

FOLDER = Path(__file__).resolve().parent / "vectors"

#: By the first part of a file's name: the versions that have one.
KINDS = {"basic": REDISSONS, "types": REDISSONS, "foreign": REDISSONS, "methods": (NEWEST,), "marshalling": (OLDEST,)}

_Row = Mapping[str, Any]
_AGAIN = "python -m tests.vector_files "


@functools.cache
def rows(kind: str, version: str) -> tuple[_Row, ...]:
    """Every row of one Redisson, in the order of the newest one's."""
    header, found = _file(kind, version)
    if version == KINDS[kind][0]:
        return found
    own = {_key(row): row for row in found}
    absent = {(each["codec"], _text(each.get("spec"))): each.get("names") for each in header["absent"]}
    made = []
    for row in rows(kind, NEWEST):
        without = absent.get((row["codec"], _text(row.get("spec"))), ())
        if without is not None and _name(row) not in without:
            made.append(own.pop(_key(row), {**row, "redisson": version}))
    return (*made, *own.values())


def own_rows(kind: str, version: str) -> tuple[_Row, ...]:
    """Those that are not the newest one's."""
    return _file(kind, version)[1]


def all_rows(kind: str) -> Iterable[_Row]:
    """The rows of every Redisson, oldest first."""
    for version in reversed(KINDS[kind]):
        yield from rows(kind, version)


def settled(row: _Row) -> _Row:
    """A row without its bytes where they depend on identity or on the salt of a JVM. Their length is compared."""
    return {**row, "hex": len(row["hex"])} if row.get("deterministic") is False else row


def _name(row: _Row) -> str:
    return row["name"] if "name" in row else _text(row["value"])


def _key(row: _Row) -> tuple[str, ...]:
    if "codec" not in row:  # A method.
        return row["interface"], "null", f"{row['method']}({', '.join(row['parameters'])})"
    return row["codec"], _text(row.get("spec")), _name(row), row["javaType"]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@functools.cache
def _file(kind: str, version: str) -> tuple[Any, tuple[_Row, ...]]:
    text = (FOLDER / f"{kind}-{version}.jsonl").read_text("utf-8")
    header, *found = (json.loads(line) for line in text.splitlines())
    return header, tuple(found)


def made(kind: str, version: str) -> str:
    """The text of a file, by a Redisson that runs now."""
    written = vectors("golden" if kind == "basic" else kind, version).splitlines()
    again = {"regenerate": f"{_AGAIN}{version}"}
    if version == KINDS[kind][0]:
        return _joined([_line(again), *written])
    theirs = {_key(row): row for row in map(json.loads, written)}
    ours = {_key(row): row for row in rows(kind, NEWEST)}
    differing = [
        line
        for line, row in zip(written, theirs.values(), strict=True)
        if _key(row) not in ours or settled(row) != settled({**ours[_key(row)], "redisson": version})
    ]
    return _joined([_line({**again, "differs from": NEWEST, "absent": _absent(ours, theirs)}), *differing])


def _compared(row: _Row) -> _Row:
    return settled({**row, "redisson": ""})


def differing(kind: str, version: str) -> list[str]:
    """The rows that a Redisson, which runs now, writes in another way than the files have them, by their names."""
    given = "golden" if kind == "basic" else kind
    theirs = {_key(row): _compared(row) for row in map(json.loads, vectors(given, version).splitlines())}
    known = rows(kind, version if version in KINDS[kind] else KINDS[kind][0])
    ours = {_key(row): _compared(row) for row in known}
    found = [(key, "other bytes") for key in ours if key in theirs and ours[key] != theirs[key]]
    found += [(key, "gone") for key in ours if key not in theirs] + [(key, "new") for key in theirs if key not in ours]
    return [f"{kind}: {key[0]} {'' if key[1] == 'null' else key[1]} {key[2]}: {word}" for key, word in found]


def _check(versions: Iterable[str]) -> int:
    failed = 0
    for version in versions:
        of_it = [kind for kind, known in KINDS.items() if version in known or kind in ("basic", "types", "foreign")]
        found = [line for kind in of_it for line in differing(kind, version)]
        count = sum(len(rows(kind, version if version in KINDS[kind] else NEWEST)) for kind in of_it)
        print(f"Redisson {version}: {len(found)} of {count} rows differ", *found, sep="\n  ", flush=True)
        failed += bool(found)
    return bool(failed)


def _absent(ours: Mapping[Any, _Row], theirs: Mapping[Any, _Row]) -> list[Any]:
    """The codecs that a Redisson does not have, and names of single rows."""
    there = {key[:2] for key in theirs}
    found: dict[tuple[str, ...], Any] = {}
    for key, row in ours.items():
        if key not in theirs:
            spec = {"spec": row["spec"]} if "spec" in row else {}
            each = found.setdefault(key[:2], {"codec": row["codec"], **spec})
            if key[:2] in there:
                each.setdefault("names", []).append(_name(row))
    return list(found.values())


def _line(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _write(path: Path, text: str) -> None:
    """Keeps the lines that differ in nothing that another run of the JVM would write alike."""
    before = path.read_text("utf-8").splitlines()[1:] if path.exists() else []
    alike = {_text(settled(json.loads(line))): line for line in before}
    path.write_text(_joined(alike.get(_text(settled(json.loads(line))), line) for line in text.splitlines()), "utf-8")


def _make_kotlin() -> None:
    folder = INTEROP / "kotlin"
    subprocess.run(["mvn", "-q", "-B", "compile", f"-Dredisson.version={NEWEST}"], check=True, cwd=folder)
    built = folder / "target"
    path = os.pathsep.join(map(str, (built / "classes", built / "lib" / "*", build(NEWEST) / "lib" / "*")))
    for name, arguments in ((f"kotlin-{NEWEST}", []), ("kotlin-classes", [str(built / "classes")])):
        command = ["java", "-cp", path, "com.acme.kt.MainKt", *arguments]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        text = _joined([_line({"regenerate": f"{_AGAIN}kotlin"}), *printed.splitlines()])
        _write(FOLDER / f"{name}.jsonl", text)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.vector_files", description=__doc__)
    parser.add_argument("version", nargs="*", help="a Redisson; without one, all that tests/versions.py names")
    parser.add_argument("--check", action="store_true", help="print what differs, and write nothing")
    arguments = parser.parse_args(argv)
    chosen = arguments.version or REDISSONS
    if arguments.check:
        return _check(chosen)
    # The older ones are compared with the newest.
    for version in sorted(chosen, key=lambda each: each != NEWEST):
        if version == "kotlin":
            _make_kotlin()
        for kind, versions in KINDS.items():
            if version in versions:
                _write(FOLDER / f"{kind}-{version}.jsonl", made(kind, version))
                _file.cache_clear()
                rows.cache_clear()
    return 0


if __name__ == "__main__":
    sys.exit(main())
