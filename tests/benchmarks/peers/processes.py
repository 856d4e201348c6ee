"""The processes of a peer: a worker that marks what it handled, and a producer that enqueues on request.

Each has its own session, so Ctrl-C reaches only the driver, and their child processes end with them.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.benchmarks.peers.environments import INSIDE, ROOT
from tests.benchmarks.peers.figures import Job, Mark, parse_ends, parse_marks
from tests.benchmarks.peers.peer import Peer, Programs

__all__ = ["Background", "PeerFailed", "Producer", "Worker", "environment"]

_ANSWER = 180.0


def environment(peer: Peer, url: str) -> dict[str, str]:
    """What every program of a peer is started with."""
    made = {**os.environ, "BENCHMARK_URL": url, **peer.environment.variables()}
    # Packages installed by pip have their bytecode. So has this checkout, after its first import.
    made.pop("PYTHONDONTWRITEBYTECODE", None)
    return made


class PeerFailed(Exception):
    """A process of a peer ended or did not answer; the message holds the end of what it printed."""


class _Processes:
    """Programs that are started and killed together."""

    def __init__(self, peer: Peer, url: str, folder: Path, label: str) -> None:
        self.name = f"{peer.name} {label}"
        self.marks_file = folder / "marks"
        self._log = folder / f"{label}.log"
        self._environment = {
            **environment(peer, url),
            "BENCHMARK_MARKS": str(self.marks_file),
            "PYTHONUNBUFFERED": "1",
        }
        self._running: list[subprocess.Popen[str]] = []

    def _start(self, command: Sequence[str], *, piped: bool = False) -> subprocess.Popen[str]:
        with self._log.open("a") as log:
            process = subprocess.Popen(
                command,
                cwd=INSIDE,
                env=self._environment,
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=subprocess.PIPE if piped else log,
                stderr=log,
                encoding="utf-8",
                start_new_session=True,
            )
        self._running.append(process)
        return process

    def check(self) -> None:
        """Raises PeerFailed when one of them has ended."""
        if any(process.poll() is not None for process in self._running):
            raise PeerFailed(f"{self.name} ended: {self.last_words()}")

    def kill(self) -> None:
        """Ends them at once, with what they have started."""
        for process in self._running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # rq gives the process of each job a group of its own, in the same session.
            for pid in _session(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        self._running.clear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def last_words(self) -> str:
        """The end of what they printed."""
        return self._log.read_text("utf-8", "replace")[-1500:]


def _session(leader: int) -> list[int]:
    """The processes of a session; none where there is no /proc."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(ProcessLookupError):
            if os.getsid(int(folder.name)) == leader:
                found.append(int(folder.name))
    return found


class Worker(_Processes):
    """One worker of a peer, at its defaults or in another one of its ways, from the making on."""

    def __init__(
        self,
        peer: Peer,
        url: str,
        folder: Path,
        programs: Programs | None = None,
        *,
        slots: int = 8,
        **environment: str,
    ) -> None:
        """``slots`` is for programs that have them as an option, ``environment`` for the job."""
        super().__init__(peer, url, folder, "worker")
        self._commands = peer.commands(peer.workers if programs is None else programs, url, slots)
        self._environment.update(environment)
        self.start()

    def __enter__(self) -> Worker:
        return self

    def start(self) -> None:
        """May be called again after ``kill``."""
        for command in self._commands:
            self._start(command)

    def until(self, count: int, within: float) -> None:
        """Waits until it has begun so many jobs. Raises PeerFailed when it has not in time."""
        deadline = time.monotonic() + within
        while len({mark.number for mark in self.marks()}) < count:
            self.check()
            if time.monotonic() > deadline:
                raise PeerFailed(f"{self.name} did not begin {count} jobs within {within:g} s: {self.last_words()}")
            time.sleep(0.02)

    def terminate(self, within: float) -> bool:
        """Asks it to stop, and tells whether it has done so in time."""
        for process in self._running:
            process.terminate()
        deadline = time.monotonic() + within
        while any(process.poll() is None for process in self._running) and time.monotonic() < deadline:
            time.sleep(0.02)
        in_time = all(process.poll() is not None for process in self._running)
        self.kill()
        return in_time

    def kill_children(self) -> None:
        """Kills what its programs have started, and no program itself."""
        for process in self._running:
            for pid in _descendants(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def memory(self) -> int:
        """Bytes of all its processes; a page that several of them have counts once in all."""
        return sum(_memory(pid) for process in self._running for pid in {process.pid, *_session(process.pid)})

    def marks(self) -> list[Mark]:
        """What it has handled so far, and what the ones before it in the same folder had."""
        return parse_marks(self.marks_file.read_text("ascii")) if self.marks_file.exists() else []

    def ends(self) -> list[tuple[int, int | None]]:
        """The jobs that came to their end, each with the attempt that it was, where the library tells."""
        file = self.marks_file.with_suffix(".ends")
        return parse_ends(file.read_text("ascii")) if file.exists() else []


def _descendants(pid: int) -> list[int]:
    """All below a process."""
    below = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            below += [int(word) for word in file.read_text().split()]
    return [one for child in below for one in (child, *_descendants(child))]


def _memory(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise PeerFailed(f"the system does not tell the memory of process {pid}")


class Producer(_Processes):
    """Enqueues jobs of a peer, in a process of the peer's environment."""

    def __init__(self, peer: Peer, url: str, folder: Path, **environment: str) -> None:
        super().__init__(peer, url, folder, "producer")
        self._environment.update(environment)
        #: Those of its connections, as the server names them.
        self.addresses: set[str] = set()
        self._process = self._start(peer.producer_command(), piped=True)
        try:
            #: The versions that it reports: its own, that of redis-py and so on.
            self.versions: dict[str, str] = self._answer()["versions"]
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> Producer:
        return self

    def enqueue(self, jobs: Sequence[Job], *, bulk: bool = False) -> float:
        """The seconds that it took."""
        return self._call("enqueue_all" if bulk else "enqueue", list(jobs))

    def ping(self, count: int) -> float:
        """The seconds of so many round trips through the peer's own connection library."""
        return self._call("ping", count)

    def _call(self, op: str, argument: Any) -> float:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"op": op, "argument": argument}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise PeerFailed(f"{self.name} ended: {self.last_words()}") from error
        return float(self._answer()["seconds"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], _ANSWER)
        line = self._process.stdout.readline() if readable else ""
        if not line:
            raise PeerFailed(f"{self.name} did not answer: {self.last_words()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


class Background:
    """The load of ``load.py`` beside whatever is measured while it is open."""

    def __init__(self, url: str, rate: int) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.peers.load", url, str(rate)]
        self.reached = 0.0
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )

    def __enter__(self) -> Background:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            output, _ = self._process.communicate(timeout=10.0)
            self.reached = float(output)
        finally:
            self._process.kill()
