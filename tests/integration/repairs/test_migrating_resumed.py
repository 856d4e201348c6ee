"""A migration that was ended and goes on: what its report counts, and which command it names."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.admin import AdminQueue
from redisson_dq.cli import main
from redisson_dq.codecs import Kryo5Codec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.migrating import Journal, Migration, QueueSite, Recoding, ToFile
from tests.conftest import PATIENCE, by_night, environment, eventually
from tests.integration.full_queue import contents

WHOLE = {"ready": 250, "waiting": 450}


def filled(client: Any) -> None:
    client.delayed_queue("orders", transfer=False).offer_all([(f"value {number}", 3600) for number in range(450)])
    client.blocking_queue("orders", transfer=False).add_all([f"ready {number}" for number in range(250)])


class _Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("to", ["name", "server", "file"])
def test_the_report_counts_all_runs(
    client: Any, admin: redis.Redis, second: EmbeddedServer, tmp_path: Path, to: str
) -> None:
    """Each run ends at another state of another batch. The last one counts all, and so does one behind it."""
    filled(client)

    def run(journal: Journal, ends_at: int) -> dict[str, int]:
        notes = 0

        def kill(state: str, number: int) -> None:
            nonlocal notes
            notes += 1
            if notes == ends_at:
                raise _Killed

        migration = Migration(
            [QueueSite.of(client, "orders")],
            Recoding(None, None, None, [target]),
            journal=journal,
            to_file=ToFile(tmp_path / "items", bytes.decode) if to == "file" else None,
            on_state=kill,
        )
        return migration.run(quiet=0.2).moved

    with redisson_dq.connect(second.url, codec=StringCodec()) as other:
        target = QueueSite.of(other if to == "server" else client, "bills")
        path = tmp_path / "journal"
        for ends_at in (1, 2, 3, 2, 1, 2):
            with Journal.resumed(path) if path.exists() else Journal.begun(path, "abc", {}) as journal:
                with pytest.raises(_Killed):
                    run(journal, ends_at)
        for _ in range(2):
            with Journal.resumed(path) as journal:
                assert run(journal, 0) == WHOLE
        client.blocking_queue("orders", transfer=False).add("one more")
        with Journal.resumed(path) as journal, pytest.raises(_Killed):
            run(journal, 2)
        with Journal.resumed(path) as journal:
            assert run(journal, 0) == {"ready": 251, "waiting": 450}
    assert contents(admin) == {}
    assert list(admin.scan_iter("redisson_dq_migrating*")) == []


@pytest.mark.parametrize("by", [signal.SIGINT, by_night(signal.SIGTERM)])
def test_a_signal_ends_it_between_two_batches(
    client: Any, url: str, second: EmbeddedServer, tmp_path: Path, by: signal.Signals
) -> None:
    filled(client)
    holder = client.blocking_queue("orders", transfer=False).receive(timeout=5, visibility_timeout=3600)
    command = [sys.executable, "-m", "redisson_dq", "migrate", "orders", "--url", url, "--yes", "--json"]
    first = [*command, "--to-url", second.url, "--journal", "a journal"]
    with subprocess.Popen(
        first, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        with redis.Redis.from_url(second.url) as there:
            eventually(lambda: there.zcard("redisson_delay_queue_timeout:{orders}") == 450, within=PATIENCE)
        # It waits for the value that is held.
        run.send_signal(by)
        out, told = run.communicate(timeout=PATIENCE)
    assert (run.returncode, json.loads(out)["stopped"]) == (128 + by, True), told
    line = f"redisson-dq migrate orders --resume 'a journal' --to-url {second.url} --yes --url {url}"
    assert f"to go on: {line}\n" in told
    holder.ack()
    again = [*command, "--to-url", second.url, "--resume=a journal"]
    done = subprocess.run(again, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["moved"] == {"ready": 249, "waiting": 450}
    assert json.loads(done.stdout)["stopped"] is False


def test_a_signal_ends_forwarding_as_a_whole(client: Any, url: str, second: EmbeddedServer, tmp_path: Path) -> None:
    """What is held is written before the notes go. So a run behind it puts nothing in twice."""
    filled(client)
    command = [sys.executable, "-m", "redisson_dq", "migrate", "orders", "--url", url, "--yes", "--json"]
    command += ["--to-url", second.url, "--follow"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        with redis.Redis.from_url(second.url) as there:
            eventually(lambda: there.llen("orders") > 0, within=PATIENCE)
            run.send_signal(signal.SIGTERM)
            out, told = run.communicate(timeout=PATIENCE)
            assert run.returncode in (0, 1), told
            assert not there.exists("redisson_dq_migrating:{orders}")
            found = json.loads(out)
            assert there.llen("orders") == found["moved"]["ready"]
    left = found["left"]
    assert {kind: found["moved"].get(kind, 0) + left.get(kind, 0) for kind in WHOLE} == WHOLE


@pytest.mark.parametrize("state", ["planned", "held"])
def test_a_script_that_comes_late_does_nothing(client: Any, second: EmbeddedServer, tmp_path: Path, state: str) -> None:
    """A connection that stood still sends its script when the next run has ended. Equal values stand there again."""
    values = [f"ready {number}" for number in range(250)]
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(values)
    late: list[Callable[[], Any]] = []
    run = AdminQueue._run

    with redisson_dq.connect(second.url, codec=StringCodec()) as other, pytest.MonkeyPatch.context() as patched:
        source, target = QueueSite.of(client, "orders"), QueueSite.of(other, "bills")
        stuck = source if state == "planned" else target

        def sent(queue: AdminQueue, request: Any) -> Any:
            if queue is stuck.queue and request.script is not None and request.script.name == "exchange":
                late.append(lambda: run(queue, request))
                raise _Killed
            return run(queue, request)

        def stands_still(reached: str, number: int) -> None:
            if reached == state:
                patched.setattr(AdminQueue, "_run", sent)

        recoding = Recoding(None, None, None, [target])
        with Journal.begun(tmp_path / "journal", "abc", {}) as journal, pytest.raises(_Killed):
            Migration([source], recoding, journal=journal, on_state=stands_still).run(quiet=0.2)
        patched.undo()
        assert len(late) == 1
        with Journal.resumed(tmp_path / "journal") as journal:
            assert Migration([source], recoding, journal=journal).run(quiet=0.2).moved == {"ready": 250}
        queue.add_all(values)
        late[0]()
        assert queue.read_all() == values
        assert other.blocking_queue("bills", transfer=False).read_all() == values


@pytest.mark.parametrize("side", ["--url", "--to-url"])
def test_a_journal_of_another_server_is_refused(
    client: Any,
    url: str,
    second: EmbeddedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    side: str,
) -> None:
    """A batch that one server holds would be missing on another one, or come twice."""
    monkeypatch.chdir(tmp_path)
    queue = client.blocking_queue("orders", transfer=False)
    urls = {"--url": url, "--to-url": second.url}

    def run(*more: str) -> tuple[int, str]:
        servers = [word for pair in urls.items() for word in pair]
        code = main(["migrate", "orders", *servers, "--quiet", "0.1", "--yes", *more])
        return code, capsys.readouterr().err

    queue.add("one")
    assert run("--journal", "journal")[0] == 0
    queue.add("one more")
    urls[side] = urls[side].replace("127.0.0.1", "localhost")
    code, told = run("--resume", "journal")
    assert (code, f"and {side} is {urls[side]}" in told, queue.size()) == (64, True, 1)
    code, told = run("--resume", "journal", "--allow-other-server")
    assert (code, "warning: the journal" in told, queue.size()) == (0, True, 0)


@pytest.mark.parametrize("is_busy", [True, False])
def test_two_migrations_at_a_time_share_the_items(client: Any, second: EmbeddedServer, is_busy: bool) -> None:
    """The one that ends first leaves the notes of the other one, or the other one has its own count."""
    filled(client)
    reached = {name: threading.Event() for name in ("first", "second", "busy", "ended")}

    def run_first(state: str, number: int) -> None:
        if (state, number) == ("dropped", 1):
            reached["first"].set()
            assert reached["second" if is_busy else "ended"].wait(PATIENCE)
        elif (state, number) == ("dropped", 2):
            reached["busy"].set()
            assert reached["ended"].wait(PATIENCE)

    def run_second(state: str, number: int) -> None:
        if is_busy and (state, number) == ("planned", 1):
            reached["second"].set()
            assert reached["busy"].wait(PATIENCE)

    with redisson_dq.connect(second.url, codec=StringCodec()) as other, ThreadPoolExecutor(1) as threads:

        def made(on_state: Callable[[str, int], None]) -> Migration:
            recoding = Recoding(None, None, None, [QueueSite.of(other, "bills")])
            return Migration([QueueSite.of(client, "orders")], recoding, on_state=on_state)

        first = threads.submit(lambda: made(run_first).run(quiet=0.1))
        assert reached["first"].wait(PATIENCE)
        moved = made(run_second).run(quiet=0.1).moved
        reached["ended"].set()
        found = Counter(first.result(PATIENCE).moved)
        assert found["ready"] == (250 if is_busy else 200)
        assert found + Counter(moved) == WHOLE
        assert other.blocking_queue("bills", transfer=False).size() == WHOLE["ready"]
        assert other.delayed_queue("bills", transfer=False).size() == WHOLE["waiting"]


# -- values that were received before --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "to", ["server", "file", *[pytest.param(to, marks=pytest.mark.nightly) for to in ("name", "codec", "lean")]]
)
def test_values_that_come_back_keep_their_attempts(
    client: Any, url: str, second: EmbeddedServer, tmp_path: Path, to: str
) -> None:
    """One was given back, one waits for a retry, and the lease of one ends when all others were moved."""
    queue = client.blocking_queue("orders", transfer=False)
    queue.add_all(["given back", "retried", "lapsed"])
    held = {each.value: each for each in queue.receive(3, timeout=5, visibility_timeout=1)}
    held["given back"].nack(reason="once more")
    held["retried"].nack(delay=0.3, reason="later")
    new = Kryo5Codec() if to == "codec" else None
    with redisson_dq.connect(second.url if to == "server" else url, codec=new or StringCodec()) as other:
        migration = Migration(
            [QueueSite.of(client, "orders")],
            Recoding(
                StringCodec() if new else None, new, "lean" if to == "lean" else None, [QueueSite.of(other, "bills")]
            ),
            to_file=ToFile(tmp_path / "items", bytes.decode) if to == "file" else None,
        )
        done = migration.run(quiet=0.2)
        assert (sum(done.moved.values()), done.left) == (3, {})
        if to == "file":
            lines = [json.loads(line) for line in (tmp_path / "items").read_text().splitlines()]
            found = {line["value"]: (line["attempts"] + 1, line["first_received_ms"] / 1000) for line in lines}
        else:
            target = other.blocking_queue("bills")
            found = {}
            while len(found) < 3:
                found |= {each.value: (each.attempt, each.first_received.timestamp()) for each in target.receive(3)}
    assert found == {value: (2, each.first_received.timestamp()) for value, each in held.items()}


def test_leases_that_nobody_ends_under_a_pause_end_a_migration(client: Any, url: str) -> None:
    """A paused queue takes no value back. When it goes on, the next run moves them, and the new queue is paused."""
    queue, delayed = client.blocking_queue("orders", transfer=False), client.delayed_queue("orders", transfer=False)
    queue.add("held")
    queue.receive(timeout=5, visibility_timeout=0.1)
    delayed.pause()
    migration = Migration([QueueSite.of(client, "orders")], Recoding(None, None, None, [QueueSite.of(client, "bills")]))
    with pytest.raises(ArgumentError, match="nobody takes back 1 value whose lease is over"):
        migration.run(quiet=0.1)
    assert main(["resume", "orders", "--yes", "--no-undo", "--url", url]) == 0
    assert migration.run(quiet=0.1).moved == {"ready": 1}
    assert client.delayed_queue("bills", transfer=False).is_paused()


def test_a_migration_that_is_refused_leaves_no_journal(client: Any, url: str, tmp_path: Path) -> None:
    """It says what to do, and the next try finds no file in its way."""
    filled(client)
    other = url.replace("127.0.0.1", "localhost")
    command = [sys.executable, "-m", "redisson_dq", "migrate", "orders", "--url", url, "--to-url", other, "--yes"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 64
        assert "leave --to-url out" in done.stderr
        assert "to go on" not in done.stderr
    assert list(tmp_path.iterdir()) == []
