"""Whether a change was confirmed as its request asks for it."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

from redisson_dq.durability import Confirmed, Durability
from redisson_dq.errors import DurabilityError
from redisson_dq.items import SettleOutcome
from redisson_dq.wire.request import Request

__all__ = ["check_confirmed", "subject", "why_not"]

logger = logging.getLogger("redisson_dq")

T = TypeVar("T")


def check_confirmed(request: Request[T], result: T, confirmed: Confirmed | Exception | None) -> None:
    """Reports to the user which servers have confirmed a change. Raises DurabilityError when that is less than was
    asked for.
    """
    durable = request.durable
    if durable is None or _is_without_change(result):
        return
    if not isinstance(confirmed, Confirmed):
        raise DurabilityError(
            f"{subject(request)}: the change was made, but the server cannot confirm it: {why_not(durable, confirmed)}",
            replicas=None,
            fsynced=None,
        ) from confirmed
    if durable.on_confirmed is not None:
        try:
            durable.on_confirmed(confirmed)
        except Exception:
            logger.exception("%s: on_confirmed= of durable= failed", subject(request))
    if not durable.is_met_by(confirmed):
        disk = "" if confirmed.fsynced is not False else " the server has not written it to its disk, and"
        raise DurabilityError(
            f"{subject(request)}: the change was made, but within {durable.timeout:g} s{disk} "
            f"{confirmed.replicas} of {durable.replicas} replicas have confirmed it",
            replicas=confirmed.replicas,
            fsynced=confirmed.fsynced,
        )


def why_not(durable: Durability, error: Exception | None) -> str:
    """How to set up the server so that it can confirm changes."""
    text = str(error)
    if "unknown command" in text:
        return f"fsync=True needs WAITAOF, which Redis has since 7.2 ({text})"
    if "appendonly" in text:
        return f"fsync=True needs the append-only file: CONFIG SET appendonly yes ({text})"
    return text


def subject(request: Request[Any]) -> str:
    """The request's name and key, for errors."""
    return f"{request.name} on {request.key!r}" if request.key else request.name


def _is_without_change(result: object) -> bool:
    """Whether a result says that all leases had ended before, so that there is no change to confirm."""
    outcomes = result if isinstance(result, list) else [result]
    return bool(outcomes) and all(each is SettleOutcome.LOST for each in outcomes)
