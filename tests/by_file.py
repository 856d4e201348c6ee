"""Gives each process of a test run whole files, even if a process ends in the middle of a file."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

#: Folders whose files share what is slow to start, as JVMs and compiled templates, and the processes that prefer them.
_TOGETHER: Mapping[str, slice] = {
    "tests/interop/": slice(0, 2),
    "tests/web/": slice(2, 4),
    "tests/browser/": slice(2, 4),
}


class ByFile(LoadFileScheduling):  # type: ignore[misc]
    """The distribution ``loadfile`` of pytest-xdist, corrected for a process that ends early.

    There, ``loadfile`` gives the next process a file without tests, or with a single one, and waits forever. Here, the
    test at which the process ended counts as failed, and the rest of its file goes to another process. A process gets
    files until it has enough tests to begin.

    The files of some folders go to a few processes only, as long as there are others.
    """

    def _assign_work_unit(self, node: WorkerController) -> None:
        nodes = list(self.assigned_work)

        def preference(file: str) -> int:
            for folder, processes in _TOGETHER.items():
                if file.startswith(folder):
                    return 0 if node in nodes[processes] else 2
            return 1

        # Of equal ones the first in the order of the run.
        self.workqueue.move_to_end(min(self.workqueue, key=preference), last=False)
        super()._assign_work_unit(node)

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
