"""The sessions of docs/migrating.md about export, import and migrate, and what the commands refuse."""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.cli.migrate import _is_unmoved
from redisson_dq.codecs import Kryo5Codec
from redisson_dq.migrating import ToFile
from redisson_dq.migrating.sites import QueueSite
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import eventually

PAGE = Path(__file__).parents[3] / "docs" / "migrating.md"
SESSIONS = dict(
    re.findall(r"<!-- session: (export|import|migrate) -->\n\n```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
)


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    with redisson_dq.connect(url, codec=Kryo5Codec()) as made:
        yield made


@pytest.fixture
def run(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[str], tuple[int, str]]:
    """Runs a command in a directory of its own: exit code, and what it says."""
    monkeypatch.setenv("REDISSON_DQ_URL", url)
    monkeypatch.chdir(tmp_path)

    def started(line: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main(shlex.split(line))
        told = capsys.readouterr()
        return code, told.err + told.out

    return started


def alike(text: str) -> str:
    """Output without what differs from run to run."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    text = re.sub(r"127\.0\.0\.1:\d+|localhost:\d+", "SERVER", text)
    text = re.sub(r"about [\d.]+ s", "about N s", text)
    return re.sub(r" +", " ", text)


def test_the_page_shows_what_the_commands_print(client: Any, run: Callable[[str], tuple[int, str]]) -> None:
    delayed, queue = client.delayed_queue("orders", transfer=False), client.blocking_queue("orders", transfer=False)
    queue.add("order-7")
    queue.receive(timeout=5, visibility_timeout=60).reject("no stock")
    for number in range(3):
        delayed.offer({"id": number}, 3600)
    queue.add_all(["order-8", "order-9"])
    for name in ("export", "import", "migrate"):
        for session in re.split(r"^\$ redisson-dq ", SESSIONS[name], flags=re.MULTILINE)[1:]:
            line, _, told = session.partition("\n")
            assert alike(run(line)[1]) == alike(told), line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("migrate orders --yes", "choose where the items go"),
        ("migrate orders --to-codec json --yes", "--to-codec needs --to-name or --to-url"),
        ("migrate orders --to-json f --to-name bills --yes", "--to-json takes the items out of Redis"),
        ("migrate orders --to-name bills --to-codec jso --yes", "there is no codec"),
        ("migrate orders --to-name bills --resume missing --yes", "is not a journal of a migration"),
        ("migrate orders --to-name orders --yes", "choose where the items go"),
        ("migrate orders --to-name orders --to-codec json --yes", "--to-codec needs --to-name or --to-url"),
        ("migrate orders --to-partitions 1 --to-codec json --yes", "name another queue"),
        ("migrate orders --to-partitions 0 --yes", "a number of partitions from 1 to 1024"),
        ("migrate orders --to-name bills --allow-other-server --yes", "goes with --resume"),
        ("migrate orders --to-name bills", "needs --yes"),
    ],
)
def test_what_is_refused(
    client: Any, admin: redis.Redis, run: Callable[[str], tuple[int, str]], line: str, message: str
) -> None:
    client.blocking_queue("orders", transfer=False).add("a")
    code, told = run(line)
    assert code == 64
    assert message in told
    assert admin.keys("*") == [b"orders"]


def test_a_queue_that_no_client_has_open_is_told(client: Any, run: Callable[[str], tuple[int, str]]) -> None:
    """Its items would wait forever, though all of them have arrived."""
    with client.delayed_queue("orders", transfer=False) as delayed:
        delayed.offer("a", 3600)
    code, told = run("migrate orders --to-name bills --yes")
    assert (code, told.splitlines()[-1].endswith("run: redisson-dq move bills --follow")) == (0, True)
    code, told = run("migrate bills --to-partitions 2 --to-name parts --yes --json")
    assert (code, json.loads(told.partition("\n")[2])["nobody_moves"]) == (0, True)
    with client.delayed_queue("orders") as delayed:
        delayed.offer("b", 3600)
        eventually(lambda: client.stats("orders")["orders"].subscribers == 1)
        assert "no client has it open" not in run("migrate parts --to-name orders --yes")[1]


def test_the_own_subscription_of_a_migration_counts_for_nobody(client: Any, admin: redis.Redis) -> None:
    """On a busy machine it ends only after the last look."""
    client.delayed_queue("orders", transfer=False).offer("a", 3600)
    with admin.pubsub() as pubsub:
        pubsub.subscribe(QueueKeys.of("orders").channel)
        eventually(lambda: client.stats("orders")["orders"].subscribers == 1)
        ends = threading.Timer(0.1, pubsub.close)
        ends.start()
        assert _is_unmoved(client, [QueueSite.of(client, "orders")])
        ends.join()


def test_a_bounded_queue_is_refused(client: Any, admin: redis.Redis, run: Callable[[str], tuple[int, str]]) -> None:
    admin.set("redisson_bqs:{orders}", 5)
    client.blocking_queue("orders", transfer=False).add("a")
    code, told = run("migrate orders --to-name bills --yes")
    assert (code, "it is bounded" in told) == (64, True)
    assert admin.llen("orders") == 1


def test_one_migration_at_a_time_writes_a_file_of_json(
    client: Any, run: Callable[[str], tuple[int, str]], tmp_path: Path
) -> None:
    for name in ("orders", "bills"):
        client.delayed_queue(name, transfer=False).offer(name, 3600)
    with ToFile(tmp_path / "items", bytes.decode).alone():
        code, told = run("migrate bills --to-json items --yes")
        assert (code, (tmp_path / "items").read_bytes()) == (64, b"")
        assert "is written by a migration that still runs: name another file" in told
        assert list(tmp_path.glob("*journal*")) == list(tmp_path.glob("bills-*")) == []
    assert client.delayed_queue("bills", transfer=False).size() == 1
    assert run("migrate bills --to-json items --yes")[0] == run("migrate orders --to-json items --yes")[0] == 0
    assert [json.loads(line)["queue"] for line in (tmp_path / "items").read_bytes().splitlines()] == ["bills", "orders"]


@pytest.mark.parametrize(
    "line",
    [
        "export orders --to no/such/folder/f",
        "migrate orders --to-json no/such/folder/f --yes",
        "migrate orders --to-name bills --journal no/such/folder/f --yes",
        "import no/such/file --yes",
    ],
)
def test_a_file_that_cannot_be_opened_is_named_in_one_line(
    client: Any, run: Callable[[str], tuple[int, str]], line: str
) -> None:
    client.delayed_queue("orders", transfer=False).offer("order-1", 3600)
    code, told = run(line)
    assert code in (1, 64, 65)
    assert re.search("^redisson-dq.*: error: .*no/such/f", told, re.MULTILINE)
    assert client.delayed_queue("orders", transfer=False).size() == 1
