"""Classes that Java writes by themselves, constants of enums and Class objects: Java's bytes, and Java reads ours."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.cli import main
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.codecs.marks import other_bytes
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import BlockData, JavaClass, JavaObject, java_class
from tests.interop.conftest import NEWEST_BY_DAY
from tests.interop.programs import JAVA, JavaProgram
from tests.interop.sides import recoded
from tests.peer import JavaPeer
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import same
from tests.versions import OLDEST

SOURCES = [JAVA / f"{name}.java" for name in ("Streams", "Refused")]
plain = SerializationCodec()
generic = SerializationCodec(unknown="generic")


class Streams:
    """The program in ``java/Streams.java``."""

    def __init__(self, classes: Path) -> None:
        self.classes = classes
        self._program = JavaProgram("Streams", SOURCES, classes)
        self.close = self._program.close
        lines = self._program.call()
        self.samples = {line.split()[0]: bytes.fromhex(line.split()[1]) for line in lines}

    def read(self, written: Sequence[bytes]) -> list[list[str]]:
        """Of each value the class and the text in Java, and what Java writes of it in hex; of others the error."""
        lines = self._program.call("read", sent="\n".join(data.hex() for data in written))
        return [line.split("\t") for line in lines]


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Streams]:
    with closing(Streams(tmp_path_factory.mktemp("streams"))) as made:
        yield made


#: What leaves its own fields out, so that nothing but the class itself can read it.
LAWLESS = "lawless"
#: It is declared below, and no declaration says that the class has a writeObject, which is a bit in Java's bytes.
QUIET = "quiet"


def test_what_is_read_without_declarations_is_written_as_it_was(streams: Streams) -> None:
    names = [name for name in streams.samples if name not in (LAWLESS, QUIET)]
    assert len(names) > 20
    texts = dict(zip(streams.samples, streams.read(list(streams.samples.values())), strict=True))
    written = [generic.encode(generic.decode(streams.samples[name])) for name in names]
    assert dict(zip(names, written, strict=True)) == {name: streams.samples[name] for name in names}
    for name, answer in zip(names, streams.read(written), strict=True):
        # What Java writes of a value that it read may differ from the first: in the objects that were texts of the
        # program, in the length of a hash table.
        assert answer == texts[name], name
        assert len(answer) == 3, (name, answer)


def test_a_value_of_several_streams_has_one_class_descriptor_each(streams: Streams) -> None:
    samples = streams.samples
    together = [generic.decode(samples[name]) for name in ("plain", "stamped", "plain", "signed", "external", "quiet")]
    (answer,) = streams.read([generic.encode(together)])
    assert answer[0] == "java.util.ArrayList", answer
    data = generic.encode(together)
    assert data.count(b"Streams$Plain\0") == 1
    assert data.count(b"Streams$Stamped\0") == 1
    assert bytes.fromhex(answer[2]).count(b"Streams$Plain\0") == 1


def test_what_was_read_can_be_changed_and_written(streams: Streams) -> None:
    stamped = generic.decode(streams.samples["stamped"])
    assert stamped.fields == {"name": "a"}
    assert stamped.data == {"Streams$Stamped": [BlockData(b"\0\0\0\3"), [1, "x"], BlockData(b"\1\2\3")]}
    stamped.fields["name"] = "b"
    stamped.data["Streams$Stamped"][1] = ["y"]
    external = generic.decode(streams.samples["external"])
    (first, *_), (second, *_) = external.data["Streams$Temperature"][1:], external.data["Streams$Temperature"]
    assert (first, second) == ("C", BlockData(b"\x40\x35\x80\0\0\0\0\0"))
    external.data["Streams$Temperature"][1] = "F"
    texts = [answer[1] for answer in streams.read([generic.encode(stamped), plain.encode(external)])]
    assert texts == ["b 30817 [y]", "21.5 F"]


def test_a_changed_object_must_still_be_one_of_its_class(streams: Streams) -> None:
    def changed(change: Callable[[JavaObject], object]) -> str:
        value = generic.decode(streams.samples["stamped"])
        change(value)
        with pytest.raises(EncodeError) as caught:
            generic.encode([value])
        assert caught.value.path.startswith("$[0]")
        return str(caught.value)

    assert "without its field name" in changed(lambda value: value.fields.clear())
    assert "no field or class other" in changed(lambda value: value.fields.update(other=1))
    assert "no field or class Streams$Plain" in changed(lambda value: value.data.update({"Streams$Plain": [1]}))
    assert "5 of type int cannot be a java.lang.String" in changed(lambda value: value.fields.update(name=5))
    assert "came from no stream" in changed(lambda value: setattr(value, "described", None))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("external", "Streams$Temperature writes data with a writeExternal of its own"),
        ("stamped", "Streams$Stamped writes data with a writeObject of its own"),
        ("signed", "Streams$Stamped writes data with a writeObject of its own"),
        ("list-with-data-of-its-own", "Streams$Sealed writes data with a writeObject of its own"),
        ("list-of-ones-own", "Streams$Names extends java.util.ArrayList: declare it as a subclass of that in Python"),
        ("map-of-ones-own", "Streams$Counts extends java.util.HashMap: declare it as a subclass of that in Python"),
        (
            "vector-of-ones-own",
            "Streams$Stackable extends java.util.Vector: declare it as a subclass of that in P",
        ),
        ("plain", 'Streams$Plain is not declared: write a Python class for it under @java_class("Streams$Plain", s'),
    ],
)
def test_what_no_declaration_describes_is_named(streams: Streams, name: str, words: str) -> None:
    with pytest.raises(DecodeError) as caught:
        plain.decode(streams.samples[name])
    assert words in str(caught.value)


def test_a_class_that_leaves_out_its_fields_is_named(streams: Streams) -> None:
    for codec in (plain, generic):
        with pytest.raises(DecodeError, match=r"Streams\$Lawless seems to write data without its fields"):
            codec.decode(streams.samples[LAWLESS])


@java_class("Streams$Sealed", serial_version_uid=9)
class Sealed(list[str]):
    pass


@java_class("Streams$Stamped", serial_version_uid=2)
@attrs.define
class Stamped:
    name: str | None


@java_class("Streams$Quiet", serial_version_uid=4)
@attrs.define
class Quiet:
    size: int
    name: str | None


@java_class("Streams$Money$Form", serial_version_uid=6)
@attrs.define
class Form:
    cents: java.long


@java_class("Streams$Priority", constant_bodies=True)
class Priority(Enum):
    LOW = 1
    HIGH = 2


def test_declared_classes_among_them(streams: Streams) -> None:
    samples = streams.samples
    assert plain.decode(samples["quiet"]) == Quiet(3, "q")
    assert plain.decode(samples["replaced"]) == [Form(5), Form(6)]
    with pytest.raises(DecodeError, match="writeObject of its own"):
        plain.decode(samples["stamped"])
    assert generic.decode(samples["stamped"]).data
    answers = streams.read([plain.encode(Quiet(4, "r")), plain.encode([Form(7), Priority.HIGH])])
    assert [answer[1] for answer in answers] == ["4 r", "[7 cents, HIGH]"]


# What generate-classes sees of them

#: By class: what keeps Java from reading its fields alone.
REFUSED = {
    "Counted": r"Refused\$Counted is not written in .*, because its writeObject\(\) writes more than the fields: send",
    "Counting": r"Refused\$Counted is not written .* more than the fields",
    "Peeking": r"because its readObject\(\) reads more than the fields",
    "Proxied": r"because its readObject\(\) does not read the fields",
    "Listed": "because its serialPersistentFields say what is written",
    "OfUnmade": r"because Refused\$Unmade has no constructor without arguments, which Java calls to read it",
    "OfBare": r"OfBare extends Refused\$Bare, which is not Serializable in Java: its fields would be lost",
    "Inner": "because the enclosing object is not written",
}


def test_what_java_could_not_read_is_not_written(streams: Streams, monkeypatch: pytest.MonkeyPatch) -> None:
    module = streams.classes / "generated_refused.py"
    names = [f"Refused.{name}" for name in (*REFUSED, "Putting", "OfNear", "Cents", "Pair")]
    assert main(["generate-classes", str(streams.classes), *names, "-o", str(module)]) == 0
    monkeypatch.syspath_prepend(streams.classes)
    made: Any = importlib.import_module(module.stem)
    for name, reason in REFUSED.items():
        value = getattr(made, name)(a=5)
        for codec, holder in (plain, [value]), (Kryo5Codec(), java.unmodifiable([value])):
            with pytest.raises(EncodeError, match=reason):
                codec.encode(holder)
        assert Kryo5Codec().decode(Kryo5Codec().encode([value])) == [value]
    right = [made.Putting(a=5), made.OfNear(a=6), made.Cents(7), made.Pair(1, "b")]
    (answer,) = streams.read([plain.encode(right)])
    assert answer[1] == "[Putting 5, OfNear 6 0, Cents 7, Pair[a=1, b=b]]"
    # Java says of a class that it has a writeObject, and its declaration does not.
    again = plain.decode(bytes.fromhex(answer[2]))
    assert again == right
    assert "Refused$Putting has a writeObject" in other_bytes(again)


# Constants of enums


def test_the_name_of_a_constant_is_as_java_writes_it(streams: Streams) -> None:
    low, high = Priority.LOW, Priority.HIGH
    values: dict[str, Any] = {
        "text-then-constant": ["LOW", low, "LOW", low],
        "constant-then-text": [low, "LOW", "LOW"],
        "two-constants": [java.TimeUnit.DAYS, low, "LOW", "DAYS"],
        "enum-map": java.EnumMap(Priority, {low: "HIGH", high: 1}),
        "type-texts": ["Ljava/lang/Object;", java.SimpleEntry("a", "Ljava/lang/Object;")],
        "entries": [java.SimpleEntry("a", 1), java.SimpleImmutableEntry(None, "a")],
    }
    for name, value in values.items():
        assert plain.encode(value) == streams.samples[name], name
        assert plain.decode(streams.samples[name]) == value


NAMED_ALIKE: list[Any] = [
    ["RED", acme.Color.RED, "RED"],
    [acme.Color.RED, "RED", acme.Color.RED],
    [java.TimeUnit.DAYS, java.ChronoUnit.DAYS, "DAYS", java.TimeUnit.HOURS, java.ChronoUnit.HOURS],
    {"EARTH": acme.Planet.EARTH, "x": "EARTH"},
    java.EnumMap(acme.Color, {acme.Color.RED: "GREEN", acme.Color.GREEN: "RED", acme.Color.BLUE: "BLUE"}),
    java.EnumMap(acme.Planet, {acme.Planet.EARTH: acme.Color.RED, acme.Planet.PLUTO: "EARTH"}),
    java.unmodifiable(["RED", acme.Color.RED, "RED"]),
    java.Throwable("java.lang.IllegalStateException", "RED"),
    ["Ljava/lang/String;", java.ObjectArray(["RED", acme.Color.RED]), java.Uri("RED")],
]


@pytest.mark.parametrize("version", NEWEST_BY_DAY)
@pytest.mark.parametrize("codec", [SerializationCodec(), Kryo5Codec()], ids=repr)
def test_constants_named_like_texts_go_to_java_and_back(
    peers: Callable[[str], JavaPeer], codec: Any, version: str
) -> None:
    values = [*NAMED_ALIKE, NAMED_ALIKE]
    if codec.name == "Kryo5Codec" and version == OLDEST:
        # There Kryo loses what its JavaSerializer would write.
        values = [value for value in NAMED_ALIKE if type(value) in (list, dict)]
    written = [codec.encode(value) for value in values]
    for value, data, answer in zip(values, written, recoded(peers(version), codec.name, written), strict=True):
        assert "hex" in answer, (value, answer)
        assert same(codec.decode(bytes.fromhex(answer["hex"])), value), (value, data)


# Class objects


def test_the_class_of_an_enum_goes_to_java_and_back(streams: Streams) -> None:
    made = [JavaClass("Streams$Priority"), JavaClass("java.nio.file.StandardOpenOption"), JavaClass("java.lang.Enum")]
    (answer,) = streams.read([plain.encode(made)])
    assert answer[1:] == [
        "[class Streams$Priority, class java.nio.file.StandardOpenOption, class java.lang.Enum]",
        plain.encode(made).hex(),
    ]
    for name in ("classes", "classes-of-enums", "class-and-object"):
        assert generic.encode(generic.decode(streams.samples[name])) == streams.samples[name]


# Other codecs


def test_other_codecs_refuse_what_only_a_stream_holds(streams: Streams) -> None:
    stamped = generic.decode(streams.samples["stamped"])
    for codec in (JsonJacksonCodec(), Kryo5Codec()):
        with pytest.raises(EncodeError, match=r"Streams\$Stamped"):
            codec.encode([stamped])
        for entry in (java.SimpleEntry("a", 1), java.SimpleImmutableEntry("a", 1)):
            with pytest.raises(EncodeError, match="Entry"):
                codec.encode([entry])
