"""Java's bytes, read in Python, changed at one leaf and written: Java finds that change, and nothing else."""

from __future__ import annotations

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from redisson_dq.codecs import Codec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from tests.conftest import by_night
from tests.interop.one_leaf import Leaf, changed_leaf, differences, is_place, leaves, text_of
from tests.peer import FAST_START, OPENS, VERSIONS, JavaPeer, PeerError
from tests.unit.codecs import acme  # noqa: F401 - the classes in the samples
from tests.unit.codecs.specs import codec_of
from tests.vector_files import rows

#: Of each value so many leaves at night.
_MOST = 8
#: One sample in so many by day, with one leaf.
_FEW = 25
#: What cannot be changed: the elements of Collections.nCopies, the time zones of Java's serialization, and what no
#: Jackson, or Kryo before Redisson 4.7, reads back.
REFUSED = {"immutable/ncopies", "lang/bitset-empty", "set/concurrent"}
REFUSED |= {"timezone/utc", "timezone/berlin", "timezone/offset"}
#: And a StringBuilder where CharSequence is declared, and a field that an Avro schema lacks.
REFUSED |= {"object/loose-others", "object/ticket"}
#: Its declaration lacks the annotations of Java, and so has a field that Java does not know.
UNLIKE = {"object/ticket"}
#: Jackson 3 writes a Long that fits an Integer as one, if it is the whole value. Redisson 3.50 wrote a UUID that it
#: reads as a text.
OF_ANOTHER_CLASS = {("JsonJackson3Codec", "optional/long"), ("ProtobufCodec", "uuid/random")}


@attrs.frozen
class Change:
    """A sample with another leaf."""

    name: str
    before: bytes
    after: bytes
    new: Any
    #: Where it is. An object that is in several places has changed in all of them.
    places: list[tuple[Any, ...]]


def samples(version: str, codecs: str, few: bool) -> dict[str, list[Any]]:
    """By the spec of a codec."""
    found = defaultdict(list)
    for row in rows(codecs, version):
        number = zlib.crc32(f"{row['codec']}{row['name']}".encode())
        if "hex" in row and not row["name"].startswith("cycle/") and (not few or number % _FEW == 0):
            found[json.dumps(row.get("spec") or row["codec"])].append(row)
    return found


class _Read:
    """A value that was read again, with its leaves."""

    def __init__(self, codec: Codec, data: bytes) -> None:
        self.value = codec.decode(data)
        self.leaves = self.walked()

    def walked(self) -> list[Leaf]:
        return list(leaves(self.value, lambda new: setattr(self, "value", new)))


def changes(codec: Codec, row: Any, most: int, counts: Counter[str]) -> Iterator[Change]:
    """The sample with each of some of its leaves changed."""
    data = bytes.fromhex(row["hex"])
    try:
        count = len(_Read(codec, data).leaves)
    except DecodeError:
        counts["not read"] += 1
        return
    if not count:
        counts["no leaves"] += 1
    for index in range(0, count, 1 + count // most):
        read = _Read(codec, data)
        before = read.leaves
        leaf = before[index]
        new = changed_leaf(leaf.value)
        try:
            if new is None:
                raise ValueError("nothing else fits there")
            leaf.put(new)
        except ValueError:
            counts["no other value"] += 1
            continue
        try:
            after = codec.encode(read.value)
        except EncodeError as error:
            counts["refused" if row["name"] in REFUSED else f"refused: {row['name']}: {error}"] += 1
            continue
        if codec.name == "JsonJackson3Codec" and not _has_getter(leaf.path, data):
            counts["no getter in Java"] += 1
            continue
        places = [leaf.path]
        if "*" not in leaf.path:
            pairs = zip(before, read.walked(), strict=True)
            places = [one.path for one, other in pairs if repr(one.value) != repr(other.value)]
        yield Change(row["name"], data, after, new, places)


def _has_getter(path: tuple[Any, ...], data: bytes) -> bool:
    """Whether Jackson 3 has written the field that a leaf is in, or is."""
    fields = [step for step in path if isinstance(step, str)]
    return not fields or f'"{fields[-1]}"'.encode() in data


def wrong(change: Change, before: Any, after: Any, name: str) -> str | None:
    """What Java finds beside the change."""
    if isinstance(after, PeerError):
        return str(after)
    found = list(differences(before, after))
    if len(found) != len(change.places):
        return f"{len(found)} changes: {found!r:.300}"
    for (place, old, new), ours in zip(found, change.places, strict=True):
        if not is_place(ours, place) and (name, change.name) != ("IonJacksonCodec", "set/hashset-1-and-1L"):
            return f"at {place}, not at {ours}"
        told = _told(change.new)
        if told is not None and told not in text_of(new):
            return f"{told!r} became {text_of(new)!r}"
        one, other = (each["$"] if isinstance(each, dict) else type(each) for each in (old, new))
        if one != other and name != "IonJacksonCodec" and (name, change.name) not in OF_ANOTHER_CLASS:
            return f"{one} became {other}"
    return None


def _told(new: Any) -> str | None:
    """The text of a leaf in Java, where it is the one of Python."""
    if isinstance(new, bool):
        return json.dumps(new)
    if isinstance(new, int):
        return str(int(new))
    return str.__str__(new) if isinstance(new, str) else None


def check_changes(peer: JavaPeer, version: str, kind: str, *, few: bool) -> Counter[str]:
    counts: Counter[str] = Counter()
    failures = []
    for spec, found in samples(version, kind, few).items():
        of_java = json.loads(spec)
        try:
            codec = codec_of(of_java, version)
        except ArgumentError:  # a type that Java's codec does not read back
            counts["no codec"] += len(found)
            continue
        made = [change for row in found for change in changes(codec, row, 1 if few else _MOST, counts)]
        said = [
            peer.call_many("describe", [{"hex": data.hex()} for data in each], codec=of_java)
            for each in ([change.before for change in made], [change.after for change in made])
        ]
        for change, before, after in zip(made, *said, strict=True):
            if isinstance(before, PeerError):
                counts["Java does not read its own"] += 1
                continue
            counts["changed"] += 1
            why = wrong(change, before, after, codec.name)
            if why is not None and change.name not in UNLIKE:
                failures.append((spec[:80], change.name, change.places, repr(change.new)[:60], why))
    assert failures == []
    assert not [why for why in counts if why.startswith("refused: ")]
    return counts


@pytest.mark.parametrize("few", [True, by_night(False)])
@pytest.mark.parametrize("version", [VERSIONS[0], *map(by_night, VERSIONS[1:])])
def test_java_finds_just_the_change(peers: Callable[[str], JavaPeer], version: str, few: bool) -> None:
    counts = check_changes(peers(version), version, "types", few=few)
    print(version, dict(counts))
    assert counts["changed"] > (120 if few else 5000)
    assert counts["refused"] < counts["changed"] / 50


@pytest.mark.nightly
def test_java_finds_just_the_change_in_its_own_protocol() -> None:
    with JavaPeer(VERSIONS[-1], flags=(*FAST_START, *OPENS)) as peer:
        counts = check_changes(peer, VERSIONS[-1], "marshalling", few=False)
    print(dict(counts))
    assert counts["changed"] > 600
