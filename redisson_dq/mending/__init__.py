"""Actions on one item of a queue or on many, and their undo.

Here belongs how items are chosen, acted on in batches, and put back from an undo file. The commands ``cancel``,
``reschedule``, ``run-now``, ``pause``, ``resume``, ``dead``, ``quarantine``, ``undecodable``, ``release``, ``ack`` and
``undo`` use it, and so do the pages of ``web/``. Nothing here reads arguments of a command or prints.

One action goes through four steps:

1. A walk meets all items in bounded scripts (``walking.py``). Those that a filter picks are written to a temporary
   file, so their count is known before anything is changed (``selection.py``).
2. Each batch is written to the undo file, and fsynced (``undo_file.py``).
3. One script acts on each batch (``acting.py``). It leaves every entry that is gone, or whose due time is another one.
   It notes the outcomes in Redis, under a nonce that is in the undo file. So no batch is acted on twice. After a
   ``kill -9`` Redis tells the outcomes of the last batch.
4. ``undoing.py`` puts back every entry that was changed and is not there now, by the file and by Redis's notes.
"""

from redisson_dq.admin import AdminQueue
from redisson_dq.mending.acting import Acting, MendCounts, mend_aside, mend_waiting
from redisson_dq.mending.by_id import IdProblem, found_by_id
from redisson_dq.mending.filtering import filtered
from redisson_dq.mending.pausing import pause, resume
from redisson_dq.mending.queue import MendedQueue
from redisson_dq.mending.releasing import ack, release, select_held
from redisson_dq.mending.selection import Selection, select_aside, select_ready, select_waiting
from redisson_dq.mending.undo_file import UndoFile, UndoFileError, UndoWriter
from redisson_dq.mending.undoing import Undone, check_file, undo
from redisson_dq.mending.untouched import Untouched, count_over, count_untouched
from redisson_dq.mending.walking import aside_rows

__all__ = [
    "Acting",
    "MendCounts",
    "IdProblem",
    "MendedQueue",
    "AdminQueue",
    "Selection",
    "UndoFile",
    "UndoFileError",
    "UndoWriter",
    "Undone",
    "Untouched",
    "ack",
    "aside_rows",
    "check_file",
    "count_over",
    "count_untouched",
    "filtered",
    "found_by_id",
    "mend_aside",
    "mend_waiting",
    "pause",
    "release",
    "resume",
    "select_aside",
    "select_held",
    "select_ready",
    "select_waiting",
    "undo",
]
