"""Walks the pages of docs/tutorials as a user would: writes their files, and types their commands into one shell.

docs/tutorials/index.md explains how the blocks are read, and this module follows it. A block behind the comment
``<!-- at night -->`` is left out by day. The comment may name a command for the day.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import attrs

from redisson_dq.embedded._probe import free_port

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "tutorials"

#: The ports that the pages name. Each walk has others, as walks run beside each other.
_PORTS = ("6379", "8000", "8080")
_BLOCK = re.compile(
    r"(?P<mark><!-- at night(?:; by day: (?P<instead>[^\n]+?))? -->\n+)?^```(?P<kind>\w*)\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_NAME = re.compile(r"(?:#|//|<!--) (?P<name>[\w./-]+\.\w+)(?: -->)?\n")
#: The shell prints it when a command has ended.
_END = "\x04"
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
#: The form in which a shell reports its jobs.
_JOB = re.compile(r"\[\d+\]|bash: line \d+: +\d+ ")


@attrs.frozen
class File:
    name: str
    text: str


@attrs.frozen
class Command:
    text: str
    shown: tuple[str, ...] = ()


def steps(page: Path, *, at_night: bool) -> Iterator[File | Command]:
    """All steps of the page, in order."""
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if block["mark"] and not at_night:
            if block["instead"]:
                yield Command(block["instead"])
        elif block["kind"] == "console":
            yield from _commands(block["body"])
        else:
            named = _NAME.match(block["body"])
            assert named is not None, f"{page.name}: a block is neither a file nor a shell:\n{block['body']}"
            yield File(named["name"], block["body"])


def _commands(body: str) -> Iterator[Command]:
    for each in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        text, *shown = each.rstrip("\n").split("\n")
        while shown and shown[0].startswith("> "):
            text += "\n" + shown.pop(0).removeprefix("> ")
        yield Command(text, tuple(shown))


def pattern(shown: tuple[str, ...]) -> re.Pattern[str]:
    """Matches the lines that are shown: ``<name>`` stands for some text, and a line of three dots for any lines.

    Columns are as wide as their texts, so several spaces stand for any number of them.
    """
    lines = [
        r"(?:.*\n)*?"
        if line == "..."
        else re.sub(r" {2,}", " {2,}", re.sub(r"<[a-z][a-z ]*>", r".+?", re.escape(line).replace(r"\ ", " "))) + r"\n"
        for line in shown
    ]
    return re.compile("".join(lines))


class Walk:
    """One user's folder and shell. A context manager: programs that a page has started end with it."""

    def __init__(self, folder: Path, environment: dict[str, str], *, patience: float) -> None:
        self.folder = folder
        self.patience = patience
        self._ports = {port: str(free_port()) for port in _PORTS}
        self._printed = b""
        self._news = threading.Condition()
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        # With it a shell knows its jobs by their names, as it does at a terminal.
        self._type("set -m")

    def __enter__(self) -> Walk:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._type("kill $(jobs -p); wait; exit")
            self._shell.wait(self.patience)
        finally:
            self._shell.kill()
            self._reader.join(self.patience)
            for pipe in (self._shell.stdin, self._shell.stdout):
                assert pipe is not None
                pipe.close()
            self._shell.wait()

    def go(self, page: Path, *, at_night: bool) -> None:
        for step in steps(page, at_night=at_night):
            if isinstance(step, File):
                path = self.folder / step.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self._here(step.text), "utf-8")
            else:
                self._run(page, step)

    def _run(self, page: Path, command: Command) -> None:
        """Types a command, and waits until it has ended and all has come that is shown below it."""
        # At a terminal a shell reports jobs that have ended, and forgets them.
        self._type(f"{self._here(command.text)}\njobs >/dev/null; echo '{_END}'")
        expected = pattern(command.shown)
        deadline = time.monotonic() + self.patience
        with self._news:
            while not (self._is_complete() and expected.fullmatch(self._lines())):
                left = deadline - time.monotonic()
                shown = "\n".join(command.shown)
                assert left > 0, f"{page.name}: $ {command.text}\n\nshows\n\n{shown}\n\nand printed\n\n{self._lines()}"
                self._news.wait(left)
            self._printed = b""

    def _is_complete(self) -> bool:
        """Whether the command has ended, and no line is on its way."""
        return _END.encode() in self._printed and self._printed.endswith(b"\n")

    def _lines(self) -> str:
        """All that was printed since the last command, as the page would show it."""
        text = _COLOUR.sub("", self._printed.decode(errors="replace"))
        # A command whose last line has no end is followed by the mark.
        text = re.sub(rf"(?<=[^\n]){_END}\n", "\n", text).replace(f"{_END}\n", "")
        for port, here in self._ports.items():
            text = re.sub(rf"\b{here}\b", port, text)
        return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if not _JOB.match(line))

    def _here(self, text: str) -> str:
        for port, here in self._ports.items():
            text = re.sub(rf"\b{port}\b", here, text)
        return text

    def _type(self, text: str) -> None:
        assert self._shell.stdin is not None
        self._shell.stdin.write(f"{text}\n".encode())
        self._shell.stdin.flush()

    def _read(self) -> None:
        assert self._shell.stdout is not None
        while data := os.read(self._shell.stdout.fileno(), 65536):
            with self._news:
                self._printed += data
                self._news.notify_all()
