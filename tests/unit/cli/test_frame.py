"""The frame of the commands: what is imported, options, exit codes, output, questions, progress."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from typing import NoReturn

import click
import pytest
import redis.exceptions

from redisson_dq import errors
from redisson_dq._redis.errors import translate
from redisson_dq.cli import main
from redisson_dq.cli._main import COMMANDS
from redisson_dq.cli.frame import (
    SECONDS,
    BoundedNumber,
    Column,
    Consent,
    Output,
    Server,
    code_of,
    json_option,
    progress,
    run_in_loop,
    server_options,
    write_options,
)

WIDE = "a" * 100
OF_BASH = {"_REDISSON_DQ_COMPLETE": "bash_complete", "COMP_WORDS": "redisson-dq ", "COMP_CWORD": "1"}


@pytest.mark.parametrize(("words", "setting"), [(["--help"], {}), ([], OF_BASH)], ids=["help", "completion"])
def test_help_and_completion_import_neither_redis_nor_rich(words: list[str], setting: dict[str, str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "redisson_dq.cli", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **setting})
    assert [name for name in COMMANDS if name not in done.stdout] == []
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in imported
    assert imported & {"redis", "rich", "asyncio", "apscheduler", "prometheus_client"} == set()


class Ended(KeyboardInterrupt):
    """A signal came."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_a_coroutine_and_raises_in_none_of_its_tasks(number: signal.Signals) -> None:
    ended: list[object] = []

    def end(*_: object) -> NoReturn:
        raise Ended

    async def another() -> str:
        os.kill(os.getpid(), number)
        await asyncio.sleep(0)
        return "went on"

    async def main() -> None:
        task = asyncio.create_task(another())
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(await task)

    before = signal.signal(number, end)
    try:
        with pytest.raises(Ended):
            run_in_loop(main())
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, before)
    assert ended == ["went on"]


class TestValues:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [("5", 5), ("1.5", 1.5), (".5", 0.5), ("500ms", 0.5), ("5m", 300), ("2h", 7200), ("1d", 86400)],
    )
    def test_times(self, text: str, seconds: float) -> None:
        assert SECONDS.convert(text, None, None) == seconds

    @pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "soon", "5 m m", "5y", "1e3"])
    def test_no_times(self, text: str) -> None:
        with pytest.raises(click.BadParameter, match="such as 500ms"):
            SECONDS.convert(text, None, None)

    @pytest.mark.parametrize("text", ["nan", "inf", "1e999", "", "x", "11", "-1"])
    def test_no_numbers(self, text: str) -> None:
        with pytest.raises(click.BadParameter, match="a number from 0 to 10"):
            BoundedNumber(float, 0, 10).convert(text, None, None)


class TestExitCodes:
    @pytest.mark.parametrize(
        ("error", "code"),
        [
            (errors.RedissonDQError("x"), 1),
            (errors.ArgumentError("x"), 64),
            (errors.WrongTypeError("x", key="k", expected="list", found="zset"), 65),
            (errors.CodecError("x", codec="Kryo5Codec"), 65),
            (errors.RedisConnectionError("x"), 69),
            (errors.RedisReplyError("x"), 1),
        ],
    )
    def test_of_errors(self, error: errors.RedissonDQError, code: int) -> None:
        assert code_of(error) == code

    @pytest.mark.parametrize(
        "refusal",
        [
            redis.exceptions.NoPermissionError("this user has no permissions to run the 'get' command"),
            redis.exceptions.AuthenticationError("WRONGPASS"),
        ],
    )
    def test_of_refusals(self, refusal: Exception) -> None:
        error = translate(refusal, "here")
        error.__cause__ = refusal
        assert code_of(error) == 77


@click.command()
@server_options
@json_option
@write_options(rate=True)
def every_option(server: Server, output: Output, consent: Consent) -> int:
    with server.client() as client:
        assert client is not None
    return 10 + output.as_json + 2 * consent.dry_run + 4 * consent.yes + 8 * (consent.rate == 2.5)


@pytest.fixture
def _try_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "try", __name__)
    monkeypatch.setattr(sys.modules[__name__], "command", every_option, raising=False)
    monkeypatch.delenv("REDISSON_DQ_URL", raising=False)


@pytest.mark.usefixtures("_try_command")
class TestOptions:
    def test_all_together(self) -> None:
        options = ["--url", "redis://h", "--timeout", "2s", "--json", "--dry-run", "--yes", "--rate", "2.5"]
        assert main(["try", *options]) == 25

    def test_the_environment_names_the_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REDISSON_DQ_URL", "redis://h")
        assert main(["try"]) == 10

    def test_no_server_is_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["try"]) == 64
        assert "name a server: --url redis://localhost:6379/0, --redisson-config FILE" in capsys.readouterr().err

    def test_a_password_is_not_shown(self) -> None:
        assert "hush" not in repr(Server(url="redis://:hush@h", redisson_config=None, timeout=None))


