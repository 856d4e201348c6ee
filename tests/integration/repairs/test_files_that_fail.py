"""Each file that a command opens, locks, writes, syncs, renames or removes fails once: it says so, and loses nothing.

A first run of a command counts what it does with files in the test's folder. Each further run lets one of these fail,
or lets no file grow beyond a size at which some line ends, begins, or is cut.
"""

from __future__ import annotations

import errno
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.cli._main import main
from redisson_dq.cli.generate_classes._run import write_module
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedissonDQError
from redisson_dq.wire.keys import QueueKeys
from tests.flavours import Flavour

_VALUES = [f"value-{number}" for number in range(3)]
_EVENTS = ("open", "os.rename", "os.remove", "os.truncate", "fcntl.flock")


class Files:
    """What happens to files in one folder. One of these fails."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.seen: list[str] = []
        self.fails_at = -1
        self._fsync = os.fsync
        # A hook stays for as long as the process lives.
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if self.folder is None or event not in _EVENTS:
            return
        if event == "fcntl.flock" or "jsonl" in str(args[0]):
            self._happens(event)

    def fsync(self, handle: int) -> None:
        self._happens("fsync")
        self._fsync(handle)

    def _happens(self, event: str) -> None:
        if self.folder is not None:
            self.seen.append(event)
            if len(self.seen) - 1 == self.fails_at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


_FILES = Files()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", _FILES.fsync)
    yield _FILES
    _FILES.folder = None


def _offer(url: str) -> None:
    with Flavour().connect(url, codec=StringCodec()) as client:
        for number, value in enumerate(_VALUES):
            client.delayed_queue("orders", transfer=False).offer(value, delay=3600, id=f"id-{number}")


def _exported(url: str) -> None:
    _offer(url)
    assert main(["export", "orders", "--to", "old.jsonl", "--url", url]) == 0


def _cancelled(url: str) -> None:
    _offer(url)
    assert main(["cancel", "orders", "--all", "--yes", "--undo-file", "undo.jsonl", "--url", url]) == 0


_COMMANDS: dict[str, tuple[Callable[[str], None], list[str]]] = {
    "export": (_offer, ["export", "orders", "--to", "new.jsonl"]),
    "import": (_exported, ["import", "old.jsonl", "--to-name", "others", "--yes"]),
    "cancel": (_offer, ["cancel", "orders", "--all", "--yes", "--undo-file", "undo.jsonl"]),
    "undo": (_cancelled, ["undo", "undo.jsonl", "--yes"]),
    "migrate": (_offer, ["migrate", "orders", "--to-name", "others", "--journal", "journal.jsonl", "--yes"]),
    "to-json": (
        _offer,
        [
            "migrate",
            "orders",
            "--to-json",
            "out.jsonl",
            "--from-codec",
            "StringCodec",
            "--journal",
            "journal.jsonl",
            "--yes",
        ],
    ),
}


#: The commands that go on where another one has stopped, or take it back.
_GOES_ON = {
    **{key: ["undo", "undo.jsonl"] for key in ("cancel", "undo")},
    **{key: ["migrate", "orders", "--resume", "journal.jsonl"] for key in ("migrate", "to-json")},
}


def _run(files: Files, words: list[str], url: str, folder: Path, fails_at: int) -> int:
    files.seen, files.fails_at, files.folder = [], fails_at, folder
    try:
        return main([*words, "--url", url])
    finally:
        files.folder = None


def _left(admin: Any, folder: Path) -> int:
    """How many items are in Redis, or in the file that has what was moved there."""
    moved = folder / "out.jsonl"
    lines = moved.read_text().splitlines() if moved.exists() else []
    in_redis = sum(admin.zcard(QueueKeys.of(name).timeout) for name in ("orders", "others"))
    return int(in_redis) + sum('"value-' in line for line in lines)


_ONE_BY_DAY = pytest.mark.parametrize(
    "command",
    ["cancel", *(pytest.param(name, marks=pytest.mark.nightly) for name in _COMMANDS if name != "cancel")],
)


def _begins(command: str, admin: Any, url: str, folder: Path) -> list[str]:
    """Prepares a command anew; gives its words."""
    admin.flushdb()
    for path in folder.iterdir():
        path.unlink()
    prepare, words = _COMMANDS[command]
    prepare(url)
    return words


def _nothing_is_lost(command: str, admin: Any, url: str, folder: Path) -> None:
    if _left(admin, folder) < len(_VALUES):
        assert main([*_GOES_ON[command], "--yes", "--url", url]) == 0
    assert _left(admin, folder) >= len(_VALUES)


@_ONE_BY_DAY
def test_a_file_that_fails_is_named_and_loses_nothing(
    command: str, files: Files, admin: Any, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count, at = 1, -1
    while at < count:
        words = _begins(command, admin, url, tmp_path)
        capsys.readouterr()
        code = _run(files, words, url, tmp_path, at)
        said = capsys.readouterr().err
        if at == -1:
            count = len(files.seen)
            assert code == 0, said
            assert count
        else:
            event = files.seen[at]
            assert "Traceback" not in said, (at, event)
            assert code == 0 or "space" in said, (at, event, said)
            _nothing_is_lost(command, admin, url, tmp_path)
        at += 1


@contextmanager
def _no_file_beyond(size: int) -> Iterator[None]:
    """The system lets this process write no file beyond this size. What fits of a write is written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.nightly
@pytest.mark.parametrize("command", _COMMANDS)
def test_a_full_disk_is_named_and_loses_nothing(
    command: str, admin: Any, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [*_begins(command, admin, url, tmp_path), "--url", url]
    assert main(words) == 0
    sizes = {0}
    for path in tmp_path.iterdir():
        end = 0
        for line in path.read_bytes().splitlines(keepends=True):
            sizes |= {end, end + 1, end + len(line) // 2, end + len(line) - 1}
            end += len(line)
    for size in sorted(sizes):
        _begins(command, admin, url, tmp_path)
        capsys.readouterr()
        with _no_file_beyond(size):
            code = main(words)
        said = capsys.readouterr().err
        assert "Traceback" not in said, size
        assert code == 0 or "large" in said, (size, said)
        _nothing_is_lost(command, admin, url, tmp_path)


def test_a_module_that_cannot_be_written_again_stays_as_it_was(tmp_path: Path) -> None:
    module, link = tmp_path / "orders.py", tmp_path / "link.py"
    module.write_text("before = 1\n")
    link.symlink_to(module)
    for size in (0, 5, 1000):
        with (
            _no_file_beyond(size),
            pytest.raises(RedissonDQError, match=r"link\.py cannot be written: .* large"),
        ):
            write_module("after = 2\n" * 1000, str(link))
        assert module.read_text() == "before = 1\n"
    assert sorted(tmp_path.iterdir()) == [link, module]
    write_module("after = 2\n", str(link))
    assert module.read_text() == "after = 2\n"
    assert link.is_symlink()
