"""Fields of generic base types: the class of what they hold gets its type arguments from the field, as Java's does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs import Kryo5Codec
from redisson_dq.errors import EncodeError
from redisson_dq.java.arrays import array_of
from tests.interop.sides import recoded
from tests.peer import VERSIONS, JavaPeer
from tests.unit.codecs.results import (
    Both,
    Bounded,
    Cached,
    Failed,
    Fixed,
    Geo,
    Given,
    Half,
    Holder,
    Left,
    Level,
    Listed,
    Mapped,
    Note,
    Of,
    OfGeo,
    Ok,
    Plain,
    Raw,
    Right,
    Step,
    Straight,
    Swapped,
    Tag,
    Twice,
)
from tests.unit.codecs.specs import codec_of

CODECS = (
    "JsonJacksonCodec",
    "JsonJackson3Codec",
    "MsgPackJacksonCodec",
    "CborJacksonCodec",
    "SmileJacksonCodec",
    "IonJacksonCodec",
    "Kryo5Codec",
    "SerializationCodec",
)

GEO, OTHER = Geo(52.5, 13.4), Geo(-1.0, 2.0)
NOTE, TAG = Note("n"), Tag("t")

#: By the field of Holder: objects that it may hold.
VALUES: dict[str, list[Any]] = {
    "geo": [
        Ok(GEO, [OTHER, GEO], array_of("com.acme.result.Results$Geo", [GEO])),
        Cached(GEO, [OTHER], None, OTHER),
        Failed(OTHER, GEO),
        Failed("late", GEO),
        Failed(Level.LOW, GEO),
        Bounded(GEO),
        Fixed(GEO, [GEO], array_of("com.acme.result.Results$Geo", [GEO]), OTHER),
        Ok(),
    ],
    "tag": [Ok(TAG, [TAG]), Cached(TAG, None, None, TAG)],
    "note": [Ok(NOTE, [NOTE], array_of("com.acme.result.Results$Note", [NOTE])), Cached(NOTE, None, None, NOTE)],
    "level": [Ok(Level.HIGH, [Level.LOW]), Bounded(Level.LOW), Failed(Level.LOW, Level.HIGH)],
    "step": [Ok(Step.UP, [Step.STAY]), Bounded(Step.UP)],
    "text": [Ok("a", ["b"], java.StringArray(["c"])), Bounded("a")],
    "number": [Ok(java.Long(5), [java.Long(6)]), Bounded(java.Long(5))],
    "any": [Ok(GEO, [1, "a", Level.HIGH]), Failed(1, Level.LOW)],
    "ints": [Ok(java.IntArray([1, 2]), [java.IntArray([3])])],
    "geos": [Ok(array_of("com.acme.result.Results$Geo", [GEO]))],
    "list_": [Ok([GEO, OTHER], [[GEO]]), Listed(GEO)],
    "deep": [Ok(Ok(GEO, [OTHER]), [Cached(GEO)]), Cached(Fixed(GEO), None, None, Ok(GEO))],
    "open": [Ok(GEO, [OTHER]), Listed(GEO), Bounded(GEO)],
    "raw": [Ok(GEO, [OTHER]), Listed(GEO)],
    "pair": [
        Straight(GEO, Level.HIGH, [Level.LOW]),
        Swapped(GEO, Level.LOW, Level.HIGH, OTHER),
    ],
    "half": [Half(Level.LOW, "s", Level.HIGH), Mapped(Level.LOW, "s", ["u"], {Level.HIGH: "x"})],
    "named": [Mapped("a", GEO, [OTHER], {"b": GEO}), Swapped("a", GEO, OTHER, "b")],
    "either": [Left(GEO), Right(Level.HIGH, [Level.LOW])],
    "twice": [Twice(GEO, OTHER, GEO)],
    "same": [Both(GEO, OTHER), Left(GEO), Right(GEO, [OTHER])],
    "plain": [Plain(GEO), Left(GEO), Right([GEO], [[OTHER]])],
    "supplier": [Given(GEO)],
    "all": [[Ok(GEO), Cached(GEO, [GEO], None, GEO), Fixed(GEO), Failed("late", GEO)]],
    "map": [{"a": Left(Level.HIGH), "b": Right(GEO, [OTHER])}],
    "array": [array_of("com.acme.result.Results$Result", [Ok(GEO), Cached(None, None, None, GEO)])],
    "reference": [java.AtomicReference(Ok(GEO, [OTHER]))],
}


def holders() -> dict[str, Any]:
    found: dict[str, Any] = {
        f"{field}-{type(value).__name__}-{number}": Holder(**{field: value})
        for field, values in VALUES.items()
        for number, value in enumerate(values)
    }
    found["of"] = OfGeo(
        Of(Ok(GEO, [OTHER]), [Left(GEO), Right(GEO, [GEO]), Both(GEO, OTHER)]),
        Of(Cached(Level.HIGH, [Level.LOW]), [Left(Level.LOW), Both(Level.LOW, Level.HIGH)]),
    )
    found["of-unknown"] = Of(Ok(GEO, [OTHER]), [Left(GEO), Right(Level.HIGH, [GEO]), Both(GEO, "x")])
    return found


#: What is read of what Java's Ion writes: an enum among Objects comes back as its name.
IN_ION = {
    "geo-Failed-4": Holder(geo=Failed("LOW", GEO)),
    "level-Failed-2": Holder(level=Failed("LOW", Level.HIGH)),
    "any-Ok-0": Holder(any=Ok(GEO, [1, "a", "HIGH"])),
    "any-Failed-1": Holder(any=Failed(1, "LOW")),
    "of-unknown": Of(Ok(GEO, [OTHER]), [Left(GEO), Right("HIGH", [GEO]), Both(GEO, "x")]),
}

#: What Java itself cannot write: Kryo takes type arguments by their place, whatever the subclass does with them.
NOT_IN_JAVA = {"Kryo5Codec": {"pair-Swapped-1", "half-Half-0", "named-Swapped-1"}}
#: What Java reads and then writes otherwise. Jackson's Ion names no enum among Objects. Kryo names the class of a
#: constant with a body.
WRITTEN_OTHERWISE = {
    "IonJacksonCodec": {"geo-Failed-4", "level-Failed-2", "any-Ok-0", "any-Failed-1", "of-unknown"},
    "Kryo5Codec": {"step-Ok-0", "step-Bounded-1"},
}


@pytest.mark.parametrize("codec", CODECS)
def test_java_writes_what_python_writes(peers: Callable[[str], JavaPeer], codec: str) -> None:
    ours = codec_of(codec, VERSIONS[0])
    values = {name: value for name, value in holders().items() if name not in NOT_IN_JAVA.get(codec, ())}
    written = {name: ours.encode(value) for name, value in values.items()}
    answers = dict(zip(written, recoded(peers(VERSIONS[0]), codec, list(written.values())), strict=True))
    assert {name: ours.decode(data) for name, data in written.items()} == values
    assert {name: answer["error"] for name, answer in answers.items() if "error" in answer} == {}
    assert {name: ours.decode(bytes.fromhex(answer["hex"])) for name, answer in answers.items()} == {
        **values,
        **(IN_ION if codec == "IonJacksonCodec" else {}),
    }
    otherwise = {name for name, data in written.items() if answers[name]["hex"] != data.hex()}
    assert otherwise == WRITTEN_OTHERWISE.get(codec, set())


@pytest.mark.parametrize("name", sorted(NOT_IN_JAVA["Kryo5Codec"]))
def test_kryo_refuses_what_java_cannot_write(name: str) -> None:
    with pytest.raises(EncodeError, match=r"cannot be a (java\.lang\.String|com\.acme\.result\.Results\$\w+) "):
        Kryo5Codec().encode(holders()[name])


@pytest.mark.parametrize("codec", CODECS)
def test_an_object_whose_superclass_is_raw(peers: Callable[[str], JavaPeer], codec: str) -> None:
    ours = codec_of(codec, VERSIONS[0])
    value = Holder(geo=Raw(GEO, [GEO], None, OTHER))
    if "Jackson" in codec:  # Java writes it and cannot read it
        with pytest.raises(EncodeError, match=r"a com.acme.result.Results\$Raw where .*Result<.*Geo> is declared"):
            ours.encode(value)
        return
    written = ours.encode(value)
    assert recoded(peers(VERSIONS[0]), codec, [written])[0]["hex"] == written.hex()
    assert ours.decode(written) == value
