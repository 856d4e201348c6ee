"""Rewrites the contents of a queue's keys for another name, another value or another form of entry.

The texts have the forms of docs/wire-tables.md.
"""

from __future__ import annotations

import hashlib
import re
import struct
from typing import Literal

import attrs

from redisson_dq.admin.entries import Envelope, unwrap, wrap
from redisson_dq.errors import EnvelopeError
from redisson_dq.migrating.sites import Content

__all__ = [
    "Change",
    "DeliveryText",
    "EntryForm",
    "LetterText",
    "changed",
    "digest_of",
    "item_of",
    "key_of",
    "latest_of",
    "renamed",
    "standing_as",
]

#: How entries are written: unchanged (None), mirrored in one of Redisson's formats, or lean.
EntryForm = Literal["current", "legacy", "lean"]

_DELIVERY = re.compile(rb"(\d+ \d+ \d+ \d+ \d+ \d+ \d+ (\d+)) ([0-9a-f]{32})(:[0-9a-f]*)? (\d+) ", re.DOTALL)
_LETTER = re.compile(rb"(\d+) (\d+) (\d+) ")
_RECORD = re.compile(rb"([a-z] \d+ \d+ \d+) (.*)", re.DOTALL)
_MARK = re.compile(rb'(\{"redisson_dq\.item":")([0-9a-f]+)( \d+ )([ih])([0-9a-f]{64})?')


def digest_of(value: bytes) -> bytes:
    """The digest by which records refer to a value."""
    return hashlib.sha1(value).hexdigest()[:32].encode()


def _payload_key(value: bytes) -> bytes:
    return b"h" + hashlib.sha256(value).hexdigest().encode()


@attrs.frozen(kw_only=True)
class DeliveryText:
    """The parts of a delivery record that a migration reads."""

    numbers: bytes
    order: int
    digest: bytes
    reason: bytes
    context: bytes

    @classmethod
    def parse(cls, text: bytes | None) -> DeliveryText | None:
        """None for a text in another form."""
        found = _DELIVERY.match(text or b"")
        if text is None or found is None:
            return None
        size, rest = int(found[5]), text[found.end() :]
        return cls(numbers=found[1], order=int(found[2]), digest=found[3], reason=rest[:size], context=rest[size:])

    @property
    def text(self) -> bytes:
        """The text as stored in Redis, without the place in the line of its key."""
        return b"%s %s %d %s%s" % (self.numbers, self.digest, len(self.reason), self.reason, self.context)

    def place(self, entry_id: bytes) -> bytes:
        """The member of ``histories`` or ``dead_index`` that refers to it."""
        return self.digest + struct.pack(">Q", self.order) + entry_id


@attrs.frozen(kw_only=True)
class LetterText:
    """A dead letter in ``dead_info``."""

    came: bytes
    queue: bytes
    record: bytes
    value: bytes

    @classmethod
    def parse(cls, text: bytes | None) -> LetterText | None:
        """None for a text of another program."""
        found = _LETTER.match(text or b"")
        if text is None or found is None:
            return None
        at, size = found.end() + int(found[2]), int(found[3])
        return cls(came=found[1], queue=text[found.end() : at], record=text[at : at + size], value=text[at + size :])

    @property
    def text(self) -> bytes:
        """As it is stored in Redis."""
        head = b"%s %d %d " % (self.came, len(self.queue), len(self.record))
        return head + self.queue + self.record + self.value


def item_of(context: bytes) -> bytes | None:
    """The id of the entry with which a named value was offered."""
    found = _MARK.match(context)
    return bytes.fromhex(found[2].decode()) if found else None


def key_of(record: bytes | None) -> bytes:
    """The key of an item in its record: ``i`` and an id, ``h`` and a hash, or nothing."""
    found = _RECORD.fullmatch(record or b"")
    return found[2] if found else b""


def latest_of(record: bytes) -> int:
    """When an item expires according to its record, in epoch ms; 0 for never."""
    found = _RECORD.fullmatch(record)
    return int(found[1].split(b" ")[2]) if found else 0


def standing_as(entry_id: bytes, value: bytes) -> list[bytes]:
    """The members of the timeout zset that an entry may have: in either envelope, or none for another id."""
    if not 8 <= len(entry_id) <= 10:
        return []
    forms = [Envelope.CURRENT, Envelope.LEGACY] if len(entry_id) == 8 else [Envelope.CURRENT]
    return [wrap(form, entry_id, value) for form in forms]


