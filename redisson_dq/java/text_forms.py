"""Texts that become a Currency, a Class, a URI or a URL. Every JVM reads the texts that are taken here.

A text that only some JVMs read is refused. ``java.Currency`` and its kin are not looked into, so it can be sent as one
of these.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address

from redisson_dq.errors import ArgumentError
from redisson_dq.java import values
from redisson_dq.java.arrays import PRIMITIVE_CODES, component_of
from redisson_dq.java.hierarchy import is_jdk, kind_of
from redisson_dq.java.registry import declaration_of

__all__ = ["class_named", "currency", "uri", "url"]

#: Those of JDK 17. ISO 4217 adds one now and then, and an older JDK does not have it.
_CODES = """
ADP AED AFA AFN ALL AMD ANG AOA ARS ATS AUD AWG AYM AZM AZN BAM BBD BDT BEF BGL BGN BHD BIF BMD BND BOB BOV
BRL BSD BTN BWP BYB BYN BYR BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CSD CUC CUP CVE CYP CZK DEM DJF
DKK DOP DZD EEK EGP ERN ESP ETB EUR FIM FJD FKP FRF GBP GEL GHC GHS GIP GMD GNF GRD GTQ GWP GYD HKD HNL HRK
HTG HUF IDR IEP ILS INR IQD IRR ISK ITL JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL
LTL LUF LVL LYD MAD MDL MGA MGF MKD MMK MNT MOP MRO MRU MTL MUR MVR MWK MXN MXV MYR MZM MZN NAD NGN NIO NLG
NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PTE PYG QAR ROL RON RSD RUB RUR RWF SAR SBD SCR SDD SDG SEK SGD SHP
SIT SKK SLE SLL SOS SRD SRG SSP STD STN SVC SYP SZL THB TJS TMM TMT TND TOP TPE TRL TRY TTD TWD TZS UAH UGX
USD USN USS UYI UYU UZS VEB VED VEF VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XFO XFU XOF XPD
XPF XPT XSU XTS XUA XXX YER YUM ZAR ZMK ZMW ZWD ZWG ZWL ZWN ZWR
"""
_CURRENCIES = frozenset(_CODES.split())


def currency(text: str) -> values.Currency:
    if text not in _CURRENCIES:
        raise ArgumentError("it is not a currency code that is known here, such as EUR; make it a java.Currency")
    return values.Currency(text)


#: The classes that each JVM has beside the JDK's classes in the table, without those that Java 21 has added there.
_BESIDE = frozenset(("void", "java.lang.Object", *PRIMITIVE_CODES))
_JAVA_21 = "java.util.Sequenced"


def class_named(text: str) -> values.JavaClass:
    name = text
    try:
        if text[:1] == "[":
            component_of(text)
            name = component_of("[" + text.lstrip("["))
    except ValueError:
        name = ""
    is_jdk_class = is_jdk(name) and kind_of(name) is not None and not name.startswith(_JAVA_21)
    if not (is_jdk_class or name in _BESIDE or declaration_of(name) is not None):
        raise ArgumentError("it is the name of no class that is known here; make it a java.JavaClass")
    return values.JavaClass(text)


_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*")
#: Java also allows characters beyond ASCII, but controls and spaces.
_LETTER = r"%[0-9A-Fa-f]{2}|[A-Za-z0-9_\-.!~*'();:&=+$,@]|[^\x00-\x9f\s]"
_NAME = re.compile(f"(?:{_LETTER})+")
_PATH = re.compile(f"(?:{_LETTER}|/)*")
_ANY = re.compile(rf"(?:{_LETTER}|[/?\[\]])*")
_SERVER = re.compile(rf"(?:(?:(?!@)(?:{_LETTER}))*@)?\[([^\]]*)\](?::[0-9]*)?")


def uri(text: str) -> values.Uri:
    found = _PARTS.fullmatch(text)
    assert found is not None  # it takes any text
    scheme, authority, path, query, fragment = found.groups()
    if scheme is None:
        is_right = authority is not None or ":" not in path.partition("/")[0]
    else:
        is_right = _SCHEME.fullmatch(scheme) is not None
    if authority:
        is_right = is_right and (_NAME.fullmatch(authority) is not None or _is_server(authority))
    elif authority is not None or (scheme is not None and not path):
        is_right = is_right and bool(path or query is not None or (authority is not None and fragment is not None))
    is_opaque = scheme is not None and authority is None and path[:1] != "/"
    is_right = is_right and (_ANY if is_opaque else _PATH).fullmatch(path) is not None
    if not is_right or any(part is not None and _ANY.fullmatch(part) is None for part in (query, fragment)):
        raise ArgumentError("it is not a URI")
    return values.Uri(text)


def _is_server(authority: str) -> bool:
    """Whether the host is an IPv6 address."""
    found = _SERVER.fullmatch(authority)
    return found is not None and _is_ipv6(found[1])


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return "%" not in text


_URL = re.compile(
    r"(?:https?|ftp|file):(?://(?:[^/?#@\[\]]*@)?(?:[^/?#@:\[\]]*|\[([^\]]*)\])(?::[0-9]{0,5})?(?:[/?#].*)?|(?!//).*)",
    re.DOTALL,
)


def url(text: str) -> values.Url:
    found = _URL.fullmatch(text)
    if found is None or (found[1] is not None and not _is_ipv6(found[1])):
        raise ArgumentError("it is not a URL of a protocol that each JVM has, such as https; make it a java.Url")
    return values.Url(text)
