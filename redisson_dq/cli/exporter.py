"""``redisson-dq exporter``: shows the state of queues to Prometheus. Any process may work on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from redisson_dq.cli.frame import (
    PORT,
    SECONDS,
    allow_host_option,
    interruptible_sleep,
    say,
    server_choice,
    tell_part_of_cluster,
)
from redisson_dq.errors import ArgumentError, RedissonDQError

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["command"]

# Stored beside the alerts of the package.
_FOLDER = Path(__file__).parents[1] / "prometheus"


@click.command(
    help="""Serve the state of queues to Prometheus, at /metrics.

    QUEUE is a name, or a pattern such as 'orders*', which is matched once a minute.
    """
)
@click.argument("queues", metavar="[QUEUE]...", nargs=-1)
@server_choice()
@click.option("--port", metavar="P", type=PORT, default=9808, help="Serve /metrics on this port (9808).")
@click.option("--host", metavar="HOST", default="127.0.0.1", help="Listen on this address (127.0.0.1).")
@allow_host_option
@click.option("--timeout", metavar="S", type=SECONDS, default=5.0, help="How long a scrape waits for Redis (5).")
@click.option("--most", metavar="N", type=int, default=1000, help="Show at most N queues (1000).")
@click.option(
    "--due-within",
    metavar="S",
    type=SECONDS,
    help="At /demand, for autoscalers: include what is due within S.",
)
@click.option("--drain", metavar="S", type=SECONDS, default=60.0, help="At /demand: finish the backlog within S (60).")
@click.option("--handling-seconds", metavar="S", type=SECONDS, help="At /demand: how long a handling takes.")
@click.option(
    "--worker-metrics", metavar="URL", multiple=True, help="At /demand: read the handling time from a worker's metrics."
)
@click.option("--print-alerts", is_flag=True, help="Print the alerts for Prometheus, and exit.")
@click.option("--print-dashboard", is_flag=True, help="Print the dashboard for Grafana, and exit.")
def command(
    queues: tuple[str, ...],
    url: str | None,
    redisson_config: str | None,
    port: int,
    host: str,
    hosts: tuple[str, ...],
    timeout: float,
    most: int,
    due_within: float | None,
    drain: float,
    handling_seconds: float | None,
    worker_metrics: tuple[str, ...],
    print_alerts: bool,
    print_dashboard: bool,
) -> int:
    """Carry out ``exporter``: 0 after SIGTERM or Ctrl-C."""
    for is_wanted, name in ((print_alerts, "alerts.yml"), (print_dashboard, "dashboard.json")):
        if is_wanted:
            print((_FOLDER / name).read_text("utf-8"), end="")
            return 0
    if not queues:
        raise ArgumentError("exporter: name a queue, or a pattern such as '*' in quotes")
    from redisson_dq.cli.metrics import MetricsServer, check_installed

    check_installed("exporter")
    if due_within is None and (handling_seconds is not None or worker_metrics):
        raise ArgumentError("exporter: --handling-seconds and --worker-metrics go with --due-within")
    from redisson_dq.admin.names import unopened
    from redisson_dq.prometheus import Collector
    from redisson_dq.prometheus.demand import HandlingTimes

    # A Redis that is away now may come back later.
    client = unopened(url, {"redisson_config": redisson_config})
    try:
        collector = Collector(client, queues, timeout=timeout, most=most)
        if due_within is None:
            server = MetricsServer(host, port, collector.collect, hosts)
        else:
            from redisson_dq.cli.demand import DemandPage

            page = DemandPage(client, collector, due_within, drain, HandlingTimes(worker_metrics, handling_seconds))
            server = MetricsServer(host, port, page.collect, hosts, {"/demand": page.document})
        try:
            with interruptible_sleep() as sleep:
                say(f"metrics at port {server.port}")
                tell_part_of_cluster(client, may_be_away=True)
                _tell_partitions(client, queues)
                while True:
                    sleep(None)
        finally:
            server.close()
    except KeyboardInterrupt:
        # Also for SIGTERM, which stops services.
        return 0
    finally:
        client.close()
    return 0


def _tell_partitions(client: Client, queues: tuple[str, ...]) -> None:
    """Prints a warning on standard error for each name whose items are in partitions, as these have other names."""
    from redisson_dq.admin.names import exact_name
    from redisson_dq.browsing import partitions_of

    for name in filter(None, map(exact_name, queues)):
        try:
            count = partitions_of(client, name)
        except RedissonDQError:
            # Each scrape reports why Redis does not answer.
            return
        if count is not None:
            say(f"{name!r} shows nothing: its items are in {count} partitions, which '{name}:*' shows", error=True)
