"""The alerts: promtool plays time series to them. Each fires in its case, and in no other one."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

import redisson_dq
from redisson_dq.prometheus.metrics import ALL

RULES = Path(redisson_dq.__file__).parent / "prometheus" / "alerts.yml"
PAGE = Path(redisson_dq.__file__).parents[1] / "docs" / "metrics.md"

#: Each alert and the id of the check that looks at its cause. Both are stable: users' routes and silences name them.
DOCTOR = {
    "RedissonDQOverdue": "overdue",
    "RedissonDQNobodyMoves": "nobody-moves",
    "RedissonDQNobodyConsumes": "nobody-consumes",
    "RedissonDQStalled": "worker",
    "RedissonDQDeadLetters": "dead-letters",
    "RedissonDQUndecodable": "undecodable",
    "RedissonDQRedeliveries": "leases-stuck",
    "RedissonDQCollectorGone": "connection",
}

#: Half an hour of an exporter and a worker with nothing wrong, one sample a minute. A case changes some of it.
WELL = {
    "redisson_dq_up": "1x30",
    'redisson_dq_items{queue="orders",state="ready"}': "0 2 1 0 3 0 1 0 2 0 1 0 2 1 0 3 0 1 0 2 0 1 0 2 1 0 3 0 1 0 2",
    'redisson_dq_items{queue="orders",state="waiting"}': "40x30",
    'redisson_dq_items{queue="orders",state="overdue"}': "0x30",
    'redisson_dq_items{queue="orders",state="in_flight"}': "2x30",
    'redisson_dq_items{queue="orders",state="dead"}': "7x30",
    'redisson_dq_items{queue="orders",state="undecodable"}': "0x30",
    'redisson_dq_items{queue="orders",state="quarantined"}': "0x30",
    'redisson_dq_overdue_oldest_seconds{queue="orders"}': "0x30",
    'redisson_dq_paused{queue="orders"}': "0x30",
    'redisson_dq_subscribers{queue="orders"}': "2x30",
    'redisson_dq_deliveries_total{queue="orders"}': "0+100x30",
    'redisson_dq_redeliveries_total{queue="orders"}': "0+5x30",
    'redisson_dq_undecodable_total{queue="orders"}': "3x30",
    'redisson_dq_handling_oldest_seconds{queue="orders"}': "1 0 2 1 1 0 3x24",
    'redisson_dq_stalled_seconds{queue="orders"}': "0x30",
    'redisson_dq_last_receipt_seconds{queue="orders"}': "0 1 0 2 0x26",
}


def items(state: str) -> str:
    return f'redisson_dq_items{{queue="orders",state="{state}"}}'


@attrs.frozen
class Case:
    """``changed`` replaces series of WELL; None removes a series. ``fires`` at the end of the half hour."""

    name: str
    changed: Mapping[str, str | None]
    fires: str | None = None
    #: The labels of the alert beside its queue, and the texts that somebody reads.
    labels: dict[str, str] = attrs.field(factory=dict)
    summary: str = ""
    description: str = ""


OVERDUE = 'redisson_dq_overdue_oldest_seconds{queue="orders"}'
PAUSED = 'redisson_dq_paused{queue="orders"}'
SUBSCRIBERS = 'redisson_dq_subscribers{queue="orders"}'
DELIVERIES = 'redisson_dq_deliveries_total{queue="orders"}'
REDELIVERIES = 'redisson_dq_redeliveries_total{queue="orders"}'
STALLED = 'redisson_dq_stalled_seconds{queue="orders"}'
OLDEST = 'redisson_dq_handling_oldest_seconds{queue="orders"}'
UNDECODABLE = 'redisson_dq_undecodable_total{queue="orders"}'
RECEIPT = 'redisson_dq_last_receipt_seconds{queue="orders"}'
STANDS_STILL = {
    items("ready"): "5x30",
    items("in_flight"): "0x30",
    DELIVERIES: "900x30",
    REDELIVERIES: "5x30",
    OLDEST: "0x30",
}
HELD = {items("in_flight"): "1x30", RECEIPT: "0+60x30"}

CASES = [
    Case("nothing is wrong", {}),
    Case(
        "due, and not moving",
        {OVERDUE: "0 0 0+60x28", items("overdue"): "0 0 9x28"},
        "RedissonDQOverdue",
        summary="Items of orders are due and do not move",
        description="The first one has been due for 28m 0s.",
    ),
    Case("due, and paused by somebody", {OVERDUE: "0+60x30", PAUSED: "1x30"}),
    Case("due for a moment at each scrape", {OVERDUE: "3x30"}),
    Case("late once, and moved again", {OVERDUE: "0x29 45"}),
    Case(
        "nobody subscribed",
        {SUBSCRIBERS: "0x30"},
        "RedissonDQNobodyMoves",
        {"state": "waiting"},
        summary="Nobody is subscribed to orders",
        description="40 items wait, and no client that would move them has the queue open.",
    ),
    Case("nobody subscribed to a queue in which nothing waits", {SUBSCRIBERS: "0x30", items("waiting"): "0x30"}),
    Case("nobody subscribed during a deployment", {SUBSCRIBERS: "2x26 0 0 0 0"}),
    Case("a cluster, which tells no subscribers", {SUBSCRIBERS: None}),
    Case(
        "nobody consumes",
        STANDS_STILL,
        "RedissonDQNobodyConsumes",
        {"state": "ready"},
        summary="Nobody consumes orders",
        description="At least 5 values have been ready for 15 minutes, and none was taken.",
    ),
    Case(
        "nobody consumes, and no worker is scraped",
        {**STANDS_STILL, items("ready"): "5+3x30", DELIVERIES: None, REDELIVERIES: None},
        "RedissonDQNobodyConsumes",
        {"state": "ready"},
        summary="Nobody consumes orders",
        description="At least 65 values have been ready for 15 minutes, and none was taken.",
    ),
    Case(
        "nobody consumes, and a consumer that is gone holds a value",
        {**STANDS_STILL, **HELD},
        "RedissonDQNobodyConsumes",
        {"state": "ready"},
        summary="Nobody consumes orders",
        description="At least 5 values have been ready for 15 minutes, and none was taken.",
    ),
    Case("a handler that is slow by design has values behind it", {**STANDS_STILL, **HELD, OLDEST: "60+60x30"}),
    Case("Java consumes, and the backlog falls", {**STANDS_STILL, items("ready"): "90-2x30"}),
    Case(
        "a handler makes no progress",
        {STALLED: "0x20 60+60x10", OLDEST: "60+60x30"},
        "RedissonDQStalled",
        summary="A handler of orders makes no progress",
        description="Values wait, its slots are taken, and nothing was settled for 10m 0s.",
    ),
    Case("a handler that is slow by design", {OLDEST: "60+60x30"}),
    Case("a handler works on one value all the time", {**STANDS_STILL, items("in_flight"): "1x30"}),
    Case("values are taken for good, and come as fast", {**STANDS_STILL, DELIVERIES: "0+10x30"}),
    Case("nothing is ready", {**STANDS_STILL, items("ready"): "0x30"}),
    Case(
        "dead letters grow",
        {items("dead"): "7x20 8 9 10 10 10 10 10 10 10 10"},
        "RedissonDQDeadLetters",
        {"state": "dead"},
        summary="The dead letters of orders grow",
        description="About 3 values were given up within 15 minutes.",
    ),
    Case("dead letters are brought back", {items("dead"): "30-1x30"}),
    Case(
        "entries in no known format",
        {items("quarantined"): "0x20 1x10"},
        "RedissonDQUndecodable",
        {"state": "quarantined"},
        summary="Values of orders cannot be read",
        description="1 values or entries are in a form that this service does not know.",
    ),
    Case(
        "a worker meets values that it cannot read",
        {UNDECODABLE: "3x15 3+1x14"},
        "RedissonDQUndecodable",
        summary="Values of orders cannot be read",
        description="14 values or entries are in a form that this service does not know.",
    ),
    Case(
        "delivered again and again",
        {REDELIVERIES: "0+40x30"},
        "RedissonDQRedeliveries",
        summary="Values of orders are delivered again and again",
        description="40% of the deliveries are repeated ones.",
    ),
    Case("a few values, all of them repeated", {DELIVERIES: "0+1x30", REDELIVERIES: "0+1x30"}),
    Case(
        "Redis does not answer the exporter",
        {"redisson_dq_up": "1x20 0x10"},
        "RedissonDQCollectorGone",
        summary="No figures of queues arrive",
        description="The exporter is gone, or Redis does not answer it. Until it is back, the other alerts see "
        "nothing.",
    ),
    Case(
        "no exporter",
        {"redisson_dq_up": None},
        "RedissonDQCollectorGone",
        summary="No figures of queues arrive",
        description="The exporter is gone, or Redis does not answer it. Until it is back, the other alerts see "
        "nothing.",
    ),
    Case("one scrape failed", {"redisson_dq_up": "1x29 0"}),
]


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return list(group["rules"])


def test_of(case: Case) -> dict[str, Any]:
    """One test of promtool: all series, and for each alert whether it fires."""
    series = {name: values for name, values in {**WELL, **case.changed}.items() if values is not None}
    checks = []
    for rule in rules():
        expected = []
        if rule["alert"] == case.fires:
            labels = {} if "Collector" in rule["alert"] else {"queue": "orders"}
            texts = {"summary": case.summary, "description": case.description, "page": rule["annotations"]["page"]}
            expected = [{"exp_labels": {**rule["labels"], **labels, **case.labels}, "exp_annotations": texts}]
        checks.append({"eval_time": "30m", "alertname": rule["alert"], "exp_alerts": expected})
    return {
        "name": case.name,
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": checks,
    }


test_of.__test__ = False  # type: ignore[attr-defined] # it makes one


def promtool(*words: str) -> str:
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_promtool_finds_nothing_wrong() -> None:
    assert f"{len(DOCTOR)} rules found" in promtool("check", "rules", str(RULES))


def test_each_fires_in_its_case_alone(tmp_path: Path) -> None:
    """promtool plays them one after another, and names each that went wrong."""
    asked = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": list(map(test_of, CASES))}
    (tmp_path / "case.yml").write_text(yaml.safe_dump(asked, sort_keys=False), "utf-8")
    promtool("test", "rules", str(tmp_path / "case.yml"))


def test_each_has_a_case() -> None:
    assert {case.fires for case in CASES} == {None, *DOCTOR}


def test_each_has_a_stable_name_a_check_and_a_section() -> None:
    assert {rule["alert"]: rule["labels"]["doctor"] for rule in rules()} == DOCTOR
    page = PAGE.read_text("utf-8")
    for rule in rules():
        assert f"\n### {rule['alert']}\n" in page
        assert rule["annotations"]["page"] == f"docs/metrics.md#{rule['alert'].lower()}"
        assert f"`{rule['labels']['doctor']}`" in page


def test_they_ask_for_metrics_that_are_there() -> None:
    names = {metric.shown for metric in ALL.values()}
    asked = {name for rule in rules() for name in re.findall(r"redisson_dq_\w+", rule["expr"])}
    assert asked <= names
