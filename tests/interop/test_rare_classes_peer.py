"""Classes of the JDK that only some codecs can carry: what Java reads back, Python carries; the rest is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from redisson_dq.cli import main
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.errors import DecodeError
from tests.interop.conftest import NEWEST_BY_DAY
from tests.interop.programs import JAVA, JavaProgram
from tests.interop.rig import module_of

SOURCES = [JAVA / "unseen" / "Unseen.java"]
CODECS: dict[str, Codec] = {
    codec.name: codec for codec in (Kryo5Codec(), SerializationCodec(), JsonJacksonCodec(java_time="numbers"))
}
#: What Java loses or cannot read back. The words are those of the error.
REFUSED = {
    ("Kryo5Codec", "zoned"): "Java itself reads back GMT",
    ("Kryo5Codec", "simple"): "Java itself reads back GMT",
    ("Kryo5Codec", "boxed"): "send a LinkedBlockingQueue",
    ("Kryo5Codec", "queue"): "send a LinkedBlockingQueue",
    ("JsonJacksonCodec", "boxed"): "send a LinkedBlockingQueue",
    ("JsonJacksonCodec", "queue"): "send a LinkedBlockingQueue",
}
#: Java's Jackson reads back another object here, or none.
NOT_BY_JACKSON = ("zoned", "simple")


@pytest.fixture(scope="module", params=NEWEST_BY_DAY)
def unseen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaProgram]:
    classes = tmp_path_factory.mktemp("unseen")
    with closing(JavaProgram("unseen.Unseen", SOURCES, classes, version=request.param)) as program:
        module = classes / "generated_unseen.py"
        assert main(["generate-classes", str(classes), "unseen.Unseen$*", "-o", str(module)]) == 0
        module_of(module)
        yield program


@pytest.mark.parametrize("name", CODECS)
def test_what_java_reads_back_is_carried_and_the_rest_is_refused(unseen: JavaProgram, name: str) -> None:
    codec = CODECS[name]
    for line in unseen.call("write", name):
        sample, written, own = line.split("\t")
        data = bytes.fromhex(written)
        if (name, sample) in REFUSED:
            with pytest.raises(DecodeError, match=REFUSED[name, sample]):
                codec.decode(data)
        elif not (name == "JsonJacksonCodec" and sample in NOT_BY_JACKSON):
            assert codec.encode(codec.decode(data)) == data, sample
            assert unseen.call("read", name, sent=data.hex()) == [own]
