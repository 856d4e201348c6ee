"""Which command prints which type with ``--json``."""

from __future__ import annotations

from typing import Any

from redisson_dq.cli.documents import looking, mending, moving, others, values
from redisson_dq.doctor.findings import ReportFields

__all__ = ["DOCUMENTS", "LINES"]

_ASIDE: dict[str, Any] = {
    "list": mending.AsideListDocument,
    "show": mending.AsideShowDocument,
    "redrive": mending.MendDocument,
    "purge": mending.MendDocument,
}

#: By the words of the command. A command with several types prints one of them.
DOCUMENTS: dict[str, tuple[Any, ...]] = {
    "queues": (looking.QueuesDocument,),
    "stats": (looking.StatsDocument,),
    "watch": (looking.WatchDocument,),
    "list": (looking.ListDocument,),
    "show": (looking.ShowDocument,),
    "history": (looking.HistoryDocument,),
    "peek": (looking.PeekDocument,),
    "offer": (values.OfferDocument,),
    "take": (values.TakenLine,),
    **dict.fromkeys(("cancel", "reschedule", "run-now", "release", "ack"), (mending.MendDocument,)),
    **dict.fromkeys(("pause", "resume"), (mending.PauseDocument,)),
    **{f"{group} {verb}": (kind,) for group in ("dead", "quarantine", "undecodable") for verb, kind in _ASIDE.items()},
    "undecodable add": (mending.MendDocument,),
    "undo": (mending.UndoDocument,),
    "acl": (others.AclDocument,),
    "doctor": (ReportFields, others.ChecksDocument),
    "export": (moving.ExportDocument,),
    "import": (moving.ImportDocument,),
    "migrate": (moving.MigrateDocument, moving.MigratePlanDocument),
    "move": (moving.MoveDocument, moving.FollowLine),
    "partitions": (others.PartitionsDocument,),
    "plan": (others.PlanDocument,),
    "worker": (others.WorkerDocument,),
}

#: The commands that print any number of documents, one on each line, and the option with which they do, or "".
LINES = {"take": "", "watch": "", "move": "--follow"}
