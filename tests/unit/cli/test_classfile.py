"""The reader of .class files: what it sees is what Java sees, and broken files end in one kind of error."""

from __future__ import annotations

import random
import subprocess
import zipfile
from pathlib import Path

import pytest

from redisson_dq.cli.generate_classes._classfile import FINAL, STATIC, TRANSIENT, BadClass, ClassFile, read_class
from redisson_dq.cli.generate_classes._serial_version import serial_version_uid
from redisson_dq.cli.generate_classes._signatures import OBJECT, TypeUse, class_signature, field_type
from tests.peer import JVM, VERSIONS, build


@pytest.fixture(scope="session")
def names_class(java_classes: Path) -> bytes:
    return (java_classes / "shop" / "Names.class").read_bytes()


class TestReading:
    def test_a_class(self, names_class: bytes) -> None:
        java = read_class(names_class)
        assert (java.name, java.superclass, java.interfaces) == (
            "shop.Names",
            "java.lang.Object",
            ("java.io.Serializable",),
        )
        by_name = {field.name: field for field in java.fields}
        assert by_name["größe"].descriptor == "I"
        assert by_name["otherLine"].descriptor == "Ldepot/Order$Line;"
        assert by_name["counted"].flags & STATIC
        assert by_name["forgotten"].flags & TRANSIENT
        assert [java.is_interface, java.is_enum, java.is_record] == [False, False, False]

    def test_the_modifiers_of_a_nested_class_are_those_in_the_source(self, java_classes: Path) -> None:
        ball = read_class((java_classes / "shop" / "Shapes$Ball.class").read_bytes())
        assert ball.modifiers & (FINAL | STATIC) == FINAL | STATIC

    def test_kinds(self, java_classes: Path) -> None:
        assert read_class((java_classes / "shop" / "Shapes$Unit.class").read_bytes()).is_enum
        assert read_class((java_classes / "shop" / "Shapes$Disc.class").read_bytes()).is_record
        assert read_class((java_classes / "shop" / "Shapes$Shape.class").read_bytes()).is_interface

    def test_texts_are_javas(self) -> None:
        """Java writes a zero in two bytes and a character beyond U+FFFF as two surrogates; lone ones are possible."""
        for text, data in [
            ("a\0b", b"a\xc0\x80b"),
            ("\U0001f600", b"\xed\xa0\xbd\xed\xb8\x80"),
            ("\ud83d!", b"\xed\xa0\xbd!"),
            ("ä", "ä".encode()),
        ]:
            assert _class_called(data).name == text


class TestBroken:
    def test_every_truncation(self, names_class: bytes) -> None:
        for size in range(len(names_class)):
            with pytest.raises(BadClass):
                read_class(names_class[:size])

    def test_more_behind_the_end(self, names_class: bytes) -> None:
        with pytest.raises(BadClass, match="after its end"):
            read_class(names_class + b"\0")

    def test_another_file(self) -> None:
        with pytest.raises(BadClass, match="does not begin like one"):
            read_class(b"PK\x03\x04 and so on")

    def test_a_constant_of_a_later_java(self, names_class: bytes) -> None:
        data = bytearray(names_class)
        data[10] = 99
        with pytest.raises(BadClass, match="constant of kind 99, unknown here: broken, or from a later Java"):
            read_class(bytes(data))

    def test_a_later_version_is_read(self, names_class: bytes) -> None:
        data = bytearray(names_class)
        data[4:8] = b"\0\0\x03\xe7"
        assert read_class(bytes(data)) == read_class(names_class)

    def test_a_module(self) -> None:
        with pytest.raises(BadClass, match="a module"):
            _class_called(b"module-info", flags=0x8000)

    def test_any_byte_changed(self, names_class: bytes) -> None:
        """Some changes leave a class, most do not; none raises anything else."""
        dice = random.Random(0)
        read = 0
        for _ in range(4_000):
            data = bytearray(names_class)
            data[dice.randrange(len(data))] = dice.randrange(256)
            try:
                read += isinstance(read_class(bytes(data)), ClassFile)
            except BadClass:
                continue
        assert 0 < read < 4_000


