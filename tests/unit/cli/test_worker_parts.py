"""The parts of ``redisson-dq worker`` that need no process: arguments, loading, back-off, changed files, probes."""

from __future__ import annotations

import json
import math
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from redisson_dq.aio.worker import Worker as AsyncWorker
from redisson_dq.cli import main
from redisson_dq.cli.worker import command
from redisson_dq.cli.worker.changes import Changes
from redisson_dq.cli.worker.child import memory
from redisson_dq.cli.worker.children import Child, ChildOptions
from redisson_dq.cli.worker.health import Health, HealthServer
from redisson_dq.cli.worker.loading import LoadError, OwnCodeError, load
from redisson_dq.cli.worker.restarts import RestartBackoff, Shortage
from redisson_dq.cli.worker.service_manager import ServiceManager
from redisson_dq.errors import ArgumentError, RedissonDQError
from redisson_dq.worker import Worker


def arguments(*argv: str) -> SimpleNamespace:
    return SimpleNamespace(**command.make_context("worker", list(argv)).params)


class TestArguments:
    def test_the_defaults(self) -> None:
        assert vars(arguments("shop:worker")) == {
            "target": "shop:worker",
            "processes": 1,
            "url": None,
            "redisson_config": None,
            "grace": None,
            "max_jobs": None,
            "max_memory": None,
            "silence": 60.0,
            "health_port": None,
            "health_host": "127.0.0.1",
            "metrics_port": None,
            "metrics_host": "127.0.0.1",
            "hosts": (),
            "reload": False,
            "check": False,
            "log_level": "INFO",
            "as_json": False,
        }

    def test_json_goes_with_a_check(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["worker", "shop:worker", "--json"]) == 64
        assert "--json goes with --check" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("text", "size"), [("1", 1), ("4096", 4096), ("3k", 3 << 10), ("512M", 512 << 20), ("2G", 2 << 30)]
    )
    def test_sizes(self, text: str, size: int) -> None:
        assert arguments("shop:worker", "--max-memory", text).max_memory == size

    @pytest.mark.parametrize(
        "argv",
        [
            ["--processes", "0"],
            ["--processes", "1.5"],
            ["--max-jobs", "0"],
            ["--max-memory", "0"],
            ["--max-memory", "M"],
            ["--max-memory", "1.5G"],
            ["--max-memory", "-1"],
            ["--grace", "-1"],
            ["--grace", "nan"],
            ["--grace", "inf"],
            ["--silence", "soon"],
            ["--health-port", "65536"],
            ["--health-port", "-1"],
            ["--log-level", "loud"],
        ],
    )
    def test_what_cannot_be_used_is_a_usage_error(self, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["worker", "shop:worker", *argv]) == 64
        assert argv[0] in capsys.readouterr().err

    def test_a_target_has_to_be_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["worker"]) == 64
        assert "MODULE:NAME" in capsys.readouterr().err

    def test_help_has_the_exit_codes(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["worker", "--help"]) == 0
        assert "exit codes:" in capsys.readouterr().out


_PROGRAM = """
from redisson_dq.aio.worker import Worker as AsyncWorker
from redisson_dq.worker import Worker
import redisson_dq

def declared(made):
    made.handler("orders")(print)
    return made

worker = declared(Worker.connect("redis://localhost:1"))
in_a_loop = declared(AsyncWorker.connect("redis://localhost:1"))
without_handlers = Worker.connect("redis://localhost:1")
number = 42

class settings:
    worker = worker

def made():
    return worker

def fails():
    raise KeyError("no")
"""


