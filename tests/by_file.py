"""Runs whole files of tests in processes: ``pytest -p tests.by_file --processes N``.

The tests are collected once. Each process is a fork of the one that has collected them, so that it starts at once. If
one ends in the middle of a file, another one goes on with the rest of the file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterable, Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

#: Folders whose files share what is slow to start, as JVMs and compiled templates, and the processes that prefer them.
_TOGETHER: Mapping[str, slice] = {
    "tests/interop/": slice(0, 2),
    "tests/web/": slice(2, 4),
    "tests/browser/": slice(2, 4),
}
#: So many processes may end in the middle of a file. More of them tell of an error that each file has.
_MAY_END = 12

#: The tests of each file by their numbers in the run.
Files = dict[str, list[int]]


def next_file(files: Files, process: int, processes: int) -> str:
    """The file that a process takes next. Those of some folders go to a few processes, as long as there are others."""

    def preference(file: str) -> int:
        for folder, preferring in _TOGETHER.items():
            if file.startswith(folder):
                return 0 if process in range(processes)[preferring] else 2
        return 1

    # Of equal ones the first in the order of the run.
    return min(files, key=preference)


class _Process:
    """A process that runs tests, as the first process knows it."""

    def __init__(self, session: pytest.Session, number: int, others: list[_Process]) -> None:
        self.number = number
        #: The tests of its files that have not ended.
        self.left: list[int] = []
        self.connection, own = Pipe()
        session.config.get_terminal_writer().flush()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                # Else this end would not notice that the first process has gone.
                for each in (self, *others):
                    each.connection.close()
                _run_files(session, number, own)
                status = 0
            finally:
                os._exit(status)
        own.close()

    def end(self) -> int:
        """Ends the process, if it runs still, and returns its exit code."""
        self.connection.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class _Sender:
    """Sends the reports of each test to the first process, whose plugins count and show them."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self.config = config
        self.connection = connection

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        serializable = self.config.hook.pytest_report_to_serializable
        self.connection.send([serializable(config=self.config, report=report) for report in reports])
        return True


def _run_files(session: pytest.Session, number: int, connection: Connection) -> None:
    """Runs the files that the first process names."""
    config = session.config
    signal.alarm(0)  # tests/conftest.py ends what tests fork
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    directories: Any = config._tmp_path_factory  # type: ignore[attr-defined]
    directories._basetemp = directories.getbasetemp() / f"process-{number}"
    directories._basetemp.mkdir(exist_ok=True)
    config.pluginmanager.register(_Sender(config, connection))
    numbers: list[int] = connection.recv()
    while numbers:
        item = session.items[numbers.pop(0)]
        if not numbers:
            # What files share lasts until the next test, so it is known before this one ends.
            connection.send(None)
            numbers = connection.recv()
        config.hook.pytest_runtest_protocol(item=item, nextitem=session.items[numbers[0]] if numbers else None)


class _Run:
    def __init__(self, session: pytest.Session, processes: int) -> None:
        self.session = session
        self.count = processes
        self.ended_early = 0
        self.files = self.files_of(range(len(session.items)))
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self.running: list[_Process] = []

    def files_of(self, numbers: Iterable[int]) -> Files:
        files: Files = {}
        for number in numbers:
            files.setdefault(self.session.items[number].nodeid.partition("::")[0], []).append(number)
        return files

    def run(self) -> None:
        try:
            for number in range(min(self.count, len(self.files))):
                self.start(number)
            while self.running:
                ready = wait([process.connection for process in self.running])
                for process in [process for process in self.running if process.connection in ready]:
                    self.hear(process)
        finally:
            for process in self.running:
                os.kill(process.pid, signal.SIGTERM)
                process.end()

    def start(self, number: int) -> None:
        process = _Process(self.session, number, self.running)
        self.running.append(process)
        self.give(process)

    def give(self, process: _Process) -> None:
        """Gives a process its next file, or none if there are no more."""
        numbers = self.files.pop(next_file(self.files, process.number, self.count)) if self.files else []
        process.left += numbers
        # One that has just ended cannot receive anything. Its end is noticed next.
        with contextlib.suppress(OSError):
            process.connection.send(numbers)

    def hear(self, process: _Process) -> None:
        try:
            reports = process.connection.recv()
        except (EOFError, ConnectionResetError):
            self.ended(process)
            return
        if reports is None:
            self.give(process)
            return
        del process.left[0]
        for data in reports:
            self.report(self.session.config.hook.pytest_report_from_serializable(config=self.session.config, data=data))

    def report(self, report: pytest.TestReport) -> None:
        self.session.config.hook.pytest_runtest_logreport(report=report)
        if self.session.shouldfail:
            raise self.session.Failed(self.session.shouldfail)
        if self.session.shouldstop:
            raise self.session.Interrupted(self.session.shouldstop)

    def ended(self, process: _Process) -> None:
        """The test at which a process ended counts as failed."""
        self.running.remove(process)
        code = process.end()
        if not process.left:
            if code:
                raise self.session.Interrupted(f"a process ended with {code} after its last test")
            return
        self.ended_early += 1
        if self.ended_early > _MAY_END:
            raise self.session.Interrupted(f"{self.ended_early} processes have ended in the middle of a file")
        first, *rest = process.left
        item = self.session.items[first]
        self.files = self.files_of(rest) | self.files
        text = f"the process ended with {code}"
        self.report(pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call"))
        if self.files:
            self.start(process.number)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=2, help="the number of processes that run test files")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    if session.testsfailed or session.config.option.collectonly:
        return None  # pytest tells what could not be collected
    _Run(session, session.config.option.processes).run()
    return True
