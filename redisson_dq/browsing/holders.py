"""The connected clients, from ``CLIENT LIST``, and which of them holds a value in flight."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

import attrs

from redisson_dq.admin import Admin
from redisson_dq.errors import RedisReplyError

if TYPE_CHECKING:
    from redisson_dq import Client

__all__ = [
    "HOLDER_PARTS",
    "ClientRow",
    "LeaseHolder",
    "client_rows",
    "holder_of",
    "row_of",
    "rows_in",
]

_NAMED = re.compile(r"(?:(.*)/)?redisson-dq/([^/]+)/([^/]+)/([^/]+)(?:/(.*))?$")
# The id of a lease begins with this many hex digits of its client. In the current format it has as many bytes.
_DIGITS, _BYTES = 8, 10


@attrs.frozen(kw_only=True)
class ClientRow:
    """One row of CLIENT LIST. Except ``fields``, all attributes are only known for connections of this library.

    ``process`` is host and process id, such as ``web-1:4242``, or empty for an older version. ``owner`` is the prefix
    of the ids of its leases if that is not the client's id. ``title`` is the name that the user gave, or empty.
    """

    fields: dict[str, str]
    version: str | None = None
    client: str | None = None
    role: str | None = None
    queue: str | None = None
    process: str = ""
    owner: str = ""
    title: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether this library made the connection."""
        return self.version is not None

    @property
    def is_blocked(self) -> bool:
        """Whether the connection waits in a blocking command."""
        return "b" in self.fields.get("flags", "")

    @property
    def listens(self) -> bool:
        """Whether the connection has subscribed to a channel."""
        return int(self.fields.get("sub", "0")) + int(self.fields.get("psub", "0")) > 0

    @property
    def command(self) -> str:
        """Its last command."""
        return self.fields.get("cmd", "")


#: The parts of a holder, under their names in JSON and filters.
HOLDER_PARTS = ("client", "name", "host", "pid", "address", "connected")


@attrs.frozen(kw_only=True)
class LeaseHolder:
    """The client that has a value in flight. ``process`` is empty if the client is no longer connected."""

    client: str
    process: str = ""
    title: str = ""
    address: str = ""

    @property
    def parts(self) -> dict[str, str | int | bool | None]:
        """The parts in :data:`HOLDER_PARTS`."""
        host, _, pid = self.process.rpartition(":")
        number = int(pid) if pid.isdigit() else None
        values = (self.client, self.title or None, host or None, number, self.address or None, bool(self.address))
        return dict(zip(HOLDER_PARTS, values, strict=True))

    def __str__(self) -> str:
        if not self.address:
            return f"{self.client}, not connected"
        return f"{self.process or self.address}{f' ({self.title})' if self.title else ''}"


def row_of(fields: dict[str, str]) -> ClientRow:
    """Builds a row of CLIENT LIST from its fields."""
    met = _NAMED.match(fields.get("name", ""))
    if met is None:
        return ClientRow(fields=fields)
    title, version, name, role, queue = met.groups()
    names, _, process = name.partition("@")
    client, _, owner = names.partition("+")
    return ClientRow(
        fields=fields,
        version=version,
        client=client,
        role=role,
        queue=None if queue is None else unquote(queue),
        process=unquote(process),
        owner=owner,
        title=unquote(title or ""),
    )


def rows_in(reply: bytes) -> list[ClientRow]:
    """The rows of the reply to CLIENT LIST."""
    lines = reply.decode(errors="replace").splitlines()
    return [
        row_of({name: text for name, _, text in (pair.partition("=") for pair in line.split(" "))}) for line in lines
    ]


def client_rows(client: Client) -> list[ClientRow]:
    """The connections of all masters. Empty if the user may not see them. Raises RedisConnectionError."""
    admin = Admin(client)
    rows: list[ClientRow] = []
    for node in admin.nodes():
        try:
            rows += rows_in(admin.command("CLIENT", "LIST", node=node))
        except RedisReplyError:
            return []
    return rows


def holder_of(rows: Iterable[ClientRow], lease: str) -> LeaseHolder | None:
    """The client that has the lease with this hex id. None if unknown, as for an older version."""
    if len(lease) != 2 * _BYTES:
        return None
    of_client, all_tell, any_row = lease[:_DIGITS], True, False
    for row in rows:
        any_row = True
        if row.client is not None and of_client in (row.client[:_DIGITS], row.owner):
            address = row.fields.get("addr", "")
            return LeaseHolder(client=row.client, process=row.process, title=row.title, address=address)
        all_tell = all_tell and (not row.is_ours or bool(row.process))
    return LeaseHolder(client=of_client) if any_row and all_tell else None
