"""Gives each process of a test run whole files, also when a process ends in the middle of a file."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController


class ByFile(LoadFileScheduling):  # type: ignore[misc]
    """The distribution ``loadfile`` of pytest-xdist, whose run never ends once a process ended early: it gives the
    next process files of which nothing is left, or a single test, and waits for what that says of them.

    Here the test at which a process ended has failed, the rest of its file goes to another one, and each process is
    given tests until it has enough to begin with.
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
        while not node.shutting_down and (not self.workqueue or self._pending_of(self.assigned_work[node]) <= 2):
            super()._reschedule(node)
