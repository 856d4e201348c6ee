"""The codecs without their shortcuts, for the test that compares both ways and for the benchmark that weighs them."""

from __future__ import annotations

import pytest

from redisson_dq.codecs.jackson.reading import plans
from redisson_dq.codecs.jackson.reading.plans import Plan, Plans
from redisson_dq.codecs.jackson.texts import Texts
from redisson_dq.codecs.kryo5 import collections, objects, straight
from redisson_dq.codecs.kryo5.reader import Reader, ReferenceReader
from redisson_dq.codecs.kryo5.writer import ReferenceWriter, Writer
from redisson_dq.codecs.serialization import codec as serialization_codec
from redisson_dq.codecs.serialization import straight_reader

__all__ = ["take_shortcuts_away"]


def take_shortcuts_away(patched: pytest.MonkeyPatch) -> None:
    """Takes all shortcuts away, of the codecs that are made afterwards."""
    for table in ("READ_SHORTCUTS", "WRITE_SHORTCUTS"):
        patched.setattr(straight, table, {})
    patched.setattr(objects, "spelled_mostly", lambda *_args: b"")
    patched.setattr(collections, "ordinary_strings", lambda *_args: None)
    patched.setattr(collections, "put_ordinary_strings", lambda *_args: False)
    # A whole list of texts is read and written at once where the flat values are.
    patched.setattr(collections, "ordinary_ints", lambda *_args: None)
    patched.setattr(collections, "put_ordinary_ints", lambda *_args: False)
    for reader in (Reader, ReferenceReader):
        patched.setattr(reader, "by_byte", ReferenceReader.by_byte)
    for writer in (Writer, ReferenceWriter):
        patched.setattr(writer, "flat", {})
    patched.setattr(Plans, "of", lambda _self, declared: Plan(declared, plans.no_plan))
    patched.setattr(Texts, "written", lambda *_args: None)
    patched.setattr(serialization_codec, "written", lambda *_args: None)
    patched.setattr(serialization_codec, "read", lambda *_args, **_options: straight_reader.UNREAD)
