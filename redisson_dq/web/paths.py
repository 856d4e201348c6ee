"""Names and ids in URLs. Any text is encoded in one segment of a path, and arrives unchanged through any proxy.

Browsers and proxies rewrite ``/``, ``..`` and ``%2F``. So letters, digits, ``-``, ``_``, ``.`` and ``:`` stand for
themselves, and any other byte of the UTF-8 text is ``~`` and two hex digits. A first ``.`` is escaped too.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from urllib.parse import urlencode

import attrs

__all__ = ["Links", "WebAddress", "segment_of", "text_of"]

_PLAIN = frozenset((string.ascii_letters + string.digits + "-_.:@").encode())
_ESCAPED = re.compile("(?:~[0-9A-Fa-f]{2})+")


def segment_of(text: str) -> str:
    """A text as one segment of a path.

    >>> from redisson_dq.web.paths import segment_of, text_of
    >>> segment_of("orders/eu 50%"), text_of("orders~2Feu~2050~25")
    ('orders~2Feu~2050~25', 'orders/eu 50%')
    """
    made = "".join(chr(byte) if byte in _PLAIN else f"~{byte:02X}" for byte in text.encode(errors="surrogateescape"))
    return f"~2E{made[1:]}" if made.startswith(".") else made


def text_of(segment: str) -> str:
    """The text that :func:`segment_of` wrote. Other characters stand for themselves, as when typed by hand."""
    return _ESCAPED.sub(lambda met: bytes.fromhex(met[0].replace("~", "")).decode(errors="replace"), segment)


class WebAddress(str):
    """An address. Unlike other texts, a page shows it complete and unchanged."""


@attrs.frozen
class Links:
    """The addresses of all pages, below the path where the dashboard is mounted. Available in templates as ``links``.

    Each takes the query as keywords; one that is None or empty is left out, and ``from_`` is ``from``.
    """

    root: str

    def to(self, path: str, **query: object) -> WebAddress:
        """The address of a path of the dashboard."""
        pairs = {name.rstrip("_"): value for name, value in query.items() if value not in (None, "", False)}
        return WebAddress(f"{self.root}{path}{'?' + urlencode(pairs) if pairs else ''}")

    def with_query(self, path: str, query: Mapping[str, object], **changes: object) -> str:
        """The address of a path with a query, with some parameters changed."""
        return self.to(path, **{**query, **changes})

    def static(self, name: str) -> str:
        """A file of ``static/``."""
        return f"{self.root}/static/{name}"

    def fleet(self, **query: object) -> str:
        """All queues: ``sort``, ``filter``, ``page``."""
        return self.to("/", **query)

    def queue(self, name: str, **query: object) -> str:
        """One queue: ``from_`` and ``to`` of its timeline."""
        return self.to(f"/queues/{segment_of(name)}", **query)

    def timeline(self, name: str, **query: object) -> str:
        """Only the timeline: ``from_``, ``to``."""
        return self.to(f"/queues/{segment_of(name)}/timeline", **query)

    def items(self, name: str, **query: object) -> str:
        """Items: ``state``, ``filter``, ``cursor``, ``codec``, ``from_``, ``to``."""
        return self.to(f"/queues/{segment_of(name)}/items", **query)

    def item(self, name: str, state: str, id: str, **query: object) -> str:
        """One item: ``codec``."""
        return self.to(f"/queues/{segment_of(name)}/items/{state}/{segment_of(id)}", **query)

    def act(self, name: str) -> str:
        """Where the form of an action is posted to."""
        return self.to(f"/queues/{segment_of(name)}/actions")

    def doctor(self, **query: object) -> str:
        """The findings of the doctor; ``again`` runs it first."""
        return self.to("/doctor", **query)

    def finding(self, check: str, queue: str | None) -> str:
        """One finding on that page."""
        return WebAddress(f"{self.doctor()}#{self.finding_id(check, queue)}")

    def finding_id(self, check: str, queue: str | None) -> str:
        """The id of its element."""
        return WebAddress(segment_of(check if queue is None else f"{check} {queue}"))

    def actions(self) -> str:
        """The list of all actions."""
        return self.to("/actions")

    def action(self, id: str, step: str = "") -> str:
        """One action; ``step`` is ``do``, ``undo`` or ``drop``, where a form is posted to."""
        return self.to(f"/actions/{id}{'/' + step if step else ''}")

    def live(self, **query: object) -> str:
        """The stream of snapshots: ``queue``."""
        return self.to("/live", **query)

    def login(self, **query: object) -> str:
        """The page that asks for the token."""
        return self.to("/login", **query)

    def logout(self) -> str:
        """Where the form that ends a session is posted to."""
        return self.to("/logout")
