"""A queue that was exported, removed and imported is the queue that it was."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.migrating import FileError, QueueSite, export, export_all, import_file, sites_of
from tests.conftest import PATIENCE, by_night, environment, eventually
from tests.integration.full_queue import contents, fill


def test_a_queue_comes_back_as_it_was(client: Any, admin: redis.Redis, url: str, tmp_path: Path) -> None:
    fill(url, admin)
    before, lives = contents(admin), {key: admin.pexpiretime(key) for key in contents(admin)}
    done = export(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl")
    assert done.exact
    assert contents(admin) == before
    admin.flushall()
    imported = import_file(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl")
    assert (imported.counts, imported.resumed_at, imported.mended) == (done.counts, 0, 0)
    assert contents(admin) == before
    for key, at_ms in lives.items():
        assert abs(admin.pexpiretime(key) - at_ms) <= 2000, key


def test_the_import_is_usable_at_once(client: Any, admin: redis.Redis, url: str, tmp_path: Path) -> None:
    fill(url, admin)
    export(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl")
    import_file(QueueSite.of(client, "bills"), tmp_path / "orders.jsonl")
    delayed, queue = client.delayed_queue("bills"), client.blocking_queue("bills")
    named = delayed.find("id 3")
    assert named is not None
    assert named.value == "named 3"
    assert delayed.cancel("id 3")
    assert delayed.run_now("id 4")
    assert [each.id for each in delayed.recurring()] == [f"rule {number}" for number in range(5)]
    letters = queue.dead_letters()
    assert [(each.value, each.reason, each.source) for each in letters] == [
        (f"dead {number}", "no such order", "bills") for number in range(5)
    ]
    assert queue.redrive().count == 5
    with redisson_dq.connect(url, codec=StringCodec()) as other:
        again = other.blocking_queue("bills").receive(15, timeout=5)[:5]
        assert [(each.value, each.attempt, each.reason) for each in again] == [
            (f"again {number}", 2, "once more") for number in range(5)
        ]


@pytest.mark.parametrize("keep", [1, 7, 40, 100, 123])
def test_an_export_that_was_ended_goes_on(client: Any, admin: redis.Redis, url: str, tmp_path: Path, keep: int) -> None:
    fill(url, admin)
    place = QueueSite.of(client, "orders")
    whole = export(place, tmp_path / "whole.jsonl")
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut.jsonl.part").write_bytes(b"".join(lines[:keep]) + lines[keep][:10])
    resumed = export(place, tmp_path / "cut.jsonl")
    assert (resumed.counts, resumed.exact) == (whole.counts, False)
    admin_before = contents(admin)
    admin.flushall()
    import_file(place, tmp_path / "cut.jsonl")
    assert contents(admin) == admin_before


def test_a_queue_that_lives_is_told_and_comes_back_whole(
    client: Any, admin: redis.Redis, url: str, tmp_path: Path
) -> None:
    """What came and went during the export stands in both keys of the waiting side, or in none."""
    delayed = client.delayed_queue("orders", transfer=False)
    items = [delayed.offer(f"{number}", 3600) for number in range(3000)]

    def disturb(done: int, total: int) -> None:
        if done in (500, 1500, 2500, 3500):
            for number in range(done, done + 300, 100):
                items[number % 3000].cancel()
                delayed.offer(f"new {done} {number}", 1800)

    done = export(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl", progress=disturb)
    assert not done.exact
    admin.flushall()
    imported = import_file(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl")
    assert imported.mended > 0
    waiting = {member for member, _ in admin.zscan_iter("redisson_delay_queue_timeout:{orders}")}
    assert waiting == set(admin.lrange("redisson_delay_queue:{orders}", 0, -1))
    assert admin.llen("redisson_delay_queue:{orders}") == len(waiting) >= 2900


def test_a_pause_that_a_killed_export_has_left_ends_with_the_next(
    client: Any, admin: redis.Redis, url: str, tmp_path: Path
) -> None:
    fill(url, admin)
    delayed = client.delayed_queue("orders", transfer=False)
    path = tmp_path / "orders.jsonl"
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED_EXPORT, url, str(path)], env=environment(), check=False, capture_output=True
    )
    assert (killed.returncode, delayed.is_paused()) == (9, True)
    export(QueueSite.of(client, "orders"), path)
    assert not delayed.is_paused()
    assert [each.name for each in tmp_path.iterdir()] == ["orders.jsonl"]


def test_a_pause_of_the_user_stays(client: Any, admin: redis.Redis, url: str, tmp_path: Path) -> None:
    fill(url, admin)
    delayed = client.delayed_queue("orders", transfer=False)
    delayed.pause()
    assert export(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl", pause=True).exact
    assert delayed.is_paused()
    assert [each.name for each in tmp_path.iterdir()] == ["orders.jsonl"]


def test_a_pause_makes_it_exact(client: Any, admin: redis.Redis, url: str, tmp_path: Path) -> None:
    fill(url, admin)
    before = contents(admin)
    tries = last = 0

    def disturb(done: int, total: int) -> None:
        nonlocal tries, last
        if (done < last or not tries) and tries < 2:
            tries += 1
            admin.rpush("orders", f"new {tries}")
        last = done

    assert export(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl", pause=True, progress=disturb).exact
    assert tries == 2
    assert not admin.exists("redisson_dq_settings:{orders}")
    admin.flushall()
    import_file(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl")
    before["orders"] += [b"new 1", b"new 2"]
    assert contents(admin) == before


def test_an_import_mixes_into_no_queue_unless_told(client: Any, admin: redis.Redis, tmp_path: Path) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    delayed.offer("a", 3600)
    export(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl")
    delayed.offer("b", 1800)
    with pytest.raises(ArgumentError, match=r"queue 'orders': it is not empty \(2 in 'redisson_delay_queue:"):
        import_file(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl")
    import_file(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl", merge=True)
    assert [item.value for item in delayed.items()] == ["b", "a"]
    assert admin.llen("redisson_delay_queue:{orders}") == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-200], "its last line is missing"),
        (lambda data: data.replace(b'"ready"', b'"ready" ', 1), "the digest in its last line differs"),
        (lambda data: data.replace(b'"in":"ready"', b'"in":"steady"', 1), "the part 'steady' is unknown"),
        (lambda data: data.replace(b'{"end":{', b'{"end":5,"was":{', 1), "its last line has other fields"),
        (lambda data: data + data, "there are lines after its last one"),
        (lambda data: b"{}\n" + data, "this is not an export of a queue"),
        (lambda data: data.replace(b'export":1', b'export":2', 1), "its form is 2, of a newer redisson-dq"),
        (lambda data: data.replace(b"{", b"", 1), "line 1 cannot be read"),
    ],
)
def test_a_file_that_is_not_whole_is_refused(
    client: Any, admin: redis.Redis, tmp_path: Path, change: Any, message: str
) -> None:
    client.blocking_queue("orders").add_all(["a", "b"])
    path = tmp_path / "orders.jsonl"
    export(QueueSite.of(client, "orders"), path)
    path.write_bytes(change(path.read_bytes()))
    admin.flushall()
    with pytest.raises(FileError, match=message):
        import_file(QueueSite.of(client, "orders"), path)
    assert admin.dbsize() == 0


def test_the_lines_tell_state_id_and_due(client: Any, tmp_path: Path) -> None:
    item = client.delayed_queue("orders", transfer=False).offer("late", 3600, id="a")
    client.blocking_queue("orders", transfer=False).add("now")
    path = tmp_path / "orders.jsonl"
    export(QueueSite.of(client, "orders"), path)
    header, *lines, end = map(json.loads, path.read_text().splitlines())
    assert (header["redisson_dq_export"], header["queue"]) == (1, "orders")
    (waiting,) = [line for line in lines if line["in"] == "timeout"]
    assert (waiting["state"], waiting["due_ms"]) == ("waiting", round(item.due.timestamp() * 1000))
    assert [line["state"] for line in lines if line["in"] == "ready"] == ["ready"]
    assert end["end"]["exact"] is True


_KILLED_EXPORT = """
import os, sys
from contextlib import contextmanager
from pathlib import Path
import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.migrating import QueueSite, export
with redisson_dq.connect(sys.argv[1], codec=StringCodec()) as client:
    export(QueueSite.of(client, "orders"), Path(sys.argv[2]), pause=True, progress=lambda done, total: os._exit(9))
