"""Moves the data of queues safely: into a file and back, to another queue, server, codec or form.

Code that reads all keys of a queue, or writes exact contents to another place, belongs here. It works on bytes and
keys, in the forms of docs/wire-format.md. Deciding when items become due, and operations on single items, belong
elsewhere. The command line prints the results.

All of it uses a synchronous client, and a call returns when the work is done.
"""

from redisson_dq.migrating.batches import STATES
from redisson_dq.migrating.exporting import Exported, OnProgress, export
from redisson_dq.migrating.file import FileError, checked
from redisson_dq.migrating.importing import Imported, import_file
from redisson_dq.migrating.journal import Journal
from redisson_dq.migrating.migration import Migrated, Migration
from redisson_dq.migrating.planning import MigrationPlan, plan
from redisson_dq.migrating.recoding import Recoding
from redisson_dq.migrating.several import export_all
from redisson_dq.migrating.sites import QueueSite, sites_of
from redisson_dq.migrating.to_file import ToFile

__all__ = [
    "STATES",
    "Exported",
    "FileError",
    "Imported",
    "Journal",
    "Migrated",
    "Migration",
    "MigrationPlan",
    "OnProgress",
    "QueueSite",
    "Recoding",
    "ToFile",
    "checked",
    "export",
    "export_all",
    "import_file",
    "plan",
    "sites_of",
]
