"""What a working client writes to its log, and that it makes nothing for lines that nobody wants."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.observing import Happening
from tests.conftest import eventually
from tests.flavours import Flavour
from tests.integration.programs.test_observing import _count, _kinds
from tests.workers.handlers import Ledger, running

PAGE = Path(__file__).resolve().parents[3] / "docs/logs.md"


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        f"{record.levelname} {vars(record)['happening']}" for record in caplog.records if "happening" in vars(record)
    ]


def work(client: Any) -> None:
    """Items are offered, moved, taken and received."""
    queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
    delayed.offer_all([("a", 0.05), ("b", 0.05)])
    assert queue.take() == "a"
    delivery = queue.receive(timeout=10)
    assert delivery.value == "b"
    assert delivery.ack()
    assert delayed.pause()
    assert not delayed.pause()
    assert delayed.resume()


def test_a_day_in_the_log(flavour: Flavour, url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    with flavour.connect(url, codec=StringCodec()) as client:
        work(client)
        eventually(lambda: "DEBUG Moved" in told(caplog))
    lines = told(caplog)
    assert set(lines) == {
        "INFO Subscribed",
        "INFO RoleChanged",
        "DEBUG Moved",
        "DEBUG ValuesTaken",
        "DEBUG LeaseBegan",
        "DEBUG Settled",
        "INFO Paused",
        "INFO Resumed",
    }
    assert lines.count("INFO Paused") == lines.count("INFO Resumed") == 1
    order = ["DEBUG LeaseBegan", "DEBUG Settled", "INFO Paused", "INFO Resumed"]
    assert [line for line in lines if line in order] == order
    assert all(vars(record)["queue"] == "orders" for record in caplog.records if "happening" in vars(record))


@pytest.mark.parametrize(("level", "made_then"), [("WARNING", set()), ("INFO", {"Paused", "Resumed"})])
def test_nothing_is_made_for_a_line_that_nobody_wants(
    flavour: Flavour, url: str, level: str, made_then: set[str], monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    caplog.set_level(level, "redisson_dq")
    made: list[str] = []
    for kind in _kinds(Happening):
        _count(monkeypatch, kind, made)
    with flavour.connect(url, codec=StringCodec()) as client:
        work(client)
    assert set(made) - {"Subscribed", "RoleChanged"} == made_then


def test_requests_are_not_made_for_the_log(
    flavour: Flavour, url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    made: list[str] = []
    for kind in _kinds(Happening):
        _count(monkeypatch, kind, made)
    with flavour.connect(url, codec=StringCodec()) as client:
        work(client)
    assert {"LeaseBegan", "Settled"} <= set(made)
    assert not {"Sent", "Answered"} & set(made)


def test_values_are_in_the_log_on_demand(flavour: Flavour, url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    for log_values, shown in [(False, []), (True, ["'a'", "'b'"]), (lambda value: len(value), ["1", "1"])]:
        caplog.clear()
        with flavour.connect(url, codec=StringCodec(), log_values=log_values) as client:
            work(client)
        values = [each for record in caplog.records for each in vars(record).get("values", [])]
        assert values == shown
        lines = [record.getMessage() for record in caplog.records if "values" in vars(record)]
        assert all(line.endswith(f": {value}") for line, value in zip(lines, shown, strict=True))


def test_a_workers_leases_are_in_the_log(
    flavour: Flavour, url: str, admin: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    admin.rpush("orders", "secret")
    ledger, worker = Ledger(), flavour.worker_of(url, codec=StringCodec(), log_values=lambda value: len(value))
    worker.handler("orders")(ledger.handle)
    with running(worker):
        assert ledger.next() == "secret"
        eventually(lambda: "DEBUG Settled" in told(caplog))
    (began,) = [vars(record) for record in caplog.records if vars(record).get("happening") == "LeaseBegan"]
    assert (began["queue"], began["values"]) == ("orders", ["6"])
    assert "secret" not in caplog.text


def test_the_page_shows_what_its_sample_writes(server: EmbeddedServer, capsys: pytest.CaptureFixture[str]) -> None:
    logs = PAGE.read_text("utf-8")
    code, shown = (re.search(rf"```{kind}\n(.*?)```", logs, re.DOTALL) for kind in ("python", "text"))
    assert code
    assert shown
    logger = logging.getLogger("redisson_dq")
    before = logger.level, logger.handlers[:]
    try:
        exec(code[1].replace("redis://localhost:6379/0", server.url), {})
    finally:
        logger.setLevel(before[0])
        logger.handlers[:] = before[1]
    written = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    # A transfer's answer may be read before the value's or after it.
    assert sorted(map(_without_numbers, written), key=str) == sorted(
        (_without_numbers(json.loads(line)) for line in shown[1].splitlines()), key=str
    )


def _without_numbers(line: dict[str, Any]) -> dict[str, Any]:
    line["message"] = re.sub(r"[0-9a-f]{20}|[0-9]+\.[0-9]", "N", line["message"])
    return {name: "N" if name == "id" or name.endswith("_ms") else value for name, value in line.items()}