class TestLoading:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        (tmp_path / "load_shop.py").write_text(_PROGRAM)
        (tmp_path / "load_broken.py").write_text("1 / 0")
        (tmp_path / "load_runs.py").write_text(_PROGRAM + "\nworker.run()\n")
        (tmp_path / "load_runs_a_loop.py").write_text(_PROGRAM + "\nimport asyncio\nasyncio.run(in_a_loop.run())\n")
        (tmp_path / "load_asks.py").write_text("import no_such_package")
        (tmp_path / "load_package").mkdir()
        (tmp_path / "load_package" / "work.py").write_text(_PROGRAM)
        (tmp_path / "load_exits.py").write_text("raise SystemExit(0)")

    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("load_shop", Worker),
            ("load_shop:worker", Worker),
            ("load_shop:settings.worker", Worker),
            ("load_shop:made", Worker),
            ("load_shop:in_a_loop", AsyncWorker),
        ],
    )
    def test_found(self, name: str, kind: type) -> None:
        worker = load(name, None)
        assert isinstance(worker, kind)
        assert worker.queues == ["orders"]
        assert not worker.is_running

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("load_shop:nothing", "has no 'nothing'"),
            ("load_shop:number", "is 42, and no Worker"),
            ("load_shop:settings.number", "has no 'settings.number'"),
            ("load_shop:without_handlers", "has no handlers"),
            ("load_shop:fails", "cannot be called: KeyError"),
            ("load_broken", "cannot be imported: ZeroDivisionError"),
            ("load_runs", "cannot be imported: ArgumentError: worker: its module starts it"),
            ("load_runs_a_loop", "cannot be imported: ArgumentError: worker: its module starts it"),
            ("load_exits", "cannot be imported: SystemExit: 0"),
            ("load_asks", "cannot be imported: ModuleNotFoundError: No module named 'no_such_package'"),
            ("load_nowhere:worker", "there is no module 'load_nowhere', here"),
            ("load_shp", "did you mean load_shop?"),
            ("load_package.wrok", "did you mean load_package.work?"),
            ("load_shop.worker", "'load_shop' is a module; did you mean load_shop:worker?"),
            ("load_shop:wrker", "has no 'wrker'; did you mean load_shop:worker?"),
            ("load_shop.py", "is a file, but a worker is named by its module: use load_shop:worker"),
            ("load_package/work.py:made", "use load_package.work:made"),
            ("../elsewhere/shop.py", "use shop:worker in the directory ../elsewhere"),
            ("load shop", "names no worker"),
            (":worker", "names no worker"),
            ("", "names no worker"),
            (".work:worker", "names no worker"),
        ],
    )
    def test_not_found(self, name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(LoadError, match=message):
            load(name, None)
        capsys.readouterr()
        assert main(["worker", name, "--check"]) == (70 if "cannot be" in message else 1)
        told = capsys.readouterr().err
        assert message in told.splitlines()[-1]
        # Only what the user's code raised has a traceback.
        assert told.startswith("Traceback") == ("cannot be" in message)

    def test_the_traceback_is_the_users_part(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "load_deep.py").write_text("import load_deeper")
        (tmp_path / "load_deeper.py").write_text(
            "from redisson_dq.worker import Worker\n"
            "def down(n):\n    return Worker.connect('redis://x', codecs=1) if n == 0 else down(n - 1)\n"
            "down(9)\n"
        )
        with pytest.raises(OwnCodeError, match="UnknownOptionError: "):
            load("load_deep", None)
        told = capsys.readouterr().err
        assert told.startswith("Traceback (most recent call last):\n  (7 calls before)\n")
        assert "loading.py" not in told
        assert "client.py" not in told
        assert told.endswith("Worker.connect() has no option 'codecs'; did you mean 'codec'?\n")

    def test_another_url(self) -> None:
        load("load_shop", "redis://elsewhere:1")
        with pytest.raises(ArgumentError, match="http://"):
            load("load_shop", "http://elsewhere")

    def test_a_file_of_redissons_settings(self, tmp_path: Path) -> None:
        path = tmp_path / "redisson.json"
        path.write_text('{"singleServerConfig": {"address": "redis://elsewhere:1"}}', "utf-8")
        load("load_shop", None, str(path))
        path.write_text('{"singleServerConfig": {"address": "elsewhere:1"}}', "utf-8")
        with pytest.raises(ArgumentError, match="address cannot be taken over"):
            load("load_shop", None, str(path))

    def test_a_url_and_a_file_are_one_too_many(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["worker", "shop:worker", "--url", "redis://h", "--redisson-config", "redisson.yaml"]) == 64
        assert "--url and --redisson-config both name a server: give one of them" in capsys.readouterr().err

    def test_a_client_of_the_users_has_no_url(self) -> None:
        import redis

        import redisson_dq

        worker = Worker(redisson_dq.Client(redis.Redis(port=1)))
        with pytest.raises(ArgumentError, match=r"Worker\.connect\(url\)"):
            worker.set_url("redis://elsewhere:1")


class TestBackoff:
    def test_each_death_soon_after_doubles_the_pause(self) -> None:
        backoff = RestartBackoff()
        assert [backoff.died(100.0, 1.0) for _ in range(9)] == [0, 0.5, 1, 2, 4, 8, 16, 30, 30]
        assert backoff.wait(100.0) == 30
        assert backoff.wait(129.0) == 1
        assert backoff.wait(130.0) == 0
        assert [backoff.died(200.0, 1.0) for _ in range(3000)] == [30] * 3000

    def test_one_that_ran_for_long_is_replaced_at_once(self) -> None:
        backoff = RestartBackoff()
        assert [backoff.died(100.0, each) for each in (1.0, 1.0, 10.0, 1.0, 9.9)] == [0, 0.5, 0, 0.5, 1]


class TestShortage:
    def test_each_failed_try_doubles_the_pause(self) -> None:
        shortage = Shortage()
        assert shortage.ended(99.0) is None
        firsts, waits = [], []
        for _ in range(9):
            firsts.append(shortage.failed(100.0, "no descriptor"))
            waits.append(shortage.wait(100.0))
        assert firsts == [True] + [False] * 8
        assert waits == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5])
        assert shortage.reason == "no descriptor"
        assert shortage.ended(130.0) == 30
        assert shortage.wait(100.0) == 0
        assert shortage.ended(130.0) is None
        assert shortage.failed(140.0, "no process")
        assert shortage.wait(140.0) == pytest.approx(0.1)


