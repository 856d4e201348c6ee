"""Classes with annotations of Jackson: Java's bytes, and Java reads ours. What no declaration can say is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, nullcontext
from enum import Enum
from pathlib import Path
from typing import Any

import attrs
import pytest

from redisson_dq import codecs
from redisson_dq.cli import main
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java.registry import declaration_of
from tests.interop.conftest import NEWEST_BY_DAY
from tests.interop.programs import JAVA, JavaProgram
from tests.interop.rig import module_of
from tests.peer import VERSIONS

SOURCES = sorted((JAVA / "annotated").glob("*.java"))
TYPED = ("TypedJsonJacksonCodec", "TypedJsonJackson3Codec")
BINARY = ("CborJacksonCodec", "SmileJacksonCodec", "MsgPackJacksonCodec", "IonJacksonCodec")
CODECS = ("JsonJacksonCodec", "JsonJackson3Codec", *TYPED, *BINARY, "Kryo5Codec")
#: Where Java leaves out a value, or adds one that it computes.
OTHER_BYTES = {
    "Nulls",
    "NullsSet",
    "AllNullsSet",
    "Computed",
    "Partly",
    "Access",
    "OfSnaky",
    "Defaults",
    "Flags",
    "SubFlags",
    "Mail",
}
#: Of Jackson 3: where Java itself does not see a field, or reads a null where nothing stands.
OTHER_BYTES_3 = {"IsActive", "Password", "PrivateCreator"}


def codec_of(name: str, java_class: str) -> Codec:
    declaration = declaration_of(java_class)
    kind = getattr(codecs, name)
    made: Codec = kind(declaration.python if declaration else object) if name in TYPED else kind()
    return made


@attrs.frozen
class Row:
    """A sample in one codec: Java's bytes, the text of what Java reads of them, and of the sample itself."""

    sample: str
    codec: str
    java_class: str
    data: str
    read: str
    text: str


class Driver:
    """The program in ``java/annotated``, and the generated module of its classes."""

    def __init__(self, classes: Path, version: str) -> None:
        self.classes = classes
        self._program = JavaProgram("annotated.Driver", SOURCES, classes, version=version)
        self.close = self._program.close

    def rows(self, *names: str) -> list[Row]:
        return [Row(*line.split("\t")) for line in self._program.call("write", *names)]

    def read(self, values: list[tuple[str, str, bytes]]) -> list[str]:
        """Of each value, by codec and class, the text of what Java reads."""
        return self._program.call(
            "read", sent="".join(f"{name}\t{kind}\t{data.hex()}\n" for name, kind, data in values)
        )


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    with closing(Driver(tmp_path_factory.mktemp("annotated"), VERSIONS[0])) as made:
        yield made


@pytest.fixture(scope="module")
def names(driver: Driver) -> Any:
    """The generated module of ``Names.java``."""
    path = driver.classes / "generated_names.py"
    assert main(["generate-classes", str(driver.classes), "annotated.Names$*", "-o", str(path)]) == 0
    return module_of(path)


@pytest.mark.parametrize("version", NEWEST_BY_DAY)
def test_java_reads_of_our_bytes_what_it_reads_of_its_own(
    tmp_path: Path, driver: Driver, names: Any, version: str
) -> None:
    with nullcontext(driver) if version == VERSIONS[0] else closing(Driver(tmp_path, version)) as of_version:
        _read_and_write(of_version, is_newest=version == VERSIONS[0])


def _read_and_write(driver: Driver, *, is_newest: bool) -> None:
    rows = driver.rows(*(name for name in CODECS if is_newest or "Jackson3" not in name))
    assert not [row for row in rows if row.data.startswith("ERROR")]
    # As the whole value Java names no record, and cannot read it back.
    unread = {row.sample for row in rows if row.read.startswith("ERROR")}
    assert unread >= {"Line", "LineNull", "SnakeLine", "Partly", "Created2", "Accessor", "Sorted"}
    rows = [row for row in rows if not row.read.startswith("ERROR")]
    if not is_newest:  # where a UUID carries no class
        rows = [row for row in rows if row.sample != "Box3"]
    assert len(rows) > (500 if is_newest else 350)
    written = []
    for row in rows:
        codec = codec_of(row.codec, row.java_class)
        data = codec.encode(codec.decode(bytes.fromhex(row.data)))
        may_differ = OTHER_BYTES | (OTHER_BYTES_3 if "Jackson3" in row.codec else set())
        # Older Jacksons sort the fields of some records otherwise.
        if is_newest and row.sample not in may_differ and row.codec != "Kryo5Codec":
            assert (row.sample, row.codec, data) == (row.sample, row.codec, bytes.fromhex(row.data))
        written.append((row.codec, row.java_class, data))
    for row, text in zip(rows, driver.read(written), strict=True):
        assert (row.sample, row.codec, text) == (row.sample, row.codec, row.read)


def test_an_object_that_python_makes_is_whole_in_java(driver: Driver, names: Any) -> None:
    made = [
        (names.Renamed(amount=3, note="n", tags=["a"]), "Renamed(amount=3 note=n tags=[a] )"),
        (names.Exchanged(a="x", b="y"), "Exchanged(a=x b=y )"),
        (
            names.SnakeSubSub(firstName="f", lastName="l", middleName="m"),
            "SnakeSubSub(middleName=m lastName=l firstName=f yearBorn=0 )",
        ),
        (names.Split(plain="p", value="v"), "Split(plain=p value=v )"),
        (names.Created(amount=5, note="n"), "Created(amount=5 note=n )"),
        (names.AllNulls(currency=None, n=3), "AllNulls(currency=null other=x n=3 )"),
        (names.Hidden(amount=4, secret="s", shown="y"), "Hidden(amount=4 secret=null other=null shown=y )"),
        (names.Access(id=4, password="p"), "Access(id=0 password=p note=null )"),
        (
            [names.Line(5, "n", 2), names.Level.HIGH, names.Rank.SECOND],
            "[Line(amount=5 note=n quantity=2 ), HIGH, SECOND]",
        ),
    ]
    # Java loses the class of an enum with @JsonValue in Ion.
    names_of = [name for name in CODECS if name not in (*TYPED, "IonJacksonCodec", "Kryo5Codec")]
    sent = [(name, "java.lang.Object", codec_of(name, "").encode(value)) for value, _ in made for name in names_of]
    assert driver.read(sent) == [text for _, text in made for _ in names_of]