@attrs.frozen(kw_only=True)
class Change:
    """The change of an item: another value, other ids of its entries, another queue, another form."""

    value: bytes
    new_value: bytes
    ids: dict[bytes, bytes] = attrs.field(factory=dict)
    raw: str
    new_raw: str
    form: EntryForm | None = None

    def id(self, entry_id: bytes) -> bytes:
        """The id that replaces an id."""
        return self.ids.get(entry_id, entry_id)

    def key(self, key: bytes) -> bytes:
        """The key of an item: the key of a payload changes with the value."""
        return _payload_key(self.new_value) if key == _payload_key(self.value) else key

    def member(self, member: bytes) -> bytes:
        """An entry in its new form."""
        try:
            entry_id, value = unwrap(member)
        except EnvelopeError:
            return member
        was_legacy = wrap(Envelope.CURRENT, entry_id, value) != member
        is_legacy = was_legacy if self.form is None else self.form == "legacy"
        value = self.new_value if value == self.value else value
        return wrap(Envelope.LEGACY if is_legacy else Envelope.CURRENT, self.id(entry_id), value)

    def context(self, context: bytes) -> bytes:
        """The context of a delivery, with the item that it names."""
        found = _MARK.match(context)
        if found is None:
            return context
        entry_id = self.id(bytes.fromhex(found[2].decode())).hex().encode()
        digest = self.key(b"h" + found[5])[1:] if found[4] == b"h" and found[5] else found[5] or b""
        return b"".join((found[1], entry_id, found[3], found[4], digest, context[found.end() :]))

    def delivery(self, text: bytes) -> bytes:
        """The record of a delivery."""
        found = DeliveryText.parse(text)
        if found is None:
            return text
        digest = digest_of(self.new_value) if found.digest == digest_of(self.value) else found.digest
        return attrs.evolve(found, digest=digest, context=self.context(found.context)).text

    def place(self, member: bytes) -> bytes:
        """A member of ``histories`` or of ``dead_index``."""
        digest = digest_of(self.new_value) if member[:32] == digest_of(self.value) else member[:32]
        return digest + member[32:40] + self.id(member[40:])

    def letter(self, text: bytes) -> bytes:
        """A dead letter."""
        found = LetterText.parse(text)
        if found is None:
            return text
        queue = self.new_raw.encode() if found.queue == self.raw.encode() else found.queue
        value = self.new_value if found.value == self.value else found.value
        return attrs.evolve(found, queue=queue, record=self.delivery(found.record), value=value).text

    def record(self, field: bytes, text: bytes) -> tuple[bytes, bytes]:
        """A field of ``records``."""
        kind, rest = field[:1], field[1:]
        if kind in b"ih":
            return self.key(field), self.id(text)
        new_field = kind + self.id(rest)
        if kind == b"e":
            found = _RECORD.fullmatch(text)
            return new_field, text if found is None else found[1] + b" " + self.key(found[2])
        if kind == b"v":
            return new_field, self.new_value if text == self.value else text
        if kind == b"p":
            return new_field, text[:1] + self.id(text[1:])
        return new_field, text


def changed(part: str, content: Content, change: Change) -> Content:
    """A content as it is written to the other queue."""
    first, second = content[0], content[1] if len(content) > 1 else b""
    if part in ("ready", "arrivals", "dead", "undecodable"):
        return (change.new_value if first == change.value else first,)
    if part == "expired":
        due, space, value = first.partition(b" ")
        return (due + space + (change.new_value if value == change.value else value),)
    if part in ("timeout", "envelopes"):
        return (change.member(first), *content[1:])
    if part in ("deliveries", "dead_info"):
        text = change.delivery(second) if part == "deliveries" else change.letter(second)
        return change.id(first), text
    if part in ("histories", "history_ends", "dead_index"):
        return change.place(first), second
    if part == "forget":
        return change.id(first), second
    if part == "records":
        return change.record(first, second)
    if part == "recurring" and first[:1] == b"e":
        return first, change.id(second)
    if part == "recurring" and first[:1] == b"v":
        return first, change.new_value if second == change.value else second
    return content


def renamed(part: str, content: Content, raw: str, new_raw: str) -> Content:
    """A content for a queue with another name. A dead letter has the name of the queue from which it came."""
    if part != "dead_info":
        return content
    return changed(part, content, Change(value=b"", new_value=b"", raw=raw, new_raw=new_raw))
