"""Each thread, process and socket that a command starts fails once: the command reports it in one line and ends, or
continues.

A first run counts the starts of a command. Each further run lets one of the first few fail; later ones are made in a
loop.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from tests.conftest import environment, eventually
from tests.flavours import Flavour

pytestmark = pytest.mark.nightly

# Each interpreter runs it when it starts. The processes that the command starts do not have the variable any more.
_SITE = """
import errno
import os
import sys

fails_at, seen = os.environ.pop("FAILS_AT", None), []
starts = "_thread.start_new_thread", "subprocess.Popen", "os.fork", "socket.__new__"


def hook(event, args):
    if event in starts:
        seen.append(event)
        with open(told, "a") as file:
            file.write(event + "\\n")
        if len(seen) == int(fails_at):
            if event == "_thread.start_new_thread":
                raise RuntimeError("can't start new thread")
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


if fails_at is not None:
    told = os.environ.pop("TOLD")
    sys.addaudithook(hook)
"""
_MOST = 12
#: Event loops that cannot begin, asyncio's and uvloop's, print tracebacks of their own, and uvicorn logs one.
_WITH_LOOPS = ("exporter", "dashboard")
_ENDS_BY_ITSELF = {
    "stats": ["stats", "orders"],
    "doctor": ["doctor", "orders"],
    "cancel": ["cancel", "orders", "--all", "--yes", "--undo-file", "undo.jsonl"],
    "migrate": ["migrate", "orders", "--to-name", "others", "--journal", "journal.jsonl", "--yes"],
    "export": ["export", "orders", "--to", "new.jsonl"],
}
#: Each with what its output says once it runs.
_RUNS_ON = {
    "follow": (["move", "orders", "--follow"], "Redis at"),
    "watch": (["watch", "orders"], "orders"),
    "exporter": (["exporter", "orders", "--port", "0"], "metrics at port"),
    "dashboard": (["dashboard", "--port", "0"], "http://"),
    "worker": (["worker", "tests.workers.of_the_command:in_threads", "--processes", "2"], "all processes are running"),
}


class Trial:
    """Runs of one command in a folder."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.site = folder / "site"
        self.site.mkdir()
        (self.site / "sitecustomize.py").write_text(_SITE)
        self.told = folder / "told"

    def run(self, words: list[str], fails_at: int, sign: str | None) -> tuple[int, str, list[str]]:
        """The exit code, what it printed, and what it started."""
        for path in self.folder.iterdir():
            if path != self.site:
                path.unlink()
        paths = os.pathsep.join([str(self.site), str(Path(__file__).parents[3])])
        env = {
            **environment(),
            "PYTHONPATH": paths,
            "FAILS_AT": str(fails_at),
            "TOLD": str(self.told),
            "COMMAND_WORKER": json.dumps({"url": self.url}),
        }
        output = self.folder / "output"
        with output.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "redisson_dq", *words, "--url", self.url],
                env=env,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
            try:
                if sign is not None:
                    eventually(lambda: process.poll() is not None or sign in output.read_text())
                    # What it starts beside that.
                    time.sleep(1.0)
                    process.send_signal(signal.SIGTERM)
                code = process.wait(60)
            finally:
                process.kill()
                process.wait()
        started = self.told.read_text().split() if self.told.exists() else []
        return code, output.read_text(), started


@pytest.mark.parametrize("command", [*_ENDS_BY_ITSELF, *_RUNS_ON])
def test_a_start_that_fails_is_told_in_one_line_or_tried_again(
    command: str, admin: Any, url: str, tmp_path: Path
) -> None:
    words, sign = _RUNS_ON.get(command) or (_ENDS_BY_ITSELF[command], None)
    trial = Trial(url, tmp_path)
    count, at, well = 1, 0, 0
    while at <= min(count, _MOST):
        admin.flushdb()
        with Flavour().connect(url, codec=StringCodec()) as client:
            client.delayed_queue("orders", transfer=False).offer("a", delay=3600, id="a")
        code, said, started = trial.run(words, at, sign)
        if at == 0:
            count = len(started)
            assert count
            well = code
            assert well in (0, 143) or command == "doctor", said
        assert "Traceback" not in said or command in _WITH_LOOPS, (at, started, said)
        assert code in (well, 1, 69), (at, started, code, said)
        assert code == well or "error" in said.lower() or command == "doctor", (at, started, said)
        at += 1
