"""Files with values are their owner's alone, and crafted ones are errors of ours that leave nothing behind."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq._operations.files import opened_alone
from redisson_dq.cli import main
from redisson_dq.errors import ArgumentError

GARBAGE: tuple[Any, ...] = (None, True, -1, 1 << 70, 0.5, "", "x", "\ud800", [], [[]], {}, {"x": []}, "nan", "1_0")


@pytest.fixture
def filled(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("REDISSON_DQ_URL", url)
    monkeypatch.chdir(tmp_path)
    with redisson_dq.connect(url, codec=redisson_dq.codecs.StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer("secret", 3600, id="a")
        client.blocking_queue("orders", transfer=False).add("secret")
        yield url


def made(line: str) -> set[str]:
    """The files that a command has made."""
    before = set(os.listdir())
    assert main(line.split()) == 0, line
    return set(os.listdir()) - before


WRITING = (
    "export orders --to o",
    "cancel orders --all --yes --undo-file u",
    "migrate orders --to-name other --quiet 10ms --yes --journal j",
    "migrate orders --to-json f --from-codec string --quiet 10ms --yes --journal j",
)


@pytest.mark.parametrize("line", WRITING)
def test_files_with_values_are_their_owners_alone(filled: str, line: str) -> None:
    old = os.umask(0)
    try:
        files = made(line)
    finally:
        os.umask(old)
    assert files
    assert {name: oct(stat.S_IMODE(os.stat(name).st_mode)) for name in files} == dict.fromkeys(files, "0o600")


@pytest.mark.parametrize("line", WRITING)
def test_no_file_is_written_through_a_link(filled: str, line: str) -> None:
    links = {"o", "u", "j", "f"} & {*line.split()} | ({"o.part"} if "export" in line else set())
    for name in links:
        Path("victim").write_text("precious")
        Path(name).symlink_to("victim")
        assert main(line.split()) != 0, name
        assert Path("victim").read_text() == "precious"
        for each in set(os.listdir()) - {"victim"}:
            os.unlink(each)


def _link(name: str) -> None:
    Path("victim").write_text("precious")
    os.link("victim", name)


def _open_to_all(name: str) -> None:
    Path(name).touch()
    os.chmod(name, 0o666)


PLACED: dict[str, Callable[[str], None]] = {
    "second name": _link,
    "open to all": _open_to_all,
    "pipe": os.mkfifo,
    "folder": os.mkdir,
    "another user's": lambda name: Path(name).touch(),
}


@pytest.mark.parametrize("placed", PLACED)
@pytest.mark.parametrize("mode", ["ab", "a+b", "r+b"])
def test_what_somebody_has_put_in_its_place_gets_no_values(
    mode: Any, placed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values are written only to a file that nobody else reads."""
    path = tmp_path / "o.part"
    monkeypatch.chdir(tmp_path)
    if placed == "another user's":
        user = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: user)
    PLACED[placed](str(path))
    if placed == "open to all":
        with opened_alone(path, mode) as file:
            assert oct(os.fstat(file.fileno()).st_mode & 0o7777) == "0o600"
        return
    with pytest.raises(OSError if placed == "folder" else ArgumentError):
        opened_alone(path, mode)
    assert not Path("victim").exists() or Path("victim").read_text() == "precious"


# -- crafted files ---------------------------------------------------------------------------------------------------


def mutated(lines: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Each field of each line missing, and as each kind of garbage; fields of the fields too."""
    for i, line in enumerate(lines):
        for change in _changes(line):
            yield [*lines[:i], change, *lines[i + 1 :]]


def _changes(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield {key: each for key, each in value.items() if key != name}
            for change in (*GARBAGE, *_changes(part)):
                yield {**value, name: change}
    elif isinstance(value, list) and value:
        for change in (*GARBAGE, *_changes(value[0])):
            yield [change, *value[1:]]


def dumped(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in lines)


def with_digest(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """An export whose last line fits the others."""
    *others, last = lines
    if not isinstance(last.get("end"), dict):
        return lines
    counts: dict[str, int] = {}
    for each in others[1:]:
        if "expires_ms" not in each and isinstance(each.get("in"), str):
            counts[each["in"]] = counts.get(each["in"], 0) + 1
    digest = hashlib.sha256(dumped(others)).hexdigest()
    return [*others, {"end": {**last["end"], "counts": counts, "lines": len(others), "sha256": digest}}]


def with_sums(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """An undo file whose lines have their sums."""
    made = []
    for line in lines:
        rest = {name: each for name, each in line.items() if name != "sum"}
        made.append({**rest, "sum": zlib.crc32(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())})
    return made


def as_it_is(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return lines


@pytest.mark.parametrize(
    ("make", "name", "use", "mend", "step"),
    [
        ("export orders --to o", "o", "import FILE --to-name other --yes", with_digest, 1),
        ("cancel orders --all --yes --undo-file u", "u", "undo FILE --yes", with_sums, 1),
        # A migration takes some time: by day a few.
        *(
            pytest.param(
                "migrate orders --to-name other --quiet 10ms --yes --journal j",
                "j",
                "migrate orders --resume FILE --quiet 10ms --yes",
                as_it_is,
                step,
                marks=marks,
            )
            for step, marks in ((25, ()), (3, pytest.mark.nightly))
        ),
    ],
)
def test_crafted_files_are_errors_of_ours(
    filled: str,
    admin: redis.Redis,
    make: str,
    name: str,
    use: str,
    mend: Callable[[Any], Any],
    step: int,
    capsys: Any,
) -> None:
    made(make)
    lines = [json.loads(each) for each in Path(name).read_bytes().splitlines()]
    seen = 0
    for each in islice(mutated(lines), 0, None, step):
        admin.delete("other", "redisson_dq_migrating:{other}")
        Path("crafted").write_bytes(dumped(mend(each)))
        # An unexpected error would be raised here.
        code = main(use.replace("FILE", "crafted").split())
        told = capsys.readouterr()
        assert "Traceback" not in told.err, each
        assert code in (0, 1, 64, 65), (code, told.err, each)
        if code and name == "o":
            assert not admin.exists("redisson_dq_migrating:{other}"), each
        if name == "o":
            admin.delete(*(admin.keys("*other*") or ["none"]))
        seen += 1
    assert seen > 8


@pytest.mark.parametrize("line", ['{"expires_ms": 5}', '{"in": [], "expires_ms": 5}', '{"in": "x", "expires_ms": 5}'])
def test_a_crafted_part_of_an_export_is_not_continued(filled: str, line: str, capsys: Any) -> None:
    made("export orders --to o")
    first = Path("o").read_text().splitlines()[0]
    Path("o.part").write_text(f"{first}\n{line}\n")
    Path("o").unlink()
    assert main(["export", "orders", "--to", "o"]) == 65
    assert "its time to live" in capsys.readouterr().err
