"""A real Prometheus scrapes a real worker and a real exporter: each query of the dashboard finds data."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

import redisson_dq
from redisson_dq.prometheus.metrics import ALL
from tests.conftest import PATIENCE, eventually
from tests.integration.commands import THREADS, command, free_port
from tests.integration.looking.test_metrics_commands import exporter

FOLDER = Path(redisson_dq.__file__).parent / "prometheus"
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))
QUERIES = sorted({target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())})

pytestmark = [
    pytest.mark.usefixtures("server"),
    pytest.mark.parametrize("server", ["redis"], indirect=True),
    pytest.mark.parametrize("flavour", ["sync"], indirect=True),
]


@contextmanager
def prometheus(tmp_path: Path, *scraped: int) -> Iterator[str]:
    """A server that scrapes these ports every half second, and its URL."""
    port = free_port()
    config = {
        "global": {"scrape_interval": "500ms", "scrape_timeout": "500ms", "evaluation_interval": "1s"},
        "rule_files": [str(FOLDER / "alerts.yml")],
        "scrape_configs": [
            {"job_name": "queues", "static_configs": [{"targets": [f"127.0.0.1:{each}" for each in scraped]}]}
        ],
    }
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config), "utf-8")
    words = (
        f"--config.file={tmp_path}/prometheus.yml",
        f"--storage.tsdb.path={tmp_path}/data",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    )
    with subprocess.Popen(["prometheus", *words], stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def told(url: str, path: str, **parameters: str) -> Any:
    """The answer of the API. None while there is none."""
    try:
        with urllib.request.urlopen(
            f"{url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=PATIENCE
        ) as answer:
            return json.load(answer)["data"]
    except OSError:
        return None


def as_grafana_asks(query: str) -> str:
    return query.replace("$queue", ".*").replace("$__rate_interval", "20s")


def test_every_query_of_the_dashboard_finds_data(url: str, client: Any, admin: Any, tmp_path: Path) -> None:
    delayed, port = client.delayed_queue("orders", transfer=False), free_port()
    options = ("--metrics-port", str(port), "--metrics-host", "127.0.0.1")
    with (
        command(url, THREADS, *options, seconds=0.01),
        exporter(url, "orders", "--due-within", "60", "--handling-seconds", "1") as (_, of_queues),
        prometheus(tmp_path, port, of_queues) as server,
    ):
        missing = set(QUERIES)

        def all_have_data() -> bool:
            delayed.offer("a", 0.01, id=None, context={"known": "due"})
            found = {
                query for query in missing if (told(server, "query", query=as_grafana_asks(query)) or {}).get("result")
            }
            missing.difference_update(found)
            return not missing

        eventually(all_have_data, within=60, told=lambda: "\n".join(sorted(missing)))
        (group,) = eventually(lambda: (told(server, "rules") or {}).get("groups"))
        eventually(lambda: {rule["health"] for rule in told(server, "rules")["groups"][0]["rules"]} == {"ok"})
        assert len(group["rules"]) == 8
        names = set(told(server, "label/__name__/values"))
    # Only the tables list the existing metrics.
    beginning = {name for name in names if name.startswith("redisson_dq_")}
    assert {re.sub("_(bucket|sum|count)$", "", name) for name in beginning} <= {each.shown for each in ALL.values()}


def test_the_dashboard_shows_every_metric(flavour: Any) -> None:
    asked = {name for query in QUERIES for name in re.findall(r"redisson_dq_\w+", query)}
    shown = {re.sub("_(bucket|sum|count)$", "", name) for name in asked}
    assert shown == {metric.shown for metric in ALL.values()}
