"""``move``, ``export``, ``import`` and ``migrate``."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from redisson_dq.cli.documents.of import Of
from redisson_dq.migrating.exporting import Exported
from redisson_dq.migrating.importing import Imported
from redisson_dq.migrating.migration import Migrated
from redisson_dq.migrating.planning import MigrationPlan

__all__ = [
    "ExportDocument",
    "FollowLine",
    "ImportDocument",
    "MigrateDocument",
    "MigratePlanDocument",
    "MoveDocument",
    "MovedRow",
]


class MovedRow(TypedDict):
    """One queue, or one partition."""

    queue: str
    moved: int
    left: int
    """How many items are due and were not moved."""
    reason: str | None
    """Why items are left, or why the queue could not be read."""


class MoveDocument(TypedDict):
    """The queues that match the names and patterns."""

    queues: list[MovedRow]


class FollowLine(TypedDict):
    """Printed with --follow: a line for each queue that is moved from now on, and one for the port of --health-port."""

    moving: str | None
    health_port: int | None


class ExportDocument(TypedDict):
    """The files that were written, one for each queue or partition."""

    files: list[Annotated[dict[str, Any], Of(Exported, file=str)]]


ImportDocument = Annotated[
    dict[str, Any],
    Of(
        Imported,
        dry_run=Annotated[bool, "Whether --dry-run was given."],
        wanted=Annotated[
            dict[str, int], "The contents of the file. The counts are empty where nothing was put in, as by --dry-run."
        ],
    ),
]
MigrateDocument = Annotated[
    dict[str, Any],
    Of(
        Migrated,
        nobody_moves=Annotated[bool, "Whether items wait in the new queue, and no client has it open."],
        journal=Annotated[str, "The file by which --resume goes on."],
    ),
]


class MigratePlanDocument(TypedDict):
    """Printed if nothing was moved: with --dry-run, without items, or if the answer was no."""

    plan: MigrationPlan