def test_an_alias_is_read_and_the_name_is_written(names: Any) -> None:
    codec = JsonJacksonCodec()
    value = codec.decode(b'{"@class":"annotated.Names$Aliased","total":5,"remark":"n"}')
    assert value == names.Aliased(amount=5, note="n")
    assert codec.encode(value) == b'{"@class":"annotated.Names$Aliased","amt":5,"note":"n"}'
    assert codec.decode(b'["annotated.Names$Color","green"]') is names.Color.GREEN


def test_kryo_sees_no_annotation(names: Any) -> None:
    codec = Kryo5Codec()
    value = names.Hidden(amount=4, secret="s")
    assert codec.decode(codec.encode(value)) == value


#: By class: what is said of it.
REFUSED = {
    "Unwrapped": "@JsonUnwrapped on field inner",
    "UnwrappedGetter": "@JsonUnwrapped on getInner()",
    "AnyGetter": "@JsonAnyGetter on getMore()",
    "AnyField": "@JsonAnySetter on field more",
    "OfValue": "@JsonValue on field text",
    "OfValueMethod": "@JsonValue on toText()",
    "Delegating": "@JsonCreator on of(), which takes the whole value",
    "DelegatingMode": "@JsonCreator on its constructor, which takes the whole value",
    "Formatted": "@JsonFormat on field day",
    "AsText": "@JsonFormat on field id",
    "AsArray": "@JsonFormat(shape = ARRAY)",
    "Serialized": "@JsonSerialize on field id",
    "Deserialized": "@JsonDeserialize on setNote() for the field note",
    "SerializedWhole": "@JsonSerialize",
    "Built": "@JsonDeserialize",
    "Circle": "@JsonTypeInfo(use = NAME, include = WRAPPER_ARRAY)",
    "OfShape": "@JsonTypeInfo(use = NAME, include = WRAPPER_ARRAY) of annotated.Refusals$Shape on field shape",
    "TypedElsewhere": "@JsonTypeInfo(use = CLASS, include = PROPERTY, property = type)",
    "TypedField": "@JsonTypeInfo on field any",
    "Identified": "@JsonIdentityInfo",
    "Child": "@JsonBackReference on field parent",
    "Parent": "@JsonManagedReference on field children",
    "Raw": "@JsonRawValue on field json",
    "Filtered": "@JsonFilter",
    "Strange": "@JsonNaming(Refusals$OwnNames.class)",
    "LessOfInner": "@JsonIgnoreProperties on field inner",
    "OtherType": "@JsonProperty on getCents(), which has another type than its field cents",
    "OnlyCreated": "@JsonProperty on its constructor for amount, which is not a field",
    "Kept": "@JsonProperty on the transient field token",
    "SubOfUnwrapped": "@JsonUnwrapped on field inner",
    "Bundled": "@JsonSerialize on field id",
    "Numbered": "@JsonFormat(shape = NUMBER)",
    "Unnamed": "@JsonProperty without a name on the constant B",
    "Twice": '@JsonProperty that calls several constants "B"',
}


def test_what_no_declaration_can_say_is_refused(driver: Driver, capsys: pytest.CaptureFixture[str]) -> None:
    path = driver.classes / "generated_refusals.py"
    assert main(["generate-classes", str(driver.classes), "annotated.Refusals$*", "-o", str(path)]) == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if " has @" in line]
    made = module_of(path)
    for name, reason in REFUSED.items():
        java_name = f"annotated.Refusals${name}"
        assert [line for line in warnings if line.startswith(f"redisson-dq: warning: {java_name} has {reason}")], name
        kind = getattr(made, name)
        is_enum = issubclass(kind, Enum)
        value = kind.A if is_enum else kind()
        body = f'["{java_name}","A"]' if is_enum else f'{{"@class":"{java_name}"}}'
        for codec in JsonJacksonCodec(), codecs.CborJacksonCodec():
            with pytest.raises(EncodeError) as caught:
                codec.encode([value])
            assert f"{java_name} has {reason}, which decides" in str(caught.value)
        with pytest.raises(DecodeError) as unread:
            JsonJacksonCodec().decode(f'["java.util.ArrayList",[{body}]]'.encode())
        assert f"{java_name} has {reason}" in str(unread.value)
        assert Kryo5Codec().decode(Kryo5Codec().encode([value])) == [value]
    assert {line.partition(" has @")[0].rpartition("$")[2] for line in warnings} == {*REFUSED}


def test_texts_of_constants_that_only_code_knows_can_be_given(driver: Driver) -> None:
    path = driver.classes / "generated_computed.py"
    command = ["generate-classes", str(driver.classes), "annotated.Refusals$Computed", "-o", str(path)]
    assert main(command) == 0
    text = path.read_text("utf-8")
    refused = 'json=java.Json(refused="@JsonValue on code()")'
    assert refused in text
    path.write_text(text.replace(refused, 'json={"A": 0, "B": 10}'), "utf-8")
    assert main(command) == 0
    assert 'json={"A": 0, "B": 10}' in path.read_text("utf-8")