def _class_called(name: bytes, flags: int = 0) -> ClassFile:
    """A class file with nothing in it but its name."""
    constants = b"\x01" + len(name).to_bytes(2, "big") + name + b"\x07\0\x01"
    head = b"\xca\xfe\xba\xbe" + b"\0\0\0\x34" + b"\0\x03" + constants
    return read_class(head + flags.to_bytes(2, "big") + b"\0\x02" + bytes(10))


class TestSignatures:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("I", TypeUse("int")),
            ("[[J", TypeUse("long", dimensions=2)),
            ("Ljava/lang/String;", TypeUse("java.lang.String")),
            ("TT;", TypeUse("T", is_variable=True)),
            ("[TT;", TypeUse("T", is_variable=True, dimensions=1)),
            ("La/B<*>;", TypeUse("a.B", (OBJECT,))),
            (
                "La/B<+La/C<TT;>;-[I>;",
                TypeUse(
                    "a.B",
                    (
                        TypeUse("a.C", (TypeUse("T", is_variable=True),), wildcard="extends"),
                        TypeUse("int", dimensions=1, wildcard="super"),
                    ),
                ),
            ),
            ("La/B<TX;>.C.D<La/E;>;", TypeUse("a.B$C$D", (TypeUse("a.E"),))),
        ],
    )
    def test_types(self, text: str, expected: TypeUse) -> None:
        assert field_type(text) == expected

    def test_of_a_class(self) -> None:
        head = class_signature("<T:Ljava/lang/Object;U::La/I<TT;>;:La/J;>La/B<TU;>;La/I<TT;>;")
        interface = TypeUse("a.I", (TypeUse("T", is_variable=True),))
        assert head.parameters == {"T": OBJECT, "U": interface}
        assert head.superclass == TypeUse("a.B", (TypeUse("U", is_variable=True),))

    @pytest.mark.parametrize(
        "text", ["", "V", "L;", "La/B", "La/B<", "La/B<>", "TT", "[", "II", "La/B;;", "La/B<+>;", "La/B." * 9]
    )
    def test_what_is_no_type(self, text: str) -> None:
        with pytest.raises(BadClass, match="a type that cannot be read"):
            field_type(text)

    @pytest.mark.parametrize("text", ["", "<T>", "<T:Ljava/lang/Object;", "<:>La/B;", "La/B;x"])
    def test_what_is_no_head_of_a_class(self, text: str) -> None:
        with pytest.raises(BadClass, match="a type that cannot be read"):
            class_signature(text)

    def test_types_nested_without_end(self) -> None:
        with pytest.raises(BadClass, match="a type that cannot be read"):
            field_type("La/B<" * 10_000)


_FEW = ("jackson-core", "commons-compress", "netty-common")
_JARS = ("redisson", "kryo", "jackson", "netty-common", "commons-compress", "protostuff")


class TestSerialVersionUid:
    @pytest.mark.parametrize(("names", "at_least"), [(_FEW, 100), pytest.param(_JARS, 900, marks=pytest.mark.nightly)])
    def test_it_is_what_java_computes(self, java_classes: Path, names: tuple[str, ...], at_least: int) -> None:
        """Of Redisson's classes and a few of its dependencies': declared, computed, nested, abstract."""
        jars = [jar for jar in sorted((build(VERSIONS[0]) / "lib").glob("*.jar")) if jar.name.startswith(names)]
        ours = {java.name: serial_version_uid(java) for jar in jars for java in _classes(jar)}
        classpath = ":".join(map(str, [java_classes, *jars]))
        command = [*JVM, "-cp", classpath, "Uids"]
        done = subprocess.run(command, input="\n".join(ours), capture_output=True, text=True, check=True)
        theirs = {name: int(uid) for name, uid in (line.split() for line in done.stdout.splitlines())}
        assert len(theirs) > at_least
        assert {name: ours[name] for name in theirs} == theirs


def _classes(jar: Path) -> list[ClassFile]:
    with zipfile.ZipFile(jar) as opened:
        paths = [path for path in opened.namelist() if path.endswith(".class")]
        return [read_class(opened.read(path)) for path in paths if not path.startswith(("META-INF", "module-info"))]
