"""A live Kotlin: what it writes of classes of its own, Python reads and writes again, and Kotlin reads that."""

from __future__ import annotations

import copy
import subprocess
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import pytest

from redisson_dq.cli import main
from redisson_dq.codecs import Codec, Kryo5Codec, SerializationCodec
from redisson_dq.codecs.marks import has_no_room, other_bytes
from redisson_dq.errors import DecodeError
from tests.interop.rig import CODECS, Rig, module_of
from tests.versions import NEWEST

KOTLIN = Path(__file__).parents[2] / "interop" / "kotlin"
#: Kotlin's own classes that no field declares.
NAMED = ("kotlin.ranges.IntRange", "kotlin.collections.IndexedValue")
#: What Kotlin writes, and Python refuses, as docs/kotlin.md and docs/generate-classes.md say.
REFUSED = {
    ("outer", "SerializationCodec"),  # an inner class, which has its outer object
    ("inner", "SerializationCodec"),
    ("bill", "JsonJacksonCodec+KotlinModule"),  # a list of a value class, as its values
}


@pytest.mark.nightly
def test_kotlin_reads_what_python_wrote_of_what_kotlin_wrote(tmp_path: Path) -> None:
    # A class of Java is declared once in a process, and other tests declare Kotlin's own classes too.
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        fresh.submit(_exchange, tmp_path).result()


def _exchange(tmp_path: Path) -> None:
    subprocess.run(["mvn", "-q", "-B", "compile", f"-Dredisson.version={NEWEST}"], check=True, cwd=KOTLIN)
    built = KOTLIN / "target"
    (standard,) = (built / "lib").glob("kotlin-stdlib-2*.jar")
    module = tmp_path / "generated_kotlin.py"
    command = ["generate-classes", str(built / "classes"), "com.acme.kt.live.*", *NAMED, "--classpath", str(standard)]
    assert main([*command, "-o", str(module)]) == 0
    module_of(module)

    with closing(Rig(tmp_path, built / "classes", built / "lib" / "*")) as rig:
        _read_and_write(rig)


def _read_and_write(rig: Rig) -> None:
    written, texts, same = rig.samples("com.acme.kt.live.LiveKt")
    codecs: dict[str, Codec] = {**CODECS, "JsonJacksonCodec+KotlinModule": CODECS["JsonJacksonCodec"]}
    sent: list[tuple[str, str, bytes]] = []
    refused = set()
    for sample, name in sorted(same):
        codec, data = codecs[name], written[sample, name]
        try:
            value = codec.decode(data)
        except DecodeError:
            refused.add((sample, name))
            continue
        again = codec.encode(value)
        assert has_no_room(value) or (again == data) is not bool(other_bytes(value)), (sample, name)
        sent += [(sample, name, again), (sample, name, codec.encode(copy.deepcopy(value)))]
        if isinstance(codec, (Kryo5Codec, SerializationCodec)):
            others = [each for each in codecs if (sample, each) in same and (sample, each) not in REFUSED]
            sent += [(sample, each, codecs[each].encode(value)) for each in others]
    assert refused == REFUSED
    with pytest.raises(DecodeError, match=r"this\$0 .* that its declaration lacks: the enclosing object") as caught:
        codecs["SerializationCodec"].decode(written["inner", "SerializationCodec"])
    assert "out of date" not in str(caught.value)
    assert len(sent) > 400
    read = rig.texts([(codec, data) for _, codec, data in sent])
    assert [row[:2] for row, text in zip(sent, read, strict=True) if text != texts[row[0]]] == []
