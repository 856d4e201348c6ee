"""Classes that not every codec of Redisson 4 reads back, in the bytes that it writes of them."""

from __future__ import annotations

import re

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    Codec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    SerializationCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import java_class

JSON: list[Codec] = [JsonJacksonCodec(), JsonJackson3Codec()]
SET = "java.util.Collections$SetFromMap"
QUEUE = "java.util.concurrent.DelayQueue"
SET_FROM_HASH_MAP = (
    "aced0005737200206a6176612e7574696c2e436f6c6c656374696f6e732453657446726f6d4d61702210b25045f21fc40200014c00016d"
    "74000f4c6a6176612f7574696c2f4d61703b7870737200116a6176612e7574696c2e486173684d61700507dac1c31660d103000246000a"
    "6c6f6164466163746f724900097468726573686f6c6478703f4000000000000c7708000000100000000174000178737200116a6176612e"
    "6c616e672e426f6f6c65616ecd207280d59cfaee0200015a000576616c756578700178"
)
PROPERTIES = (
    "aced000573720007582450726f70734751e98b646712320200014900056578747261787200146a6176612e7574696c2e50726f70657274"
    "6965733912d07a70363e980200014c000864656661756c74737400164c6a6176612f7574696c2f50726f706572746965733b787200136a"
    "6176612e7574696c2e486173687461626c6513bb0f25214ae4b803000246000a6c6f6164466163746f724900097468726573686f6c6478"
    "703f40000000000002770800000003000000017400016b74000176787000000003"
)


@java_class("com.acme.unread.Cents", implements=["java.lang.Number"], serial_version_uid=1)
@attrs.define
class Cents:
    of: java.int = 0


@java_class("com.acme.unread.Tenths", implements=[], json={"of": "o"}, serial_version_uid=1)
@attrs.define
class Tenths(Cents):
    more: java.int = 0


@java_class("X$Props", serial_version_uid=0x4751E98B64671232)
class Props(java.Hashtable[str, str]):
    """As if the class extended Hashtable itself."""

    extra: java.int = 3


@pytest.mark.parametrize("value", [Cents(5), Tenths(5, 6)])
def test_a_subclass_of_number_is_no_json(value: Cents) -> None:
    """Jackson writes the text that its toString() gives, without quotes."""
    for codec in (*JSON, MsgPackJacksonCodec(), IonJacksonCodec(), TypedJsonJacksonCodec(type(value))):
        with pytest.raises(EncodeError, match=r"unread\.\w+ has the superclass java\.lang\.Number, .* with Kryo5Codec"):
            codec.encode(value)
    for codec in JSON:
        with pytest.raises(DecodeError, match=r"Cents has the superclass java\.lang\.Number"):
            codec.decode(b'["com.acme.unread.Cents",5]')
    for other in (Kryo5Codec(), SerializationCodec()):
        assert other.decode(other.encode([value])) == [value]


def test_no_class_extends_a_map_of_identities() -> None:
    with pytest.raises(ArgumentError, match=r"no declared class extends java\.util\.IdentityHashMap"):

        @java_class("com.acme.unread.Settings")
        class Settings(java.IdentityHashMap[str, str]):
            pass


def test_a_declaration_that_hides_properties_is_found_out() -> None:
    with pytest.raises(DecodeError, match=r"X\$Props extends java\.util\.Properties: declare it as a subclass of that"):
        SerializationCodec().decode(bytes.fromhex(PROPERTIES))
    kept = SerializationCodec(unknown="generic")
    assert kept.encode(kept.decode(bytes.fromhex(PROPERTIES))).hex() == PROPERTIES


@pytest.mark.parametrize(
    ("codec", "data", "words"),
    [
        (Kryo5Codec(), "0100" + SET[:-1].encode().hex() + "f08203008278", "a HashSet or a LinkedHashSet"),
        (SerializationCodec(), SET_FROM_HASH_MAP, 'a HashSet .*unknown="generic"'),
        *((codec, f'["{SET}",["x"]]'.encode().hex(), "a HashSet or a LinkedHashSet") for codec in JSON),
        (Kryo5Codec(), "0100" + QUEUE[:-1].encode().hex() + "e501", "an ArrayList of its elements"),
        *((codec, f'["{QUEUE}",[]]'.encode().hex(), "an ArrayList of its elements") for codec in JSON),
    ],
)
def test_what_is_not_read_says_what_to_send(codec: Codec, data: str, words: str) -> None:
    with pytest.raises(DecodeError, match=f"cannot be read: send {words}") as raised:
        codec.decode(bytes.fromhex(data))
    assert raised.value.data.hex() == data


@pytest.mark.parametrize("name", [SET, QUEUE])
def test_it_is_not_written_either(name: str) -> None:
    for codec in (*JSON, MsgPackJacksonCodec(), Kryo5Codec(), SerializationCodec()):
        with pytest.raises(EncodeError, match=re.escape(name)):
            codec.encode(java.Elements(name, ["x"]))


def test_an_unknown_set_from_a_map_is_written_back_where_java_reads_it() -> None:
    data = bytes.fromhex(SET_FROM_HASH_MAP)
    codec = SerializationCodec(unknown="generic")
    assert codec.encode(codec.decode(data)) == data
    json = JsonJacksonCodec(unknown="generic")
    with pytest.raises(EncodeError, match="SetFromMap is not written: send a HashSet"):
        json.encode(json.decode(f'["{SET}",["x"]]'.encode()))
