"""The last version and this one on the same queues: nothing is lost, and each continues the other's work.

``tests/last_version.txt`` names the commit of the last version. CONTRIBUTING.md says when it moves.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.wire.forms import FORMS
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from tests.conftest import PATIENCE, environment, eventually
from tests.integration.whereabouts import whereabouts

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[3]
NAMED = ROOT / "tests" / "last_version.txt"
PROCESS = Path(__file__).parents[1] / "version_process.py"
LAST, THIS = "last", "this"
BOTH = [(LAST, THIS), (THIS, LAST)]


def git(*words: str) -> bytes:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True)
    if done.returncode:
        why = done.stderr.decode().strip() or "it is no ancestor of HEAD"
        pytest.fail(
            f"the last version, the commit in {NAMED.relative_to(ROOT)}, cannot be read: git {' '.join(words)}: {why}. "
            "This test needs a clone with the whole history (git fetch --unshallow), and no tree from a source "
            "distribution",
            pytrace=False,
        )
    return done.stdout


@pytest.fixture(scope="module")
def last_version(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library as it was in the commit of the last version."""
    commit = NAMED.read_text().strip()
    git("merge-base", "--is-ancestor", commit, "HEAD")
    folder = tmp_path_factory.mktemp("last-version")
    with tarfile.open(fileobj=BytesIO(git("archive", "--format=tar", commit, "redisson_dq"))) as tar:
        # Before Python 3.11.4 extractall() has no filter=.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(folder)
    return folder


