"""``redisson-dq worker --metrics-port`` and ``redisson-dq exporter``: the pages of real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from redisson_dq.cli import main
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, by_night, environment, eventually
from tests.flavours import Flavour
from tests.integration.commands import THREADS, children, command, done, free_port
from tests.integration.conftest import KEYS

pytestmark = [
    pytest.mark.usefixtures("server"),
    pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True),
    pytest.mark.parametrize("flavour", ["sync"], indirect=True),
]

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


def page(port: int, accept: str = "*/*") -> tuple[str, str]:
    """The page and its content type."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return answer.read().decode(), answer.headers["Content-Type"]


def sample(port: int, name: str) -> float | None:
    """The value of a sample by its text, None without one."""
    found = re.search(rf"^{re.escape('redisson_dq_' + name)} (\S+)$", page(port)[0], re.MULTILINE)
    return None if found is None else float(found[1])


def test_one_page_for_all_processes(url: str, admin: Any, queue: Any) -> None:
    port = free_port()
    options = ("--processes", "2", "--metrics-port", str(port), "--metrics-host", "127.0.0.1")
    acked = 'settlements_total{outcome="acked",queue="orders"}'
    with command(url, THREADS, *options, seconds=0.01) as made:
        eventually(lambda: sample(port, 'worker_processes{state="consuming"}') == 2)
        assert sample(port, 'worker_processes{state="wanted"}') == 2
        added = 0
        while len({pid for *_, pid in done(admin)}) < 2:
            queue.add(str(added))
            added += 1
        eventually(lambda: sample(port, acked) == added)
        assert sample(port, 'deliveries_total{queue="orders"}') == added
        assert sample(port, 'handled_total{handler="handle",outcome="succeeded",queue="orders"}') == added
        # Of two that listen, one moves.
        eventually(lambda: sample(port, 'mover{queue="orders"}') in (1, 2))
        assert "process_cpu_seconds_total" not in page(port)[0]
        # The counts of a process that is killed stay, and the ones of the next are added.
        os.kill(children(made)[0], signal.SIGKILL)
        eventually(lambda: (sample(port, 'worker_processes{state="running"}') or 0) < 2)
        assert sample(port, acked) == added
        eventually(lambda: sample(port, 'worker_processes{state="consuming"}') == 2)
        for i in range(20):
            queue.add(f"more-{i}")
        eventually(lambda: sample(port, acked) == added + 20)
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@contextmanager
def exporter(url: str, *words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The command, once its port is open, and the port."""
    with subprocess.Popen(
        [sys.executable, "-m", "redisson_dq", "exporter", "--url", url, "--port", "0", "--host", "127.0.0.1", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        try:
            assert process.stdout is not None
            yield process, int(process.stdout.readline().rpartition(" ")[2])
        finally:
            process.kill()


def test_the_exporter(url: str, client: Any, admin: Any) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    client.blocking_queue("bills", transfer=False).add("b")
    with exporter(url, "orders", "bills") as (process, port):
        assert sample(port, "up") == 1
        assert sample(port, 'items{queue="orders",state="waiting"}') == 1
        assert sample(port, 'items{queue="bills",state="ready"}') == 1
        assert page(port, OPEN_METRICS)[0].endswith("# EOF\n")
        assert admin.pubsub_numsub(KEYS.channel)[0][1] == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def keda_reads(port: int, queue: str) -> float:
    """What KEDA's metrics-api scaler reads with the trigger of the page, for this queue: a path of gjson, in which a
    backslash takes the meaning of the next character, to a number. It takes null, and any other status, for an error.
    """
    text = (Path(__file__).parents[3] / "docs/how-to/kubernetes.md").read_text()
    blocks = re.findall("```yaml\n(.*?)```", text, re.DOTALL)
    [(trigger,)] = [yaml.safe_load(block)["spec"]["triggers"] for block in blocks if "metrics-api" in block]
    at = trigger["metadata"]
    assert int(at["targetValue"]) > 0
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{urlsplit(at['url']).path}") as answer:
        assert answer.status == 200
        found = json.loads(answer.read())
    location = at["valueLocation"].replace("reminders", re.sub(r"([^\w-])", r"\\\1", queue))
    for name in re.findall(r"((?:[^.\\]|\\.)+)\.?", location):
        found = found[re.sub(r"\\(.)", r"\1", name)]
    assert isinstance(found, (int, float))
    return found


def test_the_work_of_the_next_seconds(url: str, client: Any) -> None:
    """With the handling times of a worker's port: 20 handlings of 0.5 s."""
    delayed, queue = client.delayed_queue("orders", transfer=False), client.blocking_queue("orders", transfer=False)
    delayed.offer_all([("soon", 50), ("soon", 55), ("overdue", 0), ("later", 600)])
    queue.add_all(["held", "ready"])
    assert queue.receive(visibility_timeout=30)
    parts = client.delayed_queue("parts", partitions=3, transfer=False)
    parts.offer_all([(f"{number}", 30) for number in range(9)])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            text = '_sum{queue="orders"} 10.0\nredisson_dq_handling_seconds_count{queue="orders"} 20\n'
            kind = "# TYPE redisson_dq_handling_seconds histogram\n"
            self.wfile.write(f"{kind}redisson_dq_handling_seconds{text}".encode())

    with HTTPServer(("127.0.0.1", 0), Handler) as worker:
        threading.Thread(target=worker.serve_forever, daemon=True).start()
        words = ("--due-within", "60", "--drain", "2", "--handling-seconds", "3")
        address = f"http://127.0.0.1:{worker.server_port}/metrics"
        with exporter(url, "orders", "parts*", "shop.mails", *words, "--worker-metrics", address) as (_, port):
            found = json.loads(urllib.request.urlopen(f"http://127.0.0.1:{port}/demand").read())["queues"]
            counts = {"items": 5, "ready": 1, "in_flight": 1, "overdue": 1, "due": 2}
            assert found["orders"] == {**counts, "handling_seconds": 0.5, "slots": 2}
            assert keda_reads(port, "orders") == 2
            assert keda_reads(port, "shop.mails") == 0
            assert (found["parts"]["items"], found["parts"]["handling_seconds"], found["parts"]["slots"]) == (9, 3, 14)
            assert sample(port, 'demand_slots{queue="parts"}') == 14
            assert sample(port, 'demand_items{queue="orders"}') == 5
        worker.shutdown()
    with exporter(url, "orders") as (_, port):
        assert "demand" not in page(port)[0]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/demand")


def test_the_exporter_finds_queues_by_patterns(url: str, client: Any) -> None:
    for name in ("orders", "orders-of-today", "bills"):
        client.delayed_queue(name, transfer=False).offer("a", 3600)
    client.delayed_queue("orders-of-many", partitions=4, transfer=False).offer_all([("a", 3600)] * 9)
    with exporter(url, "orders*") as (_, port):
        found = re.findall(r'redisson_dq_items{queue="([^"]+)",state="waiting"} (\S+)', page(port)[0])
        assert sorted(found) == [("orders", "1.0"), ("orders-of-many", "9.0"), ("orders-of-today", "1.0")]
    with exporter(url, "orders", "orders-of-many") as (process, port):
        assert process.stderr is not None
        assert process.stderr.readline() == (
            "'orders-of-many' shows nothing: its items are in 4 partitions, which 'orders-of-many:*' shows\n"
        )
    with exporter(url, "orders-of-many:*") as (_, port):
        assert sample(port, 'items{queue="orders-of-many",state="waiting"}') == 9


def test_the_exporter_outlasts_redis(flavour: Flavour) -> None:
    with EmbeddedServer() as own, exporter(own.url, "orders") as (process, port):
        assert sample(port, "up") == 1
        own.kill()
        assert sample(port, "up") == 0
        own.restart()
        eventually(lambda: sample(port, "up") == 1)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


def test_the_exporter_prints_the_files_for_others(flavour: Flavour, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*words: str) -> tuple[int, str, str]:
        return main(["exporter", *words]), *capsys.readouterr()

    assert yaml.safe_load(told("--print-alerts")[1])["groups"][0]["rules"][0]["alert"] == "RedissonDQOverdue"
    assert json.loads(told("--print-dashboard")[1])["title"] == "redisson-dq"
    code, _, error = told()
    assert (code, "name a queue" in error) == (64, True)


def test_metrics_of_the_program_itself(url: str, queue: Any) -> None:
    """They are on the page too, and the worker is of asyncio."""
    port = free_port()
    options = ("--processes", "2", "--metrics-port", str(port), "--metrics-host", "127.0.0.1")
    with command(url, "tests.workers.with_metrics:worker", *options) as made:
        queue.add_all([str(i) for i in range(30)])
        eventually(lambda: 'shop_sold_total{shop="a"} 30.0' in page(port)[0])
        eventually(lambda: "shop_open 2.0" in page(port)[0])
        assert sample(port, 'handled_total{handler="sell",outcome="succeeded",queue="orders"}') == 30
        assert "shop_sold_created" not in page(port)[0]
        # The asker chooses the form.
        text, kind = page(port, OPEN_METRICS)
        assert kind.startswith("application/openmetrics-text")
        assert text.endswith("# EOF\n")
        assert page(port)[1].startswith("text/plain")
        made.send(signal.SIGTERM)
        assert made.ends() == 0


def test_prometheus_client_is_missing(flavour: Flavour) -> None:
    program = "import sys; sys.modules['prometheus_client'] = None; from redisson_dq.cli import main; sys.exit(main())"
    for words in (["exporter", "orders"], ["worker", "shop:worker", "--metrics-port", "0"]):
        told = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
        assert told.returncode == 1
        assert "needs prometheus_client: pip install 'prometheus_client>=0.21'" in told.stderr
