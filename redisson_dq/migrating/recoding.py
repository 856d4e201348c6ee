"""Decides how each item changes: its value in another codec, its entry in another form, its queue among several."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import attrs

from redisson_dq.admin.entries import Envelope, ExchangeStep, unwrap, wrap
from redisson_dq.admin.names import partition_of
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import CodecError
from redisson_dq.migrating.contents import Change, EntryForm, changed
from redisson_dq.migrating.reading import SourceItem
from redisson_dq.migrating.sites import PARTS, QueueSite

__all__ = ["ConversionError", "Recoding", "in_place"]

_KIND = {"list": "l", "zset": "z", "hash": "h", "string": "s"}


class ConversionError(Exception):
    """A value cannot be written in the other codec. The text is the reason."""


@attrs.define
class Recoding:
    """How items are changed, and where they go."""

    source_codec: Codec | None
    target_codec: Codec | None
    form: EntryForm | None
    targets: Sequence[QueueSite]
    _turn: int = 0

    def value(self, item: SourceItem) -> bytes:
        """The item's value in the other codec. Raises ConversionError if one of the codecs refuses it."""
        if item.value is None or self.source_codec is None or self.target_codec is None:
            return item.value or b""
        try:
            return self.target_codec.encode(self.source_codec.decode(item.value))
        except Exception as error:
            # The code of a declared class may raise anything.
            raise ConversionError(str(error) if isinstance(error, CodecError) else repr(error)) from error

    def fits(self, item: SourceItem) -> bool:
        """Whether the entry already has the wanted form."""
        return self.form is None or self._member(item) == item.mark

    def _member(self, item: SourceItem) -> bytes:
        if item.entry_id is None or item.value is None:
            return item.mark
        entry_id = self._ids(item).get(item.entry_id, item.entry_id)
        return wrap(Envelope.LEGACY if self.form == "legacy" else Envelope.CURRENT, entry_id, item.value)

    def _ids(self, item: SourceItem) -> dict[bytes, bytes]:
        """A lean entry has an id of nine bytes, a mirrored one of eight.

        The id of a retry may have ten. The last two distinguish it from others of the same call.
        """
        old = item.entry_id
        if self.form is None or old is None:
            return {}
        if len(old) == 10:
            return {old: old[:6] + old[8:]} if self.form == "legacy" else {}
        new = old[:8] + b"\0" if self.form == "lean" else old[:8]
        return {} if new == old else {old: new}

    def target(self, item: SourceItem, value: bytes) -> int:
        """The number of the item's target queue: the queue that an offer with its id would go to, or the next one in
        turn.
        """
        count = len(self.targets)
        if count == 1:
            return 0
        if item.key[:1] == b"i":
            return partition_of(item.key[1:].decode(errors="replace"), count)
        if item.key[:1] == b"h":
            return crc32(value) % count
        self._turn = (self._turn + 1) % count
        return self._turn

    def steps(
        self, source: QueueSite, item: SourceItem, value: bytes, target: int
    ) -> tuple[list[ExchangeStep], list[ExchangeStep]]:
        """The steps that take an item out of its queue, and those that put it into the other one."""
        site = self.targets[target]
        change = Change(
            value=item.value or b"",
            new_value=value if item.value is not None else b"",
            ids=self._ids(item),
            raw=source.raw,
            new_raw=site.raw,
            form=self.form,
        )
        takes, puts = list[ExchangeStep](), list[ExchangeStep]()
        for part, content in item.contents:
            kind = _KIND[PARTS[part]]
            takes.append((f"-{kind}", source.key(part), *_two(content)))
            new = changed(part, content, change)
            if part == "timeout":
                puts.append(("+e" if _is_mirrored(new[0], item) else "+z", site.key(part), *_two(new)))
            elif part != "envelopes":
                puts.append((f"+{kind}", site.key(part), *_two(new)))
            elif item.entry_id is None:
                puts.append(("+l", site.key(part), *_two(new)))
        return takes, puts


def _two(content: tuple[bytes, ...]) -> tuple[bytes, bytes]:
    return content[0], content[1] if len(content) > 1 else b""


def _is_mirrored(member: bytes, item: SourceItem) -> bool:
    return item.entry_id is not None and len(unwrap(member)[0]) == 8


def in_place(takes: list[ExchangeStep], puts: list[ExchangeStep]) -> list[ExchangeStep]:
    """The steps of an item that stays in its queue. A content that would be written again is not taken."""
    put = {(key, first) for kind, key, first, _ in puts if kind in ("+h", "+z", "+e")}
    kept: list[ExchangeStep] = [
        ("=" + kind[1:] if (key, first) in put else kind, key, first, second) for kind, key, first, second in takes
    ]
    return kept + puts
