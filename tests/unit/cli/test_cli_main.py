"""Arguments, exit codes and error lines of the command line."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable
from functools import partial

import click
import pytest

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.cli._main import COMMANDS
from redisson_dq.cli.demo import command as demo
from redisson_dq.errors import RedissonDQError
from tests.conftest import by_night, environment


def demo_arguments(*argv: str) -> dict[str, object]:
    return demo.make_context("demo", list(argv)).params


@pytest.mark.parametrize(
    ("argv", "command", "text"),
    [
        (
            ["worker", "s", "--procesess", "2"],
            " worker",
            "there is no option --procesess; did you mean --processes?",
        ),
        (
            ["worker", "s", "--healthport=8"],
            " worker",
            "there is no option --healthport; did you mean --health-port?",
        ),
        (["queues", "--redis", "localhost"], " queues", "there is no option --redis; did you mean --url?"),
        (["doctor", "-u", "redis://localhost"], " doctor", "there is no option -u; did you mean --url?"),
        (["list", "orders", "--server=localhost"], " list", "there is no option --server; did you mean --url?"),
        (["demo", "--items", "3", "--qqq"], " demo", "there is no option --qqq"),
        (["worker", "shop", "extra"], " worker", "got unexpected extra argument (extra)"),
        (["wroker", "shop"], "", "there is no command wroker; did you mean worker?"),
        (["qqq"], "", "there is no command qqq"),
    ],
)
def test_an_unknown_argument_is_named_with_the_nearest(
    argv: list[str], command: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 64
    assert capsys.readouterr().err.splitlines()[-1] == f"redisson-dq{command}: error: {text}"


class TestArguments:
    def test_the_defaults(self) -> None:
        assert demo_arguments() == {
            "url": None,
            "items": 12,
            "bulk": 300,
            "seconds": 6.0,
        }

    def test_all_of_them(self) -> None:
        arguments = demo_arguments(*("--url", "redis://h:1/2", "--items", "3", "--bulk", "0", "--seconds", "0.5"))
        assert arguments == {
            "url": "redis://h:1/2",
            "items": 3,
            "bulk": 0,
            "seconds": 0.5,
        }

    @pytest.mark.parametrize(
        "argv",
        [
            ["--items", "0"],
            ["--items", "1001"],
            ["--items", "2.5"],
            ["--items", "-1"],
            ["--bulk", "100001"],
            ["--bulk", "many"],
            ["--seconds", "0"],
            ["--seconds", "-1"],
            ["--seconds", "nan"],
            ["--seconds", "inf"],
            ["--seconds", "soon"],
            ["--unknown"],
        ],
    )
    def test_what_cannot_be_used_is_a_usage_error(self, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["demo", *argv]) == 64
        assert argv[-1] in capsys.readouterr().err

    def test_no_command(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([]) == 64
        assert "missing command" in capsys.readouterr().err

    def test_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"redisson-dq {redisson_dq.__version__}\n"

    @pytest.mark.parametrize("argv", [["--help"], ["demo", "--help"]])
    def test_help(self, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(argv) == 0
        assert "mixed delays" in capsys.readouterr().out


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int]], None]:
    """Registers a command ``try`` that does what it is told."""

    def register(run: Callable[[], int]) -> None:
        module = types.ModuleType("a_command")
        module.command = click.command()(run)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "a_command", module)
        monkeypatch.setitem(COMMANDS, "try", "a_command")

    return register


class TestExitCodes:
    def test_the_commands_own(self, command: Callable[[Callable[[], int]], None]) -> None:
        command(lambda: 7)
        assert main(["try"]) == 7

    def test_an_error_of_ours_is_one_line(
        self, command: Callable[[Callable[[], int]], None], capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fail() -> int:
            raise RedissonDQError("it did not work")

        command(fail)
        assert main(["try"]) == 1
        assert capsys.readouterr() == ("", "redisson-dq: error: it did not work\n")

    def test_an_error_that_is_not_ours_is_not_hidden(self, command: Callable[[Callable[[], int]], None]) -> None:
        command(lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            main(["try"])

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_signals_let_the_command_clean_up(
        self,
        command: Callable[[Callable[[], int]], None],
        number: signal.Signals,
        code: int,
        request: pytest.FixtureRequest,
    ) -> None:
        # A shell lets what it runs in the background ignore SIGINT.
        own = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        request.addfinalizer(partial(signal.signal, number, signal.signal(number, own)))
        cleaned = []

        def wait() -> int:
            try:
                os.kill(os.getpid(), number)
                return 0
            finally:
                cleaned.append(True)

        before = signal.getsignal(number)
        command(wait)
        assert main(["try"]) == code
        assert cleaned == [True]
        assert signal.getsignal(number) is before


#: Runs the program as its script does. It gets Ctrl-C when it imports a module, or in the middle of its end.
_INTERRUPTED = """
import atexit, os, signal, sys
place = sys.argv.pop(1)
class Finder:
    def find_spec(name, *_):
        if name == place:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder)
# A shell lets what it runs in the background ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
if place == "the end":
    atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
from redisson_dq.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "place",
    [
        *("redisson_dq.cli", "click", "redis", "the end"),
        *map(by_night, ("redisson_dq.cli._main", "redisson_dq.errors")),
        *map(by_night, ("redisson_dq.cli.looking.queues", "redisson_dq.browsing")),
    ],
)
def test_ctrl_c_ends_it_quietly_while_python_imports_and_at_its_end(place: str) -> None:
    words = [sys.executable, "-c", _INTERRUPTED, place, "queues", "--url", "redis://127.0.0.1:1"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [by_night("<&-"), ">&-", by_night("2>&-"), "<&- >&- 2>&-"])
def test_a_standard_stream_may_be_closed(closed: str) -> None:
    script = f"exec {sys.executable} -m redisson_dq queues --url redis://127.0.0.1:1 {closed}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=environment())
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (69, "", False)


def test_a_name_is_read_as_utf_8_in_any_locale() -> None:
    """Python would read its bytes as those of no character."""
    env = {**environment(), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = [sys.executable, "-m", "redisson_dq", "acl", "größe", "--role", "mover"]
    done = subprocess.run(words, capture_output=True, check=True, env=env)
    assert b"gr\\xf6\\xdfe" in done.stdout


def test_a_program_that_its_shell_lets_ignore_ctrl_c_goes_on() -> None:
    script = _INTERRUPTED.replace("signal.default_int_handler", "signal.SIG_IGN")
    words = [sys.executable, "-c", script, "click", "--version"]
    assert subprocess.run(words, capture_output=True, check=True, env=environment()).stdout


@pytest.mark.parametrize("module", ["redisson_dq", "redisson_dq.cli"])
def test_the_package_is_the_command(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"redisson-dq {redisson_dq.__version__}\n"


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EAGAIN, errno.ENOMEM, None])
def test_a_system_that_gives_no_more_is_told_in_one_line(
    number: int | None, command: Callable[[Callable[[], int]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> int:
        raise RuntimeError("can't start new thread") if number is None else OSError(number, os.strerror(number))

    command(fails)
    assert main(["try"]) == 1
    assert (
        capsys.readouterr()
        .err.strip()
        .endswith("raise the limit of threads, processes or open files, and run the command again")
    )