class TestChild:
    @pytest.fixture
    def child(self) -> Iterator[Child]:
        options = ChildOptions(
            target="no_such_module",
            url=None,
            redisson_config=None,
            grace=30.0,
            max_jobs=None,
            max_memory=None,
            log_level="INFO",
        )
        child = Child(options)
        yield child
        child.kill()
        child.process.wait()
        child.socket.close()

    def test_a_second_stop_ends_the_grace(self, child: Child) -> None:
        now = time.monotonic()
        assert not child.is_stopping
        assert not child.is_overdue(now + 1000)
        child.stop()
        assert child.is_stopping
        assert not child.is_overdue(now + 40)
        assert child.is_overdue(now + 50)
        child.stop()
        assert child.is_overdue(now + 20)

    def test_one_that_was_killed_is_not_killed_again(self, child: Child) -> None:
        child.stop()
        child.kill()
        child.stop()
        assert (child.is_killed, child.is_stopping, child.is_overdue(math.inf)) == (True, True, False)

    def test_the_death_of_one_that_hung_is_a_failure_until_it_is_asked_to_stop(self, child: Child) -> None:
        child.kill()
        assert (child.is_killed, child.is_stopping) == (True, False)
        child.stop()
        assert (child.is_killed, child.is_stopping) == (True, True)

    def test_it_leaves_for_its_own_reason_first(self, child: Child) -> None:
        assert child.leaves is None
        child.replace("SIGHUP")
        assert child.leaves == "SIGHUP"
        child.report = attrs.evolve(child.report, leaves="it has 9 MB of memory")
        assert child.leaves == "it has 9 MB of memory"


class TestChanges:
    def test_written_made_and_removed(self, tmp_path: Path) -> None:
        kept, gone = tmp_path / "kept.py", tmp_path / "shop" / "gone.py"
        gone.parent.mkdir()
        for path in (kept, gone):
            path.write_text("1")
        changes = Changes(str(tmp_path))
        assert changes.changed(100.0) == []
        (tmp_path / "page.md").write_text("1")
        assert changes.changed(101.0) == []
        gone.unlink()
        (tmp_path / "new.py").write_text("1")
        os.utime(kept, ns=(1, 1))
        assert changes.changed(101.4) == []
        assert changes.wait(101.4) == pytest.approx(0.1)
        assert changes.changed(101.5) == sorted([str(gone), str(tmp_path / "new.py"), str(kept)])

    def test_what_is_not_ours(self, tmp_path: Path) -> None:
        for name in ("__pycache__", ".git", "node_modules", "site-packages", "env"):
            (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / "env" / "pyvenv.cfg").write_text("")
        changes = Changes(str(tmp_path))
        for folder in tmp_path.iterdir():
            (folder / "inner" / "a.py").write_text("1")
        assert changes.changed(100.0) == []


