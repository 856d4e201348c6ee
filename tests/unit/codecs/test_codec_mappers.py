"""Jackson's codecs beside mappers with a naming strategy or a default typing of their own."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import attrs
import pytest

from redisson_dq import codecs, java
from redisson_dq.codecs import AvroJacksonCodec, JsonJacksonCodec, TypedJsonJackson3Codec, TypedJsonJacksonCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import Json, java_class

AVRO = """{"type": "record", "name": "Note", "fields": [
    {"name": "ORDER_ID", "type": ["null", "string"]}, {"name": "PAID", "type": "boolean"}]}"""
NAMES = (
    *("JsonJacksonCodec", "JsonJackson3Codec", "CborJacksonCodec", "SmileJacksonCodec", "MsgPackJacksonCodec"),
    "IonJacksonCodec",
)


@java_class("com.acme.mappers.Note", json=Json(aliases={"paid": ["settled"]}))
@attrs.define
class Note:
    orderId: str | None = None
    paid: bool = False


@java_class("com.acme.mappers.Sheet")
@attrs.define
class Sheet:
    firstNote: Note | None = None
    allNotes: list[Note] | None = None


SHEET = Sheet(Note("a"), [Note("b", True), Note()])


def made(name: str, **options: Any) -> Any:
    return getattr(codecs, name)(**options)


@pytest.mark.parametrize("name", NAMES)
def test_a_renamed_field_is_read_and_written(name: str) -> None:
    codec = made(name, naming="snake_case")
    data = codec.encode(SHEET)
    assert codec.decode(data) == SHEET
    assert b"first_note" in data
    assert b"order_id" in data
    assert b"orderId" not in data


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [SHEET, [SHEET], {"a": Note("b")}, [Note("b"), Note("c")]], ids=type)
def test_a_field_in_another_spelling_is_never_lost(name: str, value: Any) -> None:
    for written, read in (("snake_case", None), (None, "kebab_case"), ("lower_case", "upper_camel_case")):
        option = repr(written) if written else "leave out naming="
        with pytest.raises(DecodeError, match=rf"is read with a field \S+, and the bytes have \S+: .*{option}"):
            made(name, naming=read).decode(made(name, naming=written).encode(value))


def test_codecs_of_one_type_take_a_naming() -> None:
    note = Note("a", True)
    typed: Any
    for typed in (TypedJsonJacksonCodec, TypedJsonJackson3Codec):
        codec = typed(Note, naming="kebab_case")
        assert codec.decode(codec.encode(note)) == note
        assert codec.encode(note) == b'{"order-id":"a","paid":true}'
    avro = AvroJacksonCodec(Note, AVRO, naming="upper_snake_case")
    assert avro.decode(avro.encode(note)) == note
    assert made("CborJackson3Codec").decode(made("CborJackson3Codec", naming="snake_case").encode(note)) == {
        "order_id": "a",
        "paid": True,
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"orderId":"a","order_id":"b"}', Note("a")),  # both are there, so none is lost
        ('{"customerId":"b"}', Note()),  # a field that Java has since, and one that is null
        ('{"settled":true}', Note(paid=True)),
    ],
)
def test_other_fields_that_are_not_declared_are_left_out(text: str, value: Note) -> None:
    assert TypedJsonJacksonCodec(Note).decode(text.encode()) == value


def test_a_spelling_that_no_strategy_writes_is_declared() -> None:
    with pytest.raises(
        DecodeError, match=r"orderId, and the bytes have order_Id: declare json={'orderId': 'order_Id'}"
    ):
        TypedJsonJacksonCodec(Note).decode(b'{"order_Id":"a"}')


def test_exceptions_are_refused_where_names_are_others() -> None:
    error = java.Throwable("java.lang.IllegalStateException", "no")
    with pytest.raises(EncodeError, match="send its text"):
        JsonJacksonCodec(naming="snake_case").encode(error)
    data = JsonJacksonCodec().encode(error).replace(b"stackTrace", b"stack_trace")
    with pytest.raises(DecodeError, match="send its text"):
        JsonJacksonCodec(naming="snake_case").decode(data)


TYPINGS = ("wrapper_array", "property")


@pytest.mark.parametrize("value", [SHEET, [SHEET], {"a": {"b": [1]}}, [Note("b"), java.HashMap(a=1)]], ids=type)
def test_what_a_codec_reads_it_writes_in_the_same_form(value: Any) -> None:
    readers = [JsonJacksonCodec(), *(TypedJsonJacksonCodec(object, typing=typing) for typing in TYPINGS)]
    for writer in readers:
        data = writer.encode(value)
        for reader in readers:
            try:
                found = reader.decode(data)
            except DecodeError as error:
                assert "typing=" in str(error)  # noqa: PT017
                assert writer is not reader
            else:
                assert (found, reader.encode(found)) == (value, data)


def test_a_typed_codec_refuses_the_names_of_classes() -> None:
    for codec in (JsonJacksonCodec(), *(TypedJsonJacksonCodec(object, typing=typing) for typing in TYPINGS)):
        with pytest.raises(DecodeError, match="which this codec would not write again"):
            TypedJsonJacksonCodec(Note).decode(codec.encode(Note("a")))


def test_an_object_of_a_json_library_is_declared_as_a_map() -> None:
    data = b'{"@class":"cn.hutool.json.JSONObject","id":["java.lang.Long",5],"inner":{"@class":"java.util.HashMap"}}'

    @java_class("cn.hutool.json.JSONObject")
    class JSONObject(java.LinkedHashMap[str, Any]):
        pass

    value = JsonJacksonCodec().decode(data)
    assert type(value) is JSONObject
    assert value == {"id": 5, "inner": {}}
    assert JsonJacksonCodec().encode(value) == data


def test_a_date_in_a_pattern_is_read_by_a_field_of_text() -> None:
    @java_class("com.acme.mappers.Dated")
    @attrs.define
    class Dated:
        at: java.LocalDateTime | None = None

    @java_class("com.acme.mappers.Texted")
    @attrs.define
    class Texted:
        at: str | None = None

    data = b'{"at":"2024-02-29 12:30:15"}'
    with pytest.raises(
        DecodeError,
        match=r"is not a java.time.LocalDateTime: '2024-.*; give a pattern, as 'yyyy-MM-dd HH:mm:ss'",
    ) as caught:
        TypedJsonJacksonCodec(Dated).decode(data)
    assert "again" not in str(caught.value)
    codec = TypedJsonJacksonCodec(Texted)
    assert codec.encode(codec.decode(data)) == data


def test_no_digits_are_lost_where_classes_stand_before_values() -> None:
    data = b'["java.math.BigDecimal",12345678901234567.89]'
    typed = TypedJsonJacksonCodec(object, typing="wrapper_array")
    assert typed.decode(data) == Decimal("12345678901234567.89")
    assert typed.encode(typed.decode(data)) == data
    for text in (data, b'{"price":%s}' % data, b'["com.acme.mappers.Note",{"paid":true}]'):
        with pytest.raises(DecodeError, match=r'typing="wrapper_array"'):
            TypedJsonJacksonCodec(object).decode(text)
    names = ["java.math.BigDecimal", "java.lang.String"]
    assert TypedJsonJacksonCodec(object).decode(TypedJsonJacksonCodec(object).encode(names)) == names


def test_a_queue_of_one_type_keeps_the_typing() -> None:
    codec = TypedJsonJacksonCodec(object, typing="wrapper_array").typed(Note)
    assert codec.encode(Note("a")) == b'["com.acme.mappers.Note",{"orderId":"a","paid":false}]'
    with pytest.raises(EncodeError):
        codec.encode("a")


@pytest.mark.parametrize("options", [{"naming": "snake"}, {"naming": 5}, {"typing": "everything"}, {"typing": []}])
def test_unknown_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=next(iter(options))):
        TypedJsonJacksonCodec(object, **options)
