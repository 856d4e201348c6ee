"""Commands, their errors and their exit codes.

====== ===========================================================
0      success
1      an error of ours: one line on standard error (a server that was not found: the ways to get one, too)
2      a usage error
70     of ``worker``: the user's module raised an exception
130    Ctrl-C, after cleaning up
143    SIGTERM, after cleaning up
====== ===========================================================
"""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import NoReturn, Protocol, cast

from redisson_dq._texts import nearest
from redisson_dq.errors import RedissonDQError

__all__ = ["COMMANDS", "Command", "main"]

#: Every command and the module that carries it out.
COMMANDS = {
    "demo": "redisson_dq.cli.demo",
    "exporter": "redisson_dq.cli.exporter",
    "generate-classes": "redisson_dq.cli.generate_classes",
    "partitions": "redisson_dq.cli.partitions",
    "worker": "redisson_dq.cli.worker",
}


class Command(Protocol):
    """The functions of a command's module. It imports heavy modules inside ``run``."""

    #: One line for ``--help``.
    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Carry it out; the exit code. May raise RedissonDQError, and cleans up on KeyboardInterrupt."""
        ...


class _Terminated(KeyboardInterrupt):
    """SIGTERM came. Handled as Ctrl-C is."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``redisson-dq`` with these arguments (default: the process's own); the exit code."""
    parser, parsers = _parser()
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        _refuse(parsers[arguments.command], unknown)
    command = cast(Command, import_module(COMMANDS[arguments.command]))
    try:
        with _sigterm_raises():
            return command.run(arguments)
    except _Terminated:
        return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        _abandon_output()
        return 1
    except RedissonDQError as error:
        print(f"redisson-dq: error: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 1)


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of the program, and those of its commands."""
    parser = argparse.ArgumentParser(
        prog="redisson-dq", description="Delayed queues that Python and Java services share, on Redis."
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parsers = {}
    for name, module in COMMANDS.items():
        command = cast(Command, import_module(module))
        parsers[name] = commands.add_parser(name, help=command.HELP, description=command.HELP)
        command.add_arguments(parsers[name])
    return parser, parsers


def _refuse(command: argparse.ArgumentParser, unknown: Sequence[str]) -> NoReturn:
    """Ends with a usage error that names the nearest option of the command."""
    options = re.findall(r"--([a-z][a-z-]+)", command.format_help())
    first = next((each for each in unknown if each.startswith("--")), "")
    meant = nearest(first.removeprefix("--").partition("=")[0].replace("-", "_"), options)
    question = f"; did you mean --{meant}?" if meant else ""
    command.error(f"unrecognized arguments: {' '.join(unknown)}{question}")


class _Version(argparse.Action):
    """``--version``; the library is imported only when asked for it."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from redisson_dq import __version__

        print(f"redisson-dq {__version__}")
        parser.exit()


@contextlib.contextmanager
def _sigterm_raises() -> Iterator[None]:
    def terminate(*_: object) -> NoReturn:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _abandon_output() -> None:
    import os

    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
