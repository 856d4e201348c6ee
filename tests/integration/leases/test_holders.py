"""Each value in flight names the process that has it, and since when: on the command line and on the pages."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from redisson_dq.browsing import browse, find_row
from redisson_dq.cli._main import main
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.web.masks import Masks
from redisson_dq.web.queue import ConnectedClients
from redisson_dq.web.queue import queue as queue_view
from redisson_dq.web.seeing import Seeing
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys, QueueKeys
from redisson_dq.wire.lease_source import LeaseSource
from tests.conftest import PATIENCE, PROGRAMS, eventually, moving
from tests.flavours import Flavour


def here() -> str:
    """The process of the test: a fork of the one that has collected it."""
    return f"{socket.gethostname()}:{os.getpid()}"


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as made:
        yield made


def document(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main(list(words)) == 0
    return json.loads(capsys.readouterr().out)


def test_list_and_show_name_the_process(
    flavour: Flavour,
    server: EmbeddedServer,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # An undo file is written where the command runs.
    monkeypatch.chdir(tmp_path)
    holder = flavour.client(server.url, redis_options={"client_name": "shop-api"}, codec=StringCodec())
    with redisson_dq.connect(server.url, codec=StringCodec()) as looking:
        delayed, queue = holder.delayed_queue("orders"), holder.blocking_queue("orders")
        delayed.offer("a", 0.001, id=flavour.name)
        delivery = queue.receive(timeout=PATIENCE, visibility_timeout=600)
        assert delivery.value == "a"
        url = ("--url", server.url)
        (item,) = document(capsys, "list", "orders", "--state", "in-flight", "--json", *url)["items"]
        assert item["holder"] == {
            "client": holder.runtime.connections.client,
            "name": "shop-api",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "address": item["holder"]["address"],
            "connected": True,
        }
        # By the id of the lease, and by that of its offer.
        for name in (item["id"], flavour.name):
            row = find_row(looking, "orders", name)
            assert row is not None
            assert str(row.holder) == f"{here()} (shop-api)"
            assert row.at is not None
        for filter, count in ((f"holder ~ '{os.getpid()}'", 1), ("holder ~ 'nowhere'", 0), ("held < 1h", 1)):
            words = ("list", "orders", "--state", "in-flight", "--filter", filter, "--json", *url)
            assert len(document(capsys, *words)["items"]) == count
        assert main(["list", "orders", "--state", "in-flight", *url]) == 0
        shown = capsys.readouterr().out
        assert "held by" in shown
        assert f"{here()} (shop-api)" in shown
        assert main(["show", "orders", item["id"], *url]) == 0
        assert here() in capsys.readouterr().out
        holder.close()

        def is_gone() -> bool:
            row = find_row(looking, "orders", item["id"])
            return row is not None and row.holder is not None and not row.holder.address

        eventually(is_gone)
        (row,) = browse(looking, "orders", "in-flight").rows
        assert str(row.holder).endswith("not connected")
        assert main(["release", "orders", item["id"], "--yes", *url]) == 0
        assert looking.blocking_queue("orders").take() == "a"


def test_the_page_names_those_of_this_queue_alone(server: EmbeddedServer) -> None:
    with (
        redisson_dq.connect(server.url) as looking,
        redisson_dq.connect(server.url) as ours,
        redisson_dq.connect(server.url) as theirs,
    ):
        moving(ours.delayed_queue("here"))
        moving(theirs.delayed_queue("elsewhere"))
        admin = ours.runtime.connections

        def listeners() -> list[Any]:
            clients = ConnectedClients(looking)
            view = queue_view(looking, "here", Masks(()), clients, seen=None, report=None, seeing=Seeing(None))
            return list(view.listeners)

        (one,) = eventually(lambda: [each for each in listeners() if each.client] or None)
        assert (one.client, one.process, one.is_certain) == (admin.client, here(), True)


def nonce() -> bytes:
    """That of the next call of an owner."""
    keys = LeaseKeys(queue=QueueKeys.of("orders"), dead=DeadKeys.belonging_to("orders"))
    words = LeaseSource(keys, Envelope.CURRENT, 1000, 0, owner=b"abcd").look(1).words
    (found,) = [word for word in words if isinstance(word, bytes) and word.startswith(b"abcd")]
    return found


def test_a_fork_and_its_parent_have_other_leases() -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(writing, nonce())
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reading, 8) != nonce()
    os.close(reading)
    os.close(writing)
