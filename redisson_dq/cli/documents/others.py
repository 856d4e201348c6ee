"""``acl``, ``doctor``, ``partitions``, ``plan`` and ``worker``."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from redisson_dq.cli.documents.of import Of
from redisson_dq.inspection import QueueInspection
from redisson_dq.planning import LoadPlan, Memory

__all__ = ["AclDocument", "KnownCheck", "ChecksDocument", "PlanDocument", "PartitionsDocument", "WorkerDocument"]


class PartitionsDocument(TypedDict):
    """The names of the partitions, in their order."""

    queue: str
    partitions: list[str]


class WorkerDocument(TypedDict):
    """Printed for --check: the queues of the worker."""

    error: str | None
    """Why the worker would not run, although its queues could be read."""
    queues: list[Annotated[dict[str, Any], Of(QueueInspection, "error", handlers=list[str], warnings=list[str])]]


class AclDocument(TypedDict):
    """The words of the command that makes a user."""

    role: str
    user: str
    queues: list[str]
    words: list[str]
    """ACL, SETUSER and the words after them, unquoted."""


class KnownCheck(TypedDict):
    """A check that the doctor knows."""

    id: str
    summary: str
    """The condition that it checks."""


class ChecksDocument(TypedDict):
    """Printed for --list-checks."""

    checks: list[KnownCheck]


PlanDocument = Annotated[
    dict[str, Any],
    Of(
        LoadPlan,
        memory=Annotated[dict[str, Any], Of(Memory, "used", "total")],
        first_wall=Annotated[str, "The limit that is met first."],
    ),
]
