"""Detects whether a client's server is one node of a cluster, which shows only a part of the queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redisson_dq.admin import Admin
from redisson_dq.errors import RedisReplyError

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = ["cluster_url"]


def cluster_url(client: Client) -> str | None:
    """The URL of the whole cluster if the client's server is one of several nodes. Otherwise None.

    Costs one round trip, and a second one on a node of a cluster. The first one needs no permission. Without permission
    for the second one, the URL is returned even if the cluster has only one master. Raises RedisConnectionError.
    """
    admin = Admin(client)
    if admin.is_cluster or _mode(_asked(admin, "HELLO")) != b"cluster":
        return None
    slots = _asked(admin, "CLUSTER", "SLOTS")
    # For each range of slots: the first and last slot, then host, port and id of its master.
    if slots is not None and len({master[2] for _, _, master, *_ in slots}) < 2:
        return None
    protocol, _, place = admin.where.partition("://")
    return f"{protocol}+cluster://{place.partition('/')[0]}"


def _asked(admin: Admin, *words: str) -> Any:
    """The reply. None if the server does not know the command, or the user may not send it."""
    try:
        return admin.command(*words)
    except RedisReplyError:
        return None


def _mode(hello: Any) -> object:
    """The mode of the server, from the reply in either protocol version."""
    pairs = dict(zip(hello[::2], hello[1::2], strict=True)) if isinstance(hello, list) else hello or {}
    return pairs.get(b"mode")