"""
_KILLED_IMPORT = """
import itertools, os, signal, sys, redisson_dq
from pathlib import Path
from redisson_dq.migrating import QueueSite, import_file
steps = itertools.count(1)
def progress(done, total):
    if next(steps) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
with redisson_dq.connect(sys.argv[1]) as client:
    import_file(QueueSite.of(client, "orders"), Path(sys.argv[2]), progress=progress)
"""


@pytest.mark.parametrize("count", [30, by_night(200)])
def test_a_killed_import_goes_on_and_puts_nothing_in_twice(
    own_server: EmbeddedServer, tmp_path: Path, count: int
) -> None:
    path = tmp_path / "orders.jsonl"
    with (
        redis.Redis.from_url(own_server.url) as admin,
        redisson_dq.connect(own_server.url, codec=StringCodec()) as made,
    ):
        fill(own_server.url, admin, count=count)
        before = contents(admin)
        export(QueueSite.of(made, "orders"), path)
        admin.flushall()
        kills = 0
        for _ in range(100):
            command = [sys.executable, "-c", _KILLED_IMPORT, own_server.url, str(path)]
            importing = subprocess.run(command, env=environment(), check=False)
            # A kill may come when all is in: then no note says that the import goes on.
            if importing.returncode == 0 or (admin.dbsize() and not admin.exists("redisson_dq_migrating:{orders}")):
                break
            kills += 1
            assert importing.returncode == -signal.SIGKILL
        assert kills >= 2
        eventually(lambda: not admin.exists("redisson_dq_migrating:{orders}"))
        assert contents(admin) == before


def test_an_import_that_stood_still_puts_nothing_in_behind_another(
    client: Any, admin: redis.Redis, url: str, tmp_path: Path
) -> None:
    """Two imports of one file: one ends while the other is between two batches."""
    with redisson_dq.connect(url, codec=StringCodec()) as other:
        values = [f"value {number}" for number in range(1500)]
        other.blocking_queue("orders", transfer=False).add_all(values)
        export(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl")
        admin.flushall()
        ended: list[Any] = []

        def first_batch(done: int, _: int) -> None:
            if not ended:
                ended.append(import_file(QueueSite.of(other, "orders"), tmp_path / "orders.jsonl"))

        with pytest.raises(ArgumentError, match="another import of this file has ended"):
            import_file(QueueSite.of(client, "orders"), tmp_path / "orders.jsonl", progress=first_batch)
        assert [each.resumed_at for each in ended] == [500]
        assert other.blocking_queue("orders").read_all() == values
    assert not admin.exists("redisson_dq_migrating:{orders}")


def test_an_export_of_partitions_goes_on_by_one_call(client: Any, admin: redis.Redis, tmp_path: Path) -> None:
    whole = client.blocking_queue("orders", partitions=3, transfer=False)
    for number in range(30):
        whole.add(f"value {number}")
    sites, path = sites_of(client, "orders"), tmp_path / "orders.jsonl"
    begun: list[str] = []

    @contextmanager
    def shown(place: QueueSite) -> Iterator[Any]:
        begun.append(place.name)
        if len(begun) == 2:
            raise KeyboardInterrupt
        yield lambda done, total: None

    with pytest.raises(KeyboardInterrupt):
        export_all(sites, path, progress=shown)
    first = (tmp_path / "orders.0.jsonl").stat().st_mtime_ns
    done = export_all(sites, path, progress=shown)
    assert begun == [each.name for each in (*sites[:2], *sites[1:])]
    assert (tmp_path / "orders.0.jsonl").stat().st_mtime_ns == first
    assert sum(each.counts.get("ready", 0) for _, each in done) == 30
    assert sorted(each.name for each in tmp_path.iterdir()) == [f"orders.{number}.jsonl" for number in range(3)]
    with pytest.raises(ArgumentError, match="an export replaces none"):
        export_all(sites, path, progress=shown)
    admin.flushall()
    for site, (file, _) in zip(sites, done, strict=True):
        import_file(site, file)
    values = [value for part in whole.partitions for value in part.read_all()]
    assert sorted(values) == sorted(f"value {number}" for number in range(30))


def test_two_exports_write_no_file_at_once(client: Any, admin: redis.Redis, url: str, tmp_path: Path) -> None:
    fill(url, admin)
    path = tmp_path / "orders.jsonl"

    def once_more(done: int, _: int) -> None:
        with pytest.raises(ArgumentError, match="another export writes"):
            export(QueueSite.of(client, "orders"), path)

    export(QueueSite.of(client, "orders"), path, progress=once_more)
    assert import_file(QueueSite.of(client, "bills"), path).counts


def test_a_full_disk_is_told_and_the_export_goes_on(client: Any, admin: redis.Redis, url: str, tmp_path: Path) -> None:
    fill(url, admin)
    command = [sys.executable, "-m", "redisson_dq", "export", "orders", "--to", "orders.jsonl", "--url", url]
    limited = ["bash", "-c", 'ulimit -f 4; exec "$@"', "bash", *command]
    # Else the compiled form of a module may be cut off, and every later process would read that.
    env = {**environment(), "PYTHONDONTWRITEBYTECODE": "1"}
    full = subprocess.run(limited, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert full.returncode == 1
    assert "File too large: a file cannot be written any further" in full.stderr
    assert "Traceback" not in full.stderr
    subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, check=True)
    assert import_file(QueueSite.of(client, "bills"), tmp_path / "orders.jsonl").counts


def interrupted(command: list[str], cwd: Path, server: EmbeddedServer, *, begun: Callable[[], bool]) -> str:
    """The standard error of a command that Ctrl-C ends in the middle: the server stands still meanwhile."""
    assert server.pid is not None
    with subprocess.Popen(command, cwd=cwd, env=environment(), stderr=subprocess.PIPE, text=True) as run:
        try:
            eventually(begun)
            os.kill(server.pid, signal.SIGSTOP)
            run.send_signal(signal.SIGINT)
            _, told = run.communicate(timeout=PATIENCE)
        finally:
            os.kill(server.pid, signal.SIGCONT)
    assert run.returncode == 128 + signal.SIGINT, told
    return told


def line_to_go_on(told: str) -> list[str]:
    (line,) = [line.removeprefix("to go on: ") for line in told.splitlines() if line.startswith("to go on: ")]
    assert shlex.split(line)[0] == "redisson-dq"
    return [sys.executable, "-m", "redisson_dq", *shlex.split(line)[1:]]


def test_a_command_that_was_ended_names_the_one_that_goes_on(
    own_server: EmbeddedServer, second: EmbeddedServer, tmp_path: Path
) -> None:
    count = 20_000
    with redisson_dq.connect(own_server.url, codec=StringCodec()) as made:
        made.blocking_queue("orders", transfer=False).add_all([f"value {number}" for number in range(count)])
    command = [sys.executable, "-m", "redisson_dq"]
    exporting = [*command, "export", "orders", "--to", "an export", "--url", own_server.url]
    part = tmp_path / "an export.part"
    told = interrupted(exporting, tmp_path, own_server, begun=lambda: part.exists() and part.stat().st_size > 0)
    subprocess.run(line_to_go_on(told), cwd=tmp_path, env=environment(), check=True, timeout=PATIENCE)
    importing = [*command, "import", "an export", "--to-url", second.url, "--to-name", "bills", "--yes"]
    with redis.Redis.from_url(second.url) as there:
        importing += ["--url", own_server.url]
        told = interrupted(importing, tmp_path, second, begun=lambda: bool(there.llen("bills")))
        assert 0 < there.llen("bills") < count
        subprocess.run(line_to_go_on(told), cwd=tmp_path, env=environment(), check=True, timeout=PATIENCE)
        assert there.llen("bills") == count


def test_a_command_that_has_changed_nothing_names_none(url: str, tmp_path: Path, client: Any) -> None:
    client.blocking_queue("orders", transfer=False).add("a")
    command = [sys.executable, "-m", "redisson_dq", "export", "orders", "--to", "file", "--url", url]
    for code in (0, 64):
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
        assert "to go on" not in done.stderr
        assert done.returncode == code, done.stderr
