"""Actions on one item of a queue or on many, and their undo.

Selecting items, acting on them in batches, and restoring them from an undo file belong here. The commands ``cancel``,
``reschedule``, ``run-now``, ``pause``, ``resume``, ``dead``, ``quarantine``, ``undecodable``, ``release``, ``ack`` and
``undo`` use it, and so do the pages of ``web/``. Nothing here parses the arguments of a command or prints.

An action has four steps:

1. A walk reads all items in bounded scripts (``walking.py``). The items that a filter matches are written to a
   temporary file, so their number is known before anything is changed (``selection.py``).
2. Each batch is written to the undo file, and fsynced (``undo_file.py``).
3. One script acts on each batch (``acting.py``). It skips every entry that is gone or has another due time. It records
   the outcomes in Redis, under a nonce that is in the undo file. So no batch is acted on twice. After a ``kill -9`` the
   outcomes of the last batch are read from Redis.
4. ``undoing.py`` restores every entry that was changed and is not there now, from the file and the outcomes in Redis.
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
