from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NEW: _ClassVar[State]
    SENT: _ClassVar[State]
NEW: State
SENT: State

class Shipment(_message.Message):
    __slots__ = ("id", "sku", "price", "tags", "recipient", "state", "stock", "label", "offset", "insured")
    class StockEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    SKU_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    RECIPIENT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STOCK_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    INSURED_FIELD_NUMBER: _ClassVar[int]
    id: int
    sku: str
    price: float
    tags: _containers.RepeatedScalarFieldContainer[str]
    recipient: Recipient
    state: State
    stock: _containers.ScalarMap[str, int]
    label: bytes
    offset: int
    insured: bool
    def __init__(self, id: _Optional[int] = ..., sku: _Optional[str] = ..., price: _Optional[float] = ..., tags: _Optional[_Iterable[str]] = ..., recipient: _Optional[_Union[Recipient, _Mapping]] = ..., state: _Optional[_Union[State, str]] = ..., stock: _Optional[_Mapping[str, int]] = ..., label: _Optional[bytes] = ..., offset: _Optional[int] = ..., insured: bool = ...) -> None: ...

class Recipient(_message.Message):
    __slots__ = ("name", "city")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CITY_FIELD_NUMBER: _ClassVar[int]
    name: str
    city: str
    def __init__(self, name: _Optional[str] = ..., city: _Optional[str] = ...) -> None: ...