class TestServiceManager:
    def test_without_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"):
            monkeypatch.delenv(name, raising=False)
        manager = ServiceManager()
        manager.tell("READY=1")
        assert manager.wait(100.0) == math.inf

    @pytest.mark.parametrize("abstract", [False, True])
    def test_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool) -> None:
        address = f"@redisson-dq-{os.getpid()}" if abstract else str(tmp_path / "notify")
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        monkeypatch.setenv("WATCHDOG_USEC", "3000000")
        monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind("\0" + address[1:] if abstract else address)
            listener.settimeout(5)
            manager = ServiceManager()
            manager.tell("READY=1")
            assert listener.recv(100) == b"READY=1"
            for now in (100.0, 101.4, 101.5):
                manager.keep_alive(now)
                assert manager.wait(now) == pytest.approx(0.1 if now == 101.4 else 1.5)
            assert [listener.recv(100), listener.recv(100)] == [b"WATCHDOG=1"] * 2
        # It is gone.
        manager.tell("STOPPING=1")

    def test_one_that_reads_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        address = str(tmp_path / "notify")
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
            listener.bind(address)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as filler:
                filler.setblocking(False)
                with pytest.raises(BlockingIOError):
                    _fill(filler, address)
            # It returns.
            ServiceManager().tell("READY=1")
            assert listener.recv(100) == b"full"

    @pytest.mark.parametrize(("pid", "limit"), [("1", "3000000"), ("own", "soon"), ("own", "0")])
    def test_no_watchdog(self, monkeypatch: pytest.MonkeyPatch, pid: str, limit: str) -> None:
        monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()) if pid == "own" else pid)
        monkeypatch.setenv("WATCHDOG_USEC", limit)
        assert ServiceManager().wait(100.0) == math.inf


class TestHealth:
    @pytest.mark.parametrize(
        ("consuming", "stopping", "live", "ready"),
        [(2, False, 200, 200), (1, False, 200, 503), (0, False, 503, 503), (0, True, 200, 503), (2, True, 200, 503)],
    )
    def test_answers(self, consuming: int, stopping: bool, live: int, ready: int) -> None:
        state = Health(wanted=2, running=2, consuming=consuming, stopping=stopping)
        health = HealthServer("127.0.0.1", 0, lambda: state)
        try:
            found: dict[str, Any] = {path: _asked(health.port, path) for path in ("/live", "/ready?now", "/", "/livex")}
        finally:
            health.close()
        assert [status for status, _ in found.values()] == [live, ready, 404, 404]
        told = {"wanted": 2, "running": 2, "consuming": consuming, "stopping": stopping, "problems": []}
        assert found["/live"][1] == told

    def test_a_handler_that_does_not_get_on_is_reported_and_kills_no_process(self) -> None:
        state = Health(wanted=2, running=2, consuming=0, stalled=2, stopping=False, problems=("handle",))
        assert (state.is_live, state.is_ready) == (True, False)

    def test_an_ipv6_address(self) -> None:
        # That of IPv4's loopback, which is there where IPv6 has no network.
        health = HealthServer("::ffff:127.0.0.1", 0, lambda: Health(wanted=1, running=1, consuming=1, stopping=False))
        try:
            assert _asked(health.port, "/ready")[0] == 200
        finally:
            health.close()

    def test_a_port_that_is_taken(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with pytest.raises(RedissonDQError, match=f"the health port 127.0.0.1:{port} cannot be opened"):
                HealthServer("127.0.0.1", port, lambda: Health(wanted=1, running=1, consuming=1, stopping=False))


def _fill(filler: socket.socket, address: str) -> None:
    for _ in range(100_000):
        filler.sendto(b"full", address)


def _asked(port: int, path: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_memory_is_what_this_process_has() -> None:
    before = memory()
    held = bytearray(os.urandom(1)) * (64 << 20)
    assert memory() - before > len(held) // 2
