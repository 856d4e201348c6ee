"""Moves the data of queues safely: into a file and back, to another queue, server, codec or form.

Code that reads all keys of a queue, or puts exact contents into another place, belongs here. It works on bytes and
keys, and knows the forms of docs/wire-format.md. Deciding when items become due, and operations on single items, belong
elsewhere. The command line shows its results.

All of it works on a synchronous client, and a call returns when it is done.
"""

from redisson_dq.migrating.exporting import Exported, export
from redisson_dq.migrating.file import FileError
from redisson_dq.migrating.importing import Imported, import_file
from redisson_dq.migrating.places import QueueSite

__all__ = ["Exported", "FileError", "Imported", "QueueSite", "export", "import_file"]
