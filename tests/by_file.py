"""Gives each process of a test run whole files, even if a process ends in the middle of a file."""

from __future__ import annotations

import contextlib

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class ByFile(LoadFileScheduling):  # type: ignore[misc]
    """The distribution ``loadfile`` of pytest-xdist, corrected for a process that ends early.

    There, ``loadfile`` gives the next process a file without tests, or with a single one, and waits forever. Here, the
    test at which the process ended counts as failed, and the rest of its file goes to another process. A process gets
    files until it has enough tests to begin.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        files = self.assigned_work.pop(node)
        left: list[str] = [test for tests in files.values() for test, done in tests.items() if not done]
        if not left:
            return None
        for file, tests in files.items():
            if rest := {test: done for test, done in tests.items() if not done and test != left[0]}:
                self.workqueue[file] = rest
        for other in self.assigned_work:
            self._reschedule(other)
        return left[0]

    def _reschedule(self, node: WorkerController) -> None:
        if node not in self.registered_collections:
            return  # it has not collected its tests yet, and is asked again then
        # A process that has just ended cannot receive anything. Its tests are given to others when its end is noticed.
        with contextlib.suppress(OSError):
            while not node.shutting_down and (not self.workqueue or self._pending_of(self.assigned_work[node]) <= 2):
                super()._reschedule(node)
