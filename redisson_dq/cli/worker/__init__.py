"""``redisson-dq worker``: runs a worker in several processes, and looks after them.

The parts, by process:

- ``supervisor`` starts the processes and replaces them. ``children`` is its end of each, ``restarts`` says when the
  next one starts. ``recovery`` hands back the values that a dead process had in hand. ``health`` answers probes over a
  port (``redisson_dq.cli.serving``), ``service_manager`` tells systemd, ``changes`` watches source files.
- ``child`` is the program of each process. It runs the user's worker and tells the supervisor how it is.
- ``loading`` finds the worker of a ``package.module:name``, for both of them and for ``check``.
"""

from __future__ import annotations

import argparse
import math
import sys

from redisson_dq.errors import RedissonDQError

__all__ = ["HELP", "add_arguments", "run"]

HELP = "Run a worker in several processes that are looked after."

_EPILOG = """\
exit codes:
  0   stopped by SIGTERM or SIGINT, or --check found nothing wrong, or warnings only
  1   the worker cannot be loaded, a dependency of a handler is missing, or --check found another problem
  2   a usage error
  3   stopped, and a process had to be killed as it did not end within the grace; its values were handed back
  64  --check: the URL cannot be used
  65  --check: a key of a queue holds another type
  69  --check: Redis cannot be reached
  70  the worker's module raised an exception when it was imported
  77  --check: Redis refused the login, or the user lacks a right
"""

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``worker``."""
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "target", metavar="MODULE:NAME", help="the worker, or a function that makes it: shop.work:worker"
    )
    parser.add_argument("--processes", metavar="N", type=_count, default=1, help="how many processes (1)")
    server = parser.add_mutually_exclusive_group()
    server.add_argument("--url", help="the server, instead of the one that the worker names")
    server.add_argument("--redisson-config", metavar="FILE", help="a YAML or JSON file of Redisson's settings, instead")
    parser.add_argument(
        "--grace", metavar="S", type=_seconds, help="how long handlers may go on at a stop (the worker's own)"
    )
    parser.add_argument(
        "--max-jobs", metavar="N", type=_count, help="replace a process that has handled so many values"
    )
    parser.add_argument(
        "--max-memory", metavar="SIZE", type=_size, help="replace a process that has more memory: 512M, 2G, or bytes"
    )
    parser.add_argument(
        "--silence",
        metavar="S",
        type=_seconds,
        default=60.0,
        help="kill a process that stands still for so long; 0 for never (60)",
    )
    parser.add_argument("--health-port", metavar="P", type=_port, help="answer /live, /ready and /health at this port")
    parser.add_argument("--health-host", metavar="HOST", default="0.0.0.0", help="at this address (0.0.0.0)")
    parser.add_argument("--metrics-port", metavar="P", type=_port, help="answer /metrics for Prometheus at this port")
    parser.add_argument("--metrics-host", metavar="HOST", default="0.0.0.0", help="at this address (0.0.0.0)")
    parser.add_argument(
        "--reload", action="store_true", help="start anew when a .py file here changes; for development"
    )
    parser.add_argument("--check", action="store_true", help="load the worker, look at its queues, and exit")
    parser.add_argument(
        "--log-level", metavar="LEVEL", type=_level, default="INFO", help="of the log on standard error"
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry out ``worker``; the exit code."""
    if sys.platform == "win32":
        raise RedissonDQError("redisson-dq worker needs POSIX signals: on Windows call worker.run() in a script")
    from redisson_dq.cli.metrics import check_installed
    from redisson_dq.cli.worker.logs import set_up

    set_up(arguments.log_level)
    if arguments.check:
        from redisson_dq.cli.worker.check import check

        return check(arguments.target, arguments.url, arguments.redisson_config)
    if arguments.metrics_port is not None:
        check_installed("--metrics-port")
    from redisson_dq.cli.worker.supervisor import supervise

    return supervise(arguments)


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError(text)
    return count


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise ValueError(text)
    return seconds


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port < 65536:
        raise ValueError(text)
    return port


def _size(text: str) -> int:
    unit = _UNITS.get(text[-1:].upper(), 1)
    size = int(text[:-1] if unit > 1 else text) * unit
    if size < 1:
        raise ValueError(text)
    return size


def _level(text: str) -> str:
    level = text.upper()
    if level not in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"):
        raise ValueError(text)
    return level


# argparse calls a type by its name in the error.
_count.__name__, _seconds.__name__, _port.__name__ = "number from 1 on", "number of seconds", "port"
_size.__name__, _level.__name__ = "size", "level"
