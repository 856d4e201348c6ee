"""Addresses of java.net."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.serialization.descriptors import array_descriptor
from redisson_dq.codecs.serialization.handler import ClassHandler, array_field, field, put, text_field
from redisson_dq.codecs.serialization.protocols import DecoderProtocol, EncoderProtocol
from redisson_dq.codecs.serialization.stream import ArrayInstance, Content, Instance
from redisson_dq.java.numbers import INT_MAX

__all__ = ["INET4", "HANDLERS"]

_SIX_BYTES = 16
_SCOPE = re.compile("[0-9]{1,10}")
#: The number of IPv6. Before Java 1.4, most systems also used it for IPv4, so it occurs with both.
_FAMILY = 2


def _read_inet4(node: Instance, decoder: DecoderProtocol) -> Any:
    return _named(node, decoder, IPv4Address(field(node, "address", int) & 0xFFFFFFFF))


def _read_inet6(node: Instance, decoder: DecoderProtocol) -> Any:
    raw = array_field(node, "ipaddress", "[B")
    if len(raw) != _SIX_BYTES:
        raise Malformed(f"an Inet6Address of {len(raw)} bytes", node.offset)
    if field(node, "scope_ifname_set", bool):
        raise Malformed("an Inet6Address with the name of a network interface", node.offset)
    address = IPv6Address(raw)
    if field(node, "scope_id_set", bool):
        address = IPv6Address(f"{address}%{field(node, 'scope_id', int)}")
    return _named(node, decoder, address)


def _named(node: Instance, decoder: DecoderProtocol, address: IPv4Address | IPv6Address) -> Any:
    name = text_field(node, "hostName", decoder, null=True)
    return address if name is None else java.InetAddress(address, name)


def _host_name(value: Any) -> str | None:
    return value.host_name if isinstance(value, java.InetAddress) else None


def _address(value: Any) -> Any:
    return value.address if isinstance(value, java.InetAddress) else value


def _write_inet4(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
    number = int.from_bytes(_address(value).packed, "big", signed=True)
    put(node, {"address": number, "family": _FAMILY, "hostName": _host_name(value)})


def _write_inet6(node: Instance, value: Any, _encoder: EncoderProtocol) -> None:
    address = _address(value)
    values: dict[str, Content] = {"family": _FAMILY, "hostName": _host_name(value)}
    values["ipaddress"] = ArrayInstance(array_descriptor("[B"), address.packed)
    if address.scope_id is not None:
        if _SCOPE.fullmatch(address.scope_id) is None or int(address.scope_id) > INT_MAX:
            raise Unencodable("an IPv6 address of a scope that is not a number")
        values |= {"scope_id": int(address.scope_id), "scope_id_set": True}
    put(node, values)


def _read_socket(node: Instance, decoder: DecoderProtocol) -> java.InetSocketAddress:
    address = decoder.value(field(node, "addr", (Instance, type(None))))
    name = field(node, "hostname", (str, type(None)))
    try:
        return java.InetSocketAddress(name if address is None else address, field(node, "port", int))
    except ValueError as error:
        raise Malformed(str(error), node.offset) from error


def _write_socket(node: Instance, value: java.InetSocketAddress, encoder: EncoderProtocol) -> None:
    unresolved = isinstance(value.host, str)
    host = encoder.content(value.host)
    put(node, {"port": value.port, "hostname" if unresolved else "addr": host})


INET4 = ClassHandler("java.net.InetAddress", _read_inet4, IPv4Address, _write_inet4)
HANDLERS: tuple[ClassHandler, ...] = (
    INET4,
    ClassHandler("java.net.Inet6Address", _read_inet6, IPv6Address, _write_inet6),
    ClassHandler(java.InetSocketAddress.java_name, _read_socket, java.InetSocketAddress, _write_socket),
)
