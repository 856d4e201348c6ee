"""``redisson-dq worker`` while its system gives no descriptor or process, and while its health port is held."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.cli import serving
from tests.conftest import PATIENCE, by_night, eventually
from tests.flavours import Flavour
from tests.integration.commands import (
    THREADS,
    WORKERS,
    Command,
    asked,
    children,
    command,
    done,
    ended,
    free_port,
    in_hand,
)

pytestmark = [
    pytest.mark.usefixtures("server"),
    pytest.mark.parametrize("server", ["redis"], indirect=True),
]
# Most of it is the same for both flavours.
in_threads = pytest.mark.parametrize("flavour", ["sync"], indirect=True)


def descriptors(pid: int) -> list[int]:
    return sorted(int(path.name) for path in Path(f"/proc/{pid}/fd").iterdir())


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


@contextmanager
def no_descriptors(made: Command) -> Iterator[None]:
    """The command can open nothing more. Its worker processes have limits of their own."""
    pid = made.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # All numbers below the limit are taken: whatever is free below the highest one that is open gets taken, too.
    highest = max(descriptors(pid))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (min(set(range(highest + 2)) - set(descriptors(pid))), before[1]))
    try:
        yield
    finally:
        if made.process.poll() is None:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def health_options() -> tuple[int, list[str]]:
    port = free_port()
    return port, ["--processes", "2", "--health-port", str(port), "--health-host", "127.0.0.1"]


def test_without_descriptors(url: str, flavour: Flavour, admin: Any, queue: Any) -> None:
    """A process dies meanwhile. The others go on, and what it had in hand comes back when there are descriptors."""
    port, options = health_options()
    target = f"tests.workers.of_the_command:{WORKERS[flavour.name]}"
    with command(url, target, *options, seconds=1000) as made:
        eventually(lambda: asked(port, "/ready")[0] == 200)
        queue.add_all(["once-a", "once-b"])
        eventually(lambda: in_hand(admin) == 2)
        dies, lives = children(made)
        with no_descriptors(made):
            os.kill(dies, signal.SIGKILL)
            made.until("no process can be started; retrying")
            made.until("cannot be handed back now; retrying")
            status, told = asked(port, "/ready")
            assert (status, told["consuming"]) == (503, 1)
            assert told["problems"] == ["no process can be started: [Errno 24] Too many open files"]
            assert asked(port, "/live")[0] == 200
            assert children(made) == [lives]
        made.until("processes can be started again, after")
        made.until("a process died, and its values are ready again: 1")
        eventually(lambda: len(done(admin)) == 1)
        told = eventually(lambda: (found := asked(port, "/ready"))[0] == 200 and found[1])
        assert (told["consuming"], told["problems"]) == (2, [])
        made.send(signal.SIGTERM)
        made.send(signal.SIGINT)
        assert made.ends() == 0
    assert made.log.count("no process can be started") == 1
    assert "Traceback" not in made.log


@pytest.mark.nightly
@in_threads
def test_the_last_process_dies_without_descriptors(url: str, admin: Any, queue: Any) -> None:
    with command(url, THREADS) as made:
        with no_descriptors(made):
            os.kill(children(made)[0], signal.SIGKILL)
            made.until("no process can be started; retrying")
            queue.add("a")
        eventually(lambda: len(done(admin)) == 1)
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@in_threads
def test_a_stop_without_descriptors(url: str, admin: Any, queue: Any) -> None:
    with command(url, THREADS, "--processes", "2") as made, no_descriptors(made):
        os.kill(children(made)[0], signal.SIGKILL)
        made.until("no process can be started; retrying")
        made.send(signal.SIGTERM)
        assert made.ends() == 0


@in_threads
def test_without_processes_and_threads(url: str, admin: Any, queue: Any) -> None:
    """Nothing more may be started, as under the pids limit of a container."""
    # The limit does not hold for root. The program must still be found.
    rights = [f"--{each}=-all,+dac_override" for each in ("inh-caps", "ambient-caps", "bounding-set")]
    before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *rights] if os.geteuid() == 0 else []
    port, options = health_options()
    with command(url, "tests.workers.without_forks:in_threads", *options, before=before, seconds=1000) as made:
        eventually(lambda: asked(port, "/ready")[0] == 200)
        queue.add_all(["once-a", "once-b"])
        eventually(lambda: in_hand(admin) == 2)
        dies, lives = children(made)
        made.send(signal.SIGUSR1)
        os.kill(dies, signal.SIGKILL)
        made.until("no process can be started; retrying")
        status, told = asked(port, "/ready")
        assert (status, told["consuming"]) == (503, 1)
        assert told["problems"] == ["no process can be started: [Errno 11] Resource temporarily unavailable"]
        assert children(made) == [lives]
        made.send(signal.SIGUSR2)
        made.until("processes can be started again, after")
        made.until("a process died, and its values are ready again: 1")
        eventually(lambda: len(done(admin)) == 1)
        made.send(signal.SIGTERM)
        made.send(signal.SIGINT)
        assert made.ends() == 0


@pytest.mark.nightly
def test_reload_without_descriptors(url: str, tmp_path: Path) -> None:
    """A folder that cannot be looked into has lost no file."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "module.py").write_text("")
    with command(url, THREADS, "--reload", cwd=tmp_path) as made:
        with no_descriptors(made):
            os.kill(children(made)[0], signal.SIGKILL)
            made.until("no process can be started; retrying")
        made.until("processes can be started again, after")
        assert "starts anew" not in made.log
        made.send(signal.SIGTERM)
        assert made.ends() == 0


