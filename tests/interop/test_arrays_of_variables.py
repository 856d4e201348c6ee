"""Fields of arrays of type variables in Kryo: read where Java writes them, and written where Java reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from redisson_dq.cli import main
from redisson_dq.errors import EncodeError
from tests.interop.rig import CODECS, Rig, module_of

#: What Java cannot write, or reads as something else.
REFUSED = {"hStrings", "hEmpty", "hNumbers", "hList", "hDeep", "hMap", "hCubes", "hListOf"}


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    with closing(Rig(tmp_path)) as made:
        yield made


def test_java_reads_each_array_that_python_writes(rig: Rig, tmp_path: Path) -> None:
    module = tmp_path / "generated_cells.py"
    assert main(["generate-classes", str(tmp_path), "cells.CellsOf$*", "-o", str(module)]) == 0
    module_of(module)
    written, texts, read_back = rig.samples("cells.CellsOf")
    kryo, serialization = CODECS["Kryo5Codec"], CODECS["SerializationCodec"]
    assert {name for name in texts if (name, kryo.name) not in read_back} == REFUSED
    sent = []
    for name in texts:
        value = serialization.decode(written[name, serialization.name])
        data = written.get((name, kryo.name))
        if data is not None:
            assert serialization.encode(kryo.decode(data)) == serialization.encode(value)
        if name in REFUSED:
            with pytest.raises(EncodeError, match=r"whose declaration names a type variable: Java's Kryo reads it as"):
                kryo.encode(value)
        else:
            assert kryo.encode(value) == data
            sent.append((name, kryo.encode(value)))
    assert rig.texts([(kryo.name, data) for _name, data in sent]) == [texts[name] for name, _data in sent]
    assert len(sent) > 10
