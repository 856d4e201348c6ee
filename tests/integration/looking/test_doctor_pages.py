"""The output that docs/using-the-doctor.md, sidecar.md and command-line.md show is what the commands print."""

from __future__ import annotations

import configparser
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

import redisson_dq
from redisson_dq.cli._main import main
from redisson_dq.cli.move import command as move
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS, eventually, moving

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTED = "redis://localhost:6379/0"


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def shown(page: str, beginning: str) -> str:
    (found,) = [block for block in blocks(page, "text") if block.startswith(beginning)]
    return found


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[str]:
    """Two items in ``orders``, one of them due, that nobody moves; one in ``bills``, which is paused."""
    with EmbeddedServer(program=PROGRAMS["redis"](), appendonly=True, data_dir=tmp_path / "data") as server:
        with redisson_dq.connect(server.url) as client:
            client.delayed_queue("orders", transfer=False).offer_all([("A-17", 0.001), ("A-18", 3600)])
            bills = moving(client.delayed_queue("bills"))
            bills.pause()
            bills.offer("B-1", delay=3600)
            with redis.Redis.from_url(server.url) as admin:
                eventually(lambda: admin.pubsub_numsub("redisson_delay_queue_channel:{bills}")[0][1])
            eventually(lambda: client.inspect("orders").overdue)
            yield server.url


def test_the_doctor(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--url", shop]) == 1
    out = re.sub(r"redis-cli -p \d+", "redis-cli", capsys.readouterr().out)
    assert out.replace(shop, DOCUMENTED) == shown("using-the-doctor.md", "ok:")


def test_move(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    with redis.Redis.from_url(shop) as admin:
        (bill,) = admin.zrange("redisson_delay_queue_timeout:{bills}", 0, -1)
        admin.execute_command("ZADD", "redisson_delay_queue_timeout:{bills}", 1, bill)
        admin.execute_command(
            "ZADD",
            "redisson_delay_queue_timeout:{orders}",
            1,
            *admin.zrange("redisson_delay_queue_timeout:{orders}", -1, -1),
        )
    assert main(["move", "orders", "bills", "--url", shop]) == 1
    assert capsys.readouterr().out == shown("command-line.md", "queue   moved")


def test_acl(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["acl", "--role", "mover", "--user", "shop-mover", "orders"]) == 0
    assert capsys.readouterr().out == shown("command-line.md", "ACL SETUSER shop-mover")


def test_the_unit_and_the_manifest() -> None:
    (text,) = blocks("sidecar.md", "ini")
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign,assignment]
    unit.read_string(text)
    words = shlex.split(unit["Service"]["ExecStart"])
    (manifest_text,) = blocks("sidecar.md", "yaml")
    manifest: Any = yaml.safe_load(manifest_text)
    pod = manifest["spec"]["template"]
    assert manifest["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"]
    (container,) = pod["spec"]["containers"]
    assert container["command"] == ["redisson-dq", words[1]] == ["redisson-dq", "move"]
    for arguments in (words[2:], container["args"]):
        found = move.make_context("move", list(arguments)).params
        assert (found["queues"], found["follow"], found["health_port"]) == (("orders*", "bills"), True, 8080)
    (port,) = container["ports"]
    assert port["containerPort"] == 8080
    assert [container[name]["httpGet"]["path"] for name in ("readinessProbe", "livenessProbe")] == ["/ready", "/live"]
    assert [each["name"] for each in container["env"]] == [unit["Service"]["Environment"].partition("=")[0]]
