"""``redisson-dq exporter``: shows the state of queues to Prometheus. Any process may work on them."""

from __future__ import annotations

import argparse
from pathlib import Path
from threading import Event

from redisson_dq.errors import ArgumentError

__all__ = ["HELP", "add_arguments", "run"]

HELP = "Show Prometheus the state of queues, at /metrics of a port."

# Beside the alerts of the package.
_FOLDER = Path(__file__).parents[1] / "prometheus"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``exporter``."""
    parser.add_argument(
        "queues", metavar="QUEUE", nargs="*", help="a name, or a pattern such as 'orders*', looked for once a minute"
    )
    server = parser.add_mutually_exclusive_group()
    server.add_argument("--url", help="the server; else the one in the environment variable REDISSON_DQ_URL")
    server.add_argument("--redisson-config", metavar="FILE", help="a YAML or JSON file of Redisson's settings, instead")
    parser.add_argument("--port", metavar="P", type=_port, default=9808, help="answer /metrics at this port (9808)")
    parser.add_argument("--host", metavar="HOST", default="0.0.0.0", help="at this address (0.0.0.0)")
    parser.add_argument(
        "--timeout", metavar="S", type=_seconds, default=5.0, help="how long a scrape waits for Redis (5)"
    )
    parser.add_argument("--most", metavar="N", type=int, default=1000, help="show so many queues at most (1000)")
    parser.add_argument("--print-alerts", action="store_true", help="print the alerts for Prometheus, and exit")
    parser.add_argument("--print-dashboard", action="store_true", help="print the dashboard for Grafana, and exit")


def run(arguments: argparse.Namespace) -> int:
    """Carry out ``exporter``: 0 after SIGTERM or Ctrl-C."""
    for is_wanted, name in ((arguments.print_alerts, "alerts.yml"), (arguments.print_dashboard, "dashboard.json")):
        if is_wanted:
            print((_FOLDER / name).read_text("utf-8"), end="")
            return 0
    if not arguments.queues:
        raise ArgumentError("exporter: name a queue, or a pattern such as '*' in quotes")
    return _serve(arguments)


def _serve(arguments: argparse.Namespace) -> int:
    from redisson_dq.cli.metrics import MetricsServer, check_installed

    check_installed("exporter")
    from redisson_dq._sync.connect import unopened
    from redisson_dq.prometheus import Collector

    # A Redis that is away now may come later.
    client = unopened(arguments.url, {"redisson_config": arguments.redisson_config})
    try:
        collector = Collector(client, arguments.queues, timeout=arguments.timeout, most=arguments.most)
        server = MetricsServer(arguments.host, arguments.port, collector.collect)
        try:
            print(f"metrics at port {server.port}", flush=True)
            Event().wait()
        finally:
            server.close()
    except KeyboardInterrupt:
        # Also for SIGTERM, by which a service is stopped.
        return 0
    finally:
        client.close()
    return 0


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port < 65536:
        raise ValueError(text)
    return port


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError(text)
    return seconds


# argparse calls a type by its name in the error.
_port.__name__, _seconds.__name__ = "port", "number of seconds"