class TestConsent:
    @pytest.mark.parametrize(
        ("consent", "count", "given", "said"),
        [
            (Consent(dry_run=True, yes=True), 3, False, "cancel 3\n--dry-run: nothing was changed\n"),
            (Consent(dry_run=False, yes=True), 3, True, "cancel 3\n"),
            (Consent(dry_run=False, yes=True), 0, False, "cancel 0: nothing to do\n"),
            (Consent(dry_run=False, yes=False), 0, False, "cancel 0: nothing to do\n"),
        ],
    )
    def test_it_says_the_count(
        self, consent: Consent, count: int, given: bool, said: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert consent.given(f"cancel {count}", count) is given
        assert capsys.readouterr() == ("", said)

    def test_without_a_terminal_yes_is_needed(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(click.UsageError, match="needs --yes"):
            Consent(dry_run=False, yes=False).given("cancel 3", 3)
        assert capsys.readouterr().err == "cancel 3\n"


class TestOutput:
    @pytest.fixture(autouse=True)
    def _no_width(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("COLUMNS", raising=False)

    def test_a_plain_table_is_aligned_and_whole(self, capsys: pytest.CaptureFixture[str]) -> None:
        """In a pipe, nothing is cut that the next program looks for."""
        Output().table(
            ["queue", Column("waiting", right=True), Column("value", cut=True)],
            [("orders", 12345, WIDE), ("\N{CJK UNIFIED IDEOGRAPH-4E2D}", None, "b")],
        )
        assert capsys.readouterr().out.splitlines() == [
            "queue   waiting  value",
            f"orders   12,345  {WIDE}",
            "\N{CJK UNIFIED IDEOGRAPH-4E2D}               b",
        ]

    def test_a_name_is_folded_and_not_cut(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        Output().table(["queue", "n"], [(WIDE, 1)])
        lines = capsys.readouterr().out.splitlines()
        assert lines[1:] == [f"{'a' * 77}  1", "a" * 23]

    def test_the_width_of_the_environment(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("COLUMNS", "200")
        Output().table(["queue", "n"], [(WIDE, 1)])
        assert capsys.readouterr().out.splitlines()[1] == f"{WIDE}  1"

    @pytest.mark.parametrize(
        ("width", "lines"),
        [
            (60, ["id                    reason", f"{'f' * 20}  {'b' * 35}..."]),
            (30, ["id                    reason", f"{'f' * 20}  bbbbb..."]),
        ],
    )
    def test_a_spare_column_goes_before_a_name_is_folded(
        self, width: int, lines: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        spare = Column("attempts at it that took long", spare=1)
        Output().table(["id", spare, Column("reason", cut=True)], [("f" * 20, 1, "b" * 100)])
        assert capsys.readouterr().out.splitlines() == lines

    def test_control_characters_are_escaped(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("COLUMNS", "400")
        output = Output()
        evil = "a\x1b]0;x\x07\n\u202eb\ud800"
        output.table([evil], [(evil,)])
        output.fields([(evil, evil)])
        output.tree(evil, {evil: [evil, {}]})
        output.text(evil.replace("\n", ""))
        out = capsys.readouterr().out
        assert set(out) <= set(map(chr, range(32, 127))) | {"\n"}
        assert r"a\x1b]0;x\x07\n\u202eb\ud800" in out

    def test_a_tree(self, capsys: pytest.CaptureFixture[str]) -> None:
        Output().tree("value", {"id": 7, "lines": [{"sku": "a"}, None], "none": []})
        assert capsys.readouterr().out.splitlines() == [
            "value",
            "  id: 7",
            "  lines",
            "    [0]",
            "      sku: a",
            "    [1]: ",
            "  none: (empty)",
        ]

    def test_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        due = datetime(2026, 1, 2, tzinfo=timezone.utc)
        late = timedelta(seconds=1.5)
        Output(True).document(due=due, late=late, bytes=b"\x00a", far=float("inf"), big=2**63, s={1: ()})
        assert json.loads(capsys.readouterr().out) == {
            "schema": 1,
            "due": "2026-01-02T00:00:00+00:00",
            "late": 1.5,
            "bytes": "0061",
            "far": "inf",
            "big": 2**63,
            "s": {"1": []},
        }

    def test_a_line_and_its_end_are_written_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Several processes share a log, and a line of another process must not come between."""
        written: list[str] = []

        class Stream(io.StringIO):
            def write(self, text: str) -> int:
                written.append(text)
                return super().write(text)

        monkeypatch.setattr(sys, "stdout", Stream())
        Output().text("a")
        Output(True).line(b=1)
        assert written == ["a\n", '{"schema": 1, "b": 1}\n']


def test_progress_without_a_terminal_says_little(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("moving", 1000) as told:
        for _ in range(1000):
            told.add()
    assert capsys.readouterr() == ("", "")