class Process:
    """One process of a version. What it logs is kept, and nothing in it may be an error."""

    def __init__(self, path: Path, url: str, call: str, arguments: dict[str, Any], log: Path) -> None:
        self.log = log
        with log.open("w") as told:
            self._process = subprocess.Popen(
                [sys.executable, str(PROCESS), url, call, json.dumps(arguments)],
                env={**environment(), "PYTHONPATH": str(path)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=told,
                text=True,
            )

    def told(self) -> Any:
        """The next line of its output."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, self.log.read_text()
        return json.loads(line)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def end(self) -> None:
        """Ends its input, and waits for it."""
        self._process.communicate()
        assert self._process.returncode == 0, self.log.read_text()

    def checked(self) -> None:
        text = self.log.read_text()
        for sign in ("Traceback", "ERROR", "newer version", "transfer failed", "no envelope format"):
            assert sign not in text, text


class Fleet:
    """Starts processes of both versions."""

    def __init__(self, url: str, last: Path, folder: Path) -> None:
        self._url, self._paths, self._folder = url, {LAST: last, THIS: ROOT}, folder
        self._all: list[Process] = []

    def start(self, version: str, call: str, **arguments: Any) -> Process:
        log = self._folder / f"{len(self._all)}-{version}-{call}.log"
        process = Process(self._paths[version], self._url, call, arguments, log)
        self._all.append(process)
        return process

    def told(self, version: str, call: str, **arguments: Any) -> Any:
        """The output of a call that ends by itself."""
        process = self.start(version, call, **arguments)
        told = process.told()
        process.end()
        return told

    def ready(self, version: str, call: str, **arguments: Any) -> Process:
        process = self.start(version, call, **arguments)
        assert process.told() == "ready"
        return process

    def close(self) -> None:
        for process in self._all:
            process.kill()
        for process in self._all:
            process.checked()


@pytest.fixture
def fleet(own_server: Any, last_version: Path, tmp_path: Path) -> Iterator[Fleet]:
    with ExitStack() as stack:
        made = Fleet(own_server.url, last_version, tmp_path)
        stack.callback(made.close)
        yield made


@pytest.fixture
def admin(own_server: Any) -> Iterator[Any]:
    import redis

    with redis.Redis.from_url(own_server.url) as client:
        yield client


def test_each_process_runs_its_version(fleet: Fleet, last_version: Path) -> None:
    assert Path(fleet.told(LAST, "place")).is_relative_to(last_version)
    assert Path(fleet.told(THIS, "place")).is_relative_to(ROOT)


def test_this_version_writes_what_the_last_one_reads(fleet: Fleet) -> None:
    reads = fleet.told(LAST, "forms")
    assert {name: form.writes for name, form in FORMS.items() if form.writes > reads.get(name, 0)} == {}


@pytest.mark.parametrize(("before", "after"), BOTH)
def test_one_version_goes_on_with_what_the_other_left(fleet: Fleet, admin: Any, before: str, after: str) -> None:
    assert fleet.told(before, "leave") == "left"
    found = fleet.told(after, "go_on")
    kept = ["context", "equal", "kept", "moved", "plain", "replaced anew"]
    assert found == {
        "mirrored found": "mirrored kept",
        "lean found": "lean kept",
        **{f"{name} cancelled": "cancelled" for name in ("mirrored", "lean")},
        **{f"{name} moved": "rescheduled" for name in ("mirrored", "lean")},
        **{f"{name} duplicate": "waiting" for name in ("mirrored", "lean")},
        **{f"{name} equal": "waiting" for name in ("mirrored", "lean")},
        "recurring": ["cron", "every", "soon"],
        "declared again": "kept",
        "late": ["expired", "expired"],
        "taken": sorted([f"{name} {each}" for name in ("mirrored", "lean") for each in kept] + ["tick", "tock"]),
        "contexts": {f"{name} context": {"from": "before"} for name in ("mirrored", "lean")},
        "acked": ["acked"],
        "values": {
            "failed": [2, 1, 0, "broken"],
            "waits": [2, 1, 0, "later"],
            "handed": [1, 0, 0, ""],
            "crashed": [2, 0, 1, ""],
        },
        "values acked": ["acked"],
        "dead": [["rejected", "bad", 1]],
        "redriven": 1,
        "again": ["rejected", 1, "acked"],
        "paused": [True, [], 1],
        "full": True,
        "resumed": ["a"],
        "aside": [[], []],
    }
    assert whereabouts(admin, "values").total == Counter()


def test_the_last_version_leaves_a_rule_with_missed_to_this_one(fleet: Fleet, admin: Any, own_server: Any) -> None:
    """It delivers the occurrence that waits. A process of this version makes the next ones, also in reserve."""
    old = fleet.ready(LAST, "move")
    with redisson_dq.connect(own_server.url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        delayed.offer_recurring("a", "tick", every=0.5, missed="all")
        eventually(lambda: admin.llen("orders") == 1)
        eventually(lambda: "form 2" in old.log.read_text())
        assert (admin.llen("orders"), [offer.id for offer in delayed.recurring()]) == (1, ["tick"])
        fleet.ready(THIS, "move")
        eventually(lambda: admin.llen("orders") >= 8)
    old.kill()
    # It is to say so, once.
    assert old.log.read_text().count("ERROR") == old.log.read_text().count("form 2") <= 1
    old.log.write_text("")


_GIVES_BACK = """
import sys, redisson_dq
with redisson_dq.connect(sys.argv[1], codec=redisson_dq.codecs.StringCodec()) as client:
    delivery = client.blocking_queue("orders").receive(timeout=20)
    print(delivery.attempt, delivery.context["from"], delivery.nack().value)
"""


def test_the_last_version_passes_a_cursor_on(own_server: Any, last_version: Path) -> None:
    with redisson_dq.connect(own_server.url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        client.delayed_queue("orders").offer("a", 0, id="a-1", context={"from": "here"})
        delivery = queue.receive(timeout=PATIENCE)
        assert delivery is not None
        assert delivery.save({"row": 41500})
        assert delivery.nack()
        told = subprocess.run(
            [sys.executable, "-c", f"import redisson_dq.codecs{_GIVES_BACK}", own_server.url],
            env={**environment(), "PYTHONPATH": str(last_version)},
            capture_output=True,
            text=True,
        )
        assert told.stdout.split() == ["2", "here", "returned"], told.stderr
        again = queue.receive(timeout=PATIENCE)
        assert again is not None
        assert (again.attempt, again.offer_id, again.context) == (3, "a-1", {"from": "here"})
        assert again.cursor == {"row": 41500}


def test_a_mixed_fleet_delivers_each_item_once(fleet: Fleet, admin: Any) -> None:
    """Movers and receivers of both versions are killed in turn. Values that a dead receiver held come again."""
    movers = [fleet.ready(version, "move") for version in (LAST, THIS)]
    receivers = [
        fleet.ready(version, "lease", seed=seed, visibility=1.0)
        for seed, version in enumerate((LAST, THIS, LAST, THIS))
    ]
    redrives = [fleet.ready(version, "redrive") for version in (LAST, THIS)]
    producers = [
        fleet.start(version, "offer", name=f"{version}{seed}", count=1500, seed=seed)
        for seed, version in enumerate((LAST, THIS))
    ]
    versions = [LAST, THIS]
    for turn in range(12):
        version = versions[turn % 2]
        time.sleep(0.5)
        movers[turn % 2].kill()
        movers[turn % 2] = fleet.ready(version, "move")
        receivers[turn % 4].kill()
        receivers[turn % 4] = fleet.ready(version, "lease", seed=100 + turn, visibility=1.0)
    expected = Counter(value.encode() for producer in producers for value in producer.told())
    assert set(expected.values()) == {1}
    eventually(lambda: admin.llen("done") >= len(expected), within=10 * PATIENCE)
    eventually(lambda: not whereabouts(admin).total, within=4 * PATIENCE)
    assert Counter(admin.lrange("done", 0, -1)) == expected
    keys = QueueKeys.of("orders")
    assert not admin.exists(keys.quarantine, keys.newer, keys.undecodable, keys.expired, keys.envelopes)
    assert not admin.exists(keys.leases, DeadKeys.belonging_to("orders").dead)
    for each in redrives:
        each.end()


def test_workers_of_both_versions_keep_keys_and_limits(fleet: Fleet, admin: Any) -> None:
    workers = [fleet.ready(version, "work", seed=seed) for seed, version in enumerate((LAST, THIS, LAST, THIS))]
    values = [f"{key}-{number}" for number in range(40) for key in "abcdefgh"]
    for start in range(0, len(values), 80):
        admin.rpush("jobs", *values[start : start + 80])
        # One of them stops in order, and another one of its version comes.
        turn = start // 80
        workers[turn].end()
        workers[turn] = fleet.ready((LAST, THIS)[turn % 2], "work", seed=10 + turn)
    eventually(lambda: sum(line.startswith(b"done ") for line in admin.lrange("log", 0, -1)) >= len(values), within=300)
    for each in workers:
        each.end()
    at_work: set[str] = set()
    done: list[str] = []
    for line in admin.lrange("log", 0, -1):
        step, value = line.decode().split(" ")
        key = value.partition("-")[0]
        if step == "begin":
            assert key not in at_work, f"two values of {key!r} at a time"
            at_work.add(key)
            assert len(at_work) <= 3, "beyond the limit"
        else:
            at_work.remove(key)
            done += [value] if step == "done" else []
    assert Counter(done) == Counter(values)
    for key in "abcdefgh":
        assert [value for value in done if value.startswith(key)] == [
            value for value in values if value.startswith(key)
        ]
    assert whereabouts(admin, "jobs").total == Counter()


def test_a_history_beside_the_last_version(fleet: Fleet, own_server: Any) -> None:
    """The last version offers, moves and takes, and notes what it knows of histories: nothing fails for them."""
    with redisson_dq.connect(own_server.url, codec=StringCodec()) as client:
        delayed, queue = client.delayed_queue("orders", transfer=False), client.blocking_queue("orders", transfer=False)
        delayed.set_history(1000)
        mover = fleet.ready(LAST, "move")
        delivered = fleet.told(LAST, "offer", name="x", count=20, seed=1)
        for value in ("a", "b"):
            delayed.offer(value, 0, id=value)
        taken: list[str] = []
        while len(taken) < len(delivered) + 2:
            held = queue.receive(timeout=PATIENCE)
            assert held is not None
            assert held.ack()
            taken.append(held.value)
        assert sorted(taken) == sorted([*delivered, "a", "b"])
        mover.end()
        for value in ("a", "b"):
            whats = [event.what for event in delayed.history(value)]
            assert (whats[0], whats[-2:]) == ("offered", ["delivered", "done"])
        counts = Counter(event.what for event in delayed.history())
        assert counts["delivered"] == counts["done"] == len(taken)


def test_a_limit_by_key_beside_the_last_version(fleet: Fleet, admin: Any) -> None:
    """The last version does not keep it. It loses no value and no key that this version has parked."""
    workers = [
        fleet.ready(LAST, "work", seed=1),
        *(fleet.ready(THIS, "work", seed=seed, by_key=True) for seed in (2, 3)),
    ]
    values = [f"{key}{part}-{number}" for number in range(20) for part in range(6) for key in "ab"]
    admin.rpush("jobs", *values)
    eventually(lambda: sum(line.startswith(b"done ") for line in admin.lrange("log", 0, -1)) >= len(values), within=300)
    for each in workers:
        each.end()
    done = [line.decode().split(" ")[1] for line in admin.lrange("log", 0, -1) if line.startswith(b"done ")]
    assert Counter(done) == Counter(values)
    for key in {value.partition("-")[0] for value in values}:
        assert [each for each in done if each.startswith(key + "-")] == [
            each for each in values if each.startswith(key + "-")
        ]
    assert whereabouts(admin, "jobs").total == Counter()
    keys = QueueKeys.of("jobs")
    assert {member[:1] for member in admin.zrange(keys.lines, 0, -1)} <= {b"c", b"p", b"s"}, (
        "what was void and is dropped"
    )
