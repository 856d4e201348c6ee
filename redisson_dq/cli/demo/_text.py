"""Every word and number the demo shows, as plain text."""

from __future__ import annotations

import math
from datetime import datetime

from redisson_dq.cli.demo._board import Item, Summary, latenesses, percentile
from redisson_dq.cli.demo._sandbox import Sandbox

__all__ = ["bulk_line", "clock_time", "headline", "item_line", "milliseconds", "summary_lines"]


def clock_time(epoch_ms: float | None) -> str:
    """``14:03:59.042`` in the local time zone, rounded down; empty when unknown."""
    if epoch_ms is None:
        return ""
    whole = math.floor(epoch_ms)
    return f"{datetime.fromtimestamp(whole // 1000):%H:%M:%S}.{whole % 1000:03}"


def milliseconds(value: float | None) -> str:
    """``0.84 ms``, ``12.3 ms``, ``250 ms``: three digits or so; ``-`` when unknown."""
    if value is None or math.isnan(value):
        return "-"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f} ms"


def item_line(item: Item) -> str:
    """One line for an item that has arrived."""
    return (
        f"{item.value}  delay {item.delay:.2f} s  due {clock_time(item.due_ms)}  "
        f"arrived {clock_time(item.arrivals_ms[0])}  late {milliseconds(item.lateness_ms)}"
    )


def bulk_line(bulk: list[Item]) -> str:
    """One line for all items of the bulk."""
    late = latenesses(bulk)
    arrived = sum(bool(item.arrivals_ms) for item in bulk)
    return (
        f"bulk: {arrived} of {len(bulk)} taken, late p50 {milliseconds(percentile(late, 50))}, "
        f"max {milliseconds(percentile(late, 100))}"
    )


def headline(summary: Summary) -> str:
    """The outcome in one line."""

    def none_or(count: int) -> str:
        return str(count or "none")

    foreign = f", {summary.foreign} that nobody offered" if summary.foreign else ""
    return (
        f"{summary.taken} of {summary.planned} items taken: {none_or(summary.early)} early, "
        f"{none_or(summary.lost)} lost, {none_or(summary.twice)} twice{foreign}"
    )


def summary_lines(summary: Summary, sandbox: Sandbox, *, deleted: bool) -> list[str]:
    """The text behind the headline."""
    keys = sandbox.keys
    fate = "deleted on exit" if deleted else "gone with the server"
    return [
        f"lateness  p50 {milliseconds(summary.p50)}, p90 {milliseconds(summary.p90)}, "
        f"p99 {milliseconds(summary.p99)}, max {milliseconds(summary.worst)} "
        f"(each +-{milliseconds(summary.error_ms)})",
        "          from the due time to the return of take(), on the server's clock",
        f"server    {sandbox.describe()}",
        f"in Redis  ({fate})",
        f"  {keys.ready}  list: values that are due, for BLPOP",
        f"  {keys.timeout}  sorted set: waiting values by due time",
        f"  {keys.envelopes}  list: the same in the order of their offers",
        f"  {keys.channel}  channel: a new earliest due time",
    ]