# -- the health port -------------------------------------------------------------------------------------------------


class Holders:
    """Connections to a port that send a byte of an endless request now and then, each made again when it is closed."""

    def __init__(self, port: int, count: int) -> None:
        self._address = ("127.0.0.1", port)
        self._count = count
        self._ends = threading.Event()
        #: How many bytes were sent, and how many connections were made.
        self.sent = self.made = 0
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Holders:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        held: list[socket.socket] = []
        try:
            while not self._ends.wait(0.05):
                while len(held) < self._count:
                    held.append(socket.create_connection(self._address, timeout=PATIENCE))
                    self.made += 1
                for each in list(held):
                    try:
                        each.sendall(b"G")
                        self.sent += 1
                    except OSError:
                        held.remove(each)
                        each.close()
        finally:
            for each in held:
                each.close()


@in_threads
@pytest.mark.parametrize("limit", [by_night(None), by_night(64)], ids=["with descriptors", "with few descriptors"])
def test_a_health_port_that_is_held(url: str, admin: Any, queue: Any, limit: int | None) -> None:
    """Probes are answered at once, and a process that dies is replaced."""
    port, options = health_options()
    before = [] if limit is None else ["sh", "-c", f'ulimit -n {limit} && exec "$@"', "sh"]
    with command(url, THREADS, *options, before=before) as made:
        pid = made.process.pid
        eventually(lambda: asked(port, "/ready")[0] == 200)
        threads_before, descriptors_before = threads(pid), len(descriptors(pid))
        most_threads = most_descriptors = 0
        with Holders(port, 300) as holders:
            eventually(lambda: holders.made >= 300)
            for victim in children(made):
                starts = made.log.count(" starts")
                os.kill(victim, signal.SIGKILL)
                made.until(" starts", starts + 1)
                eventually(lambda: asked_within(port, 3) == 200)
                most_threads = max(most_threads, threads(pid))
                most_descriptors = max(most_descriptors, len(descriptors(pid)))
            sent = holders.sent
            eventually(lambda: holders.sent > sent + 300)
        assert most_threads == threads_before
        # A few more, while connections are closed and a process starts.
        assert most_descriptors <= descriptors_before + serving.MOST + 8
        assert "no process can be started" not in made.log
        made.send(signal.SIGTERM)
        assert made.ends() == 0


def asked_within(port: int, tries: int) -> int:
    """The status of ``/ready``, which a bounded number of tries gets."""
    for _ in range(tries):
        with contextlib.suppress(OSError):
            return asked(port, "/ready")[0]
    raise AssertionError(f"no answer in {tries} tries")


def test_a_health_port_that_is_taken(url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        code, _, log = ended(url, THREADS, "--health-port", str(number), "--health-host", "127.0.0.1", "--url", url)
        assert code == 1
        assert f"redisson-dq: error: the health port 127.0.0.1:{number} cannot be opened: " in log
        assert " starts" not in log
