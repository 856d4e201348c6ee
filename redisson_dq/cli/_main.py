"""Lists the commands, runs one, and turns its errors into exit codes.

====== ===========================================================
0      success, also with warnings
1      a problem was found, or an error that has no code of its own
64     a usage error: the arguments cannot be used, or the URL names another kind of server
65     data: a key of another type, or a value that no codec reads
69     Redis cannot be reached, or serves nobody for now
70     of ``worker``: the user's module raised an exception
77     Redis refused the login, or the user lacks a right
130    Ctrl-C, after cleaning up
143    SIGTERM, after cleaning up
====== ===========================================================
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import NoReturn

import click

from redisson_dq.cli.frame import (
    PROBLEM,
    USAGE,
    Attempt,
    NoSuchCommand,
    abandon_output,
    code_of,
    say,
    usage_error,
    usage_message,
)
from redisson_dq.errors import RedissonDQError

__all__ = ["COMMANDS", "PROGRAM", "main", "program"]

PROGRAM = "redisson-dq"
# A full disk, a used-up quota, a file as large as it may be.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# No descriptors, processes, threads or memory.
_SHORT = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.ENOBUFS)

#: Every command and the module whose ``command`` it is, in the order of the help.
COMMANDS = {
    "queues": "redisson_dq.cli.looking.queues",
    "stats": "redisson_dq.cli.looking.stats",
    "watch": "redisson_dq.cli.looking.watch",
    "list": "redisson_dq.cli.looking.list_items",
    "show": "redisson_dq.cli.looking.show",
    "history": "redisson_dq.cli.looking.history",
    "peek": "redisson_dq.cli.looking.peek",
    "offer": "redisson_dq.cli.values.offer",
    "take": "redisson_dq.cli.values.take",
    "cancel": "redisson_dq.cli.mending.cancel",
    "reschedule": "redisson_dq.cli.mending.reschedule",
    "run-now": "redisson_dq.cli.mending.run_now",
    "pause": "redisson_dq.cli.mending.pause",
    "resume": "redisson_dq.cli.mending.resume",
    "dead": "redisson_dq.cli.mending.dead",
    "quarantine": "redisson_dq.cli.mending.quarantine",
    "undecodable": "redisson_dq.cli.mending.undecodable",
    "release": "redisson_dq.cli.mending.release",
    "ack": "redisson_dq.cli.mending.ack",
    "undo": "redisson_dq.cli.mending.undo",
    "acl": "redisson_dq.cli.acl",
    "dashboard": "redisson_dq.cli.dashboard",
    "demo": "redisson_dq.cli.demo",
    "doctor": "redisson_dq.cli.doctor",
    "export": "redisson_dq.cli.export",
    "import": "redisson_dq.cli.import_file",
    "migrate": "redisson_dq.cli.migrate",
    "exporter": "redisson_dq.cli.exporter",
    "generate-classes": "redisson_dq.cli.generate_classes",
    "move": "redisson_dq.cli.move",
    "partitions": "redisson_dq.cli.partitions",
    "plan": "redisson_dq.cli.plan",
    "schema": "redisson_dq.cli.schema",
    "worker": "redisson_dq.cli.worker",
}

# click's scripts for shells set it to the name of a request.
_COMPLETE = "_REDISSON_DQ_COMPLETE"


class _Program(click.Group):
    """All commands. The module of a command is imported when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        command.name = cmd_name
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise NoSuchCommand(args[0], list(COMMANDS), ctx)
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, option: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not ctx.resilient_parsing:
        from redisson_dq import __version__

        say(f"{PROGRAM} {__version__}")
        ctx.exit()


@click.group(
    cls=_Program,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Delayed queues that Python and Java services share, on Redis.",
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Show the version."
)
def program() -> None:
    """The program."""


class _Terminated(KeyboardInterrupt):
    """SIGTERM arrived. Handled like Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``redisson-dq`` with these arguments (default: the process's own); the exit code."""
    if os.environ.get(_COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, PROGRAM, _COMPLETE, os.environ[_COMPLETE])
    run = Attempt()
    try:
        with _sigterm_raises():
            _open_streams()
            run.arguments = [_in_utf_8(each) for each in (sys.argv[1:] if argv is None else argv)]
            with program.make_context(PROGRAM, list(run.arguments), obj=run) as ctx:
                code = program.invoke(ctx)
            # The reader of our output may have left. Without this flush the error would come too late.
            sys.stdout.flush()
            return code if isinstance(code, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        return run.failed(error, USAGE, usage_message(error), usage_error(error, PROGRAM))
    except _Terminated:
        return 128 + signal.SIGTERM
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        abandon_output()
        return PROBLEM
    except RedissonDQError as error:
        return run.failed(error, code_of(error), str(error), f"{PROGRAM}: error: {error}")
    except (OSError, RuntimeError) as error:
        text = _of_the_system(error)
        if text is None:
            raise
        return run.failed(error, PROBLEM, text, f"{PROGRAM}: error: {text}")


def _of_the_system(error: OSError | RuntimeError) -> str | None:
    """The resource that the system refuses. None if the error is a defect."""
    while isinstance(error, RuntimeError) and isinstance(error.__context__, (OSError, RuntimeError)):
        # An event loop that could not begin cannot be closed either.
        error = error.__context__
    if isinstance(error, RuntimeError):
        is_short, said = "can't start new thread" in str(error), str(error)
    else:
        is_short, said = error.errno in _SHORT, str(error.strerror)
        if error.errno in _FULL:
            return (
                f"{said}: a file cannot be written any further; make room and run the command again, or migrate with "
                "--resume"
            )
    if is_short:
        return f"{said}: raise the limit of threads, processes or open files, and run the command again"
    named = getattr(error, "filename", None)
    return None if named is None else f"{str(named)!r}: {said}"


def _open_streams() -> None:
    """Replaces missing standard streams by empty ones, so that no opened file becomes a standard stream."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _in_utf_8(argument: str) -> str:
    """The argument in UTF-8, as names in Redis are, even if the locale has another encoding, such as with LC_ALL=C."""
    try:
        return os.fsencode(argument).decode("utf-8") if not argument.isascii() else argument
    except UnicodeError:
        return argument


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
