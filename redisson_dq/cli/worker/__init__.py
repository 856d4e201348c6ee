"""``redisson-dq worker``: runs a worker in several processes, and looks after them.

The parts, by process:

- ``supervisor`` starts the processes and replaces them. ``children`` is its end of each, ``restarts`` says when the
  next one starts. ``recovery`` puts back the values that a dead process held. ``health`` answers probes over a port
  (``redisson_dq.cli.serving``), ``service_manager`` notifies systemd, ``changes`` watches source files.
- ``child`` is the program of each process. It runs the user's worker and reports its state to the supervisor.
- ``loading`` finds the worker of a ``package.module:name``, for both of them and for ``check``.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import click

from redisson_dq.cli.frame import PORT, BoundedNumber, Output, Seconds, allow_host_option, json_option, server_choice
from redisson_dq.errors import RedissonDQError

__all__ = ["command"]

_EPILOG = """\b
exit codes:
  0   stopped by SIGTERM or SIGINT, or --check found nothing wrong, or warnings only
  1   the worker cannot be loaded, a dependency of a handler is missing, or --check found another problem
  3   stopped, but a process that did not end within the grace was killed; its values were handed back
  64  a usage error: an option, or the URL, cannot be used
  65  --check: a key of a queue holds another type
  69  --check: Redis cannot be reached
  70  the worker's module raised an exception when it was imported
  77  --check: Redis refused the login, or the user lacks a right
"""

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class _Size(click.ParamType):  # type: ignore[type-arg] # generic only in new versions
    name = "a size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        unit = _UNITS.get(text[-1:].upper(), 1)
        try:
            size = int(text[:-1] if unit > 1 else text) * unit
        except ValueError:
            size = 0
        if size < 1:
            self.fail(f"a size such as 512M, 2G, or a number of bytes, not {text!r}", param, ctx)
        return size


_COUNT = BoundedNumber(int, 1, what="a whole number")
_SILENCE = Seconds(zero=True)
_LEVELS = click.Choice(["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], case_sensitive=False)


@click.command(
    epilog=_EPILOG,
    help="""Run a worker in several supervised processes.

    MODULE:NAME is the worker, or a function that makes it: shop.work:worker.
    """,
)
@click.argument("target", metavar="MODULE:NAME")
@click.option("--processes", metavar="N", type=_COUNT, default=1, help="How many processes (1).")
@server_choice("The server, instead of the one that the worker names.")
@click.option(
    "--grace", metavar="S", type=_SILENCE, help="How long handlers may run on at a stop (default: the worker's own)."
)
@click.option("--max-jobs", metavar="N", type=_COUNT, help="Replace a process that has handled N values.")
@click.option(
    "--max-memory",
    metavar="SIZE",
    type=_Size(),
    help="Replace a process that has more memory: 512M, 2G, or bytes.",
)
@click.option(
    "--silence",
    metavar="S",
    type=_SILENCE,
    default=60.0,
    help="Kill a process that hangs for S seconds; 0 for never (60).",
)
@click.option("--health-port", metavar="P", type=PORT, help="Serve /live, /ready and /health on this port.")
@click.option("--health-host", metavar="HOST", default="127.0.0.1", help="Listen on this address (127.0.0.1).")
@click.option("--metrics-port", metavar="P", type=PORT, help="Serve /metrics for Prometheus on this port.")
@click.option("--metrics-host", metavar="HOST", default="127.0.0.1", help="Listen on this address (127.0.0.1).")
@allow_host_option
@click.option("--reload", is_flag=True, help="Restart when a .py file here changes; for development.")
@click.option("--check", is_flag=True, help="Load the worker, look at its queues, and exit.")
@click.option(
    "--log-level", metavar="LEVEL", type=_LEVELS, default="INFO", help="The level of the log on standard error (INFO)."
)
@json_option
def command(output: Output, **options: Any) -> int:
    """Carry out ``worker``; the exit code."""
    arguments = SimpleNamespace(**options)
    if output.as_json and not arguments.check:
        raise click.UsageError("--json goes with --check")
    if sys.platform == "win32":
        raise RedissonDQError("redisson-dq worker needs POSIX signals: on Windows call worker.run() in a script")
    from redisson_dq.cli.metrics import check_installed
    from redisson_dq.cli.worker.logs import set_up

    set_up(arguments.log_level)
    if arguments.check:
        from redisson_dq.cli.worker.check import check

        return check(arguments.target, arguments.url, arguments.redisson_config, output)
    if arguments.metrics_port is not None:
        check_installed("--metrics-port")
    from redisson_dq.cli.worker.supervisor import supervise

    return supervise(arguments)
