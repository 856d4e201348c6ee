"""Turns the settings of a file into a URL, options of redis-py and a codec. Any other setting is an error that names
it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote, unquote_plus, urlsplit

import attrs

from redisson_dq import codecs
from redisson_dq._common.texts import nearest
from redisson_dq._redisson_config.known import DECIDES, ENCRYPTED, HARMLESS, MEANINGLESS, REFUSED, SERVERS, TAKEN
from redisson_dq._redisson_config.reading import NamedObject, RedissonConfig, read
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import ArgumentError, RedissonDQError

__all__ = ["FileSettings", "taken_from"]

logger = logging.getLogger("redisson_dq")

_SCHEMES = {"redis": "redis", "valkey": "redis", "rediss": "rediss", "valkeys": "rediss"}
_SOCKETS = ("redis+uds://", "valkey+uds://")
_CODEC = re.compile(r"org\.redisson\.(?:client\.)?codec\.(\w+)")
# Java's largest int.
_LARGEST = 2**31 - 1
_OF_KRYO5 = frozenset(("allowedClasses", "useReferences"))
_TLS = {"TLSv1.2": 0x0303, "TLSv1.3": 0x0304}


@attrs.frozen
class FileSettings:
    """The settings of a file. ``redis_options`` contains the passwords; ``url`` contains none."""

    #: Empty if the file names no server. This is only accepted if the user gives one.
    url: str
    redis_options: dict[str, Any] = attrs.field(repr=False)
    #: None if the file names no codec.
    codec: Codec[Any] | None


def taken_from(source: RedissonConfig, given: Collection[str] = ()) -> FileSettings:
    """Reads a file and adopts its settings. ``given`` are options that the user has given as well; these win.

    Raises ArgumentError for a file that cannot be read, and for a setting that is unknown or cannot be adopted.
    """
    content, where = read(source)
    return _SettingsFile(content, where, given).taken()


class _SettingsFile:
    """The settings of one file, including those of its server section."""

    def __init__(self, content: Mapping[str, Any], where: str, given: Collection[str]) -> None:
        self._where, self._given = where, given
        self._has_url = "url" in given
        self._content = content
        sections = [name for name in SERVERS if content.get(name) is not None]
        if len(sections) != 1 and not (self._has_url and not sections):
            found = "has " + " and ".join(sections) if sections else "has none"
            raise ArgumentError(f"{where}: expected one of {', '.join(SERVERS)}, and the file {found}")
        self._section = sections[0] if sections else "singleServerConfig"
        of_server = content.get(self._section, {})
        if not isinstance(of_server, Mapping):
            raise self._wrong(self._section, "it has no settings")
        # Redisson 4 has many settings outside the server section, and still accepts them inside it.
        self._settings: dict[str, Any] = {}
        self._add({name: value for name, value in content.items() if name not in SERVERS})
        self._add(of_server)

    def _add(self, settings: Mapping[str, Any]) -> None:
        for name, value in settings.items():
            known = self._settings.get(name)
            if value is None or (known is not None and _is_default(value)):
                continue
            if name not in MEANINGLESS and known not in (None, value) and not _is_default(known):
                raise self._wrong(name, f"it is in {self._section} with another value")
            self._settings[name] = value

    def taken(self) -> FileSettings:
        self._check_names()
        self._check_encrypted()
        addresses = self._settings.get(SERVERS[self._section])
        if self._has_url:
            if addresses:
                raise self._wrong(SERVERS[self._section], "connect() has got a URL too; say the server once")
            return self._without_server()
        if isinstance(addresses, str) and addresses.startswith(_SOCKETS):
            return self._socket(addresses)
        protocol, nodes, options = self._servers()
        options.update(self._of_connections())
        if protocol == "rediss":
            options.update(self._tls())
        for name in REFUSED:
            self._refuse(name, protocol)
        url = f"{protocol}://{nodes[0]}"
        if self._section == "sentinelServersConfig":
            url = f"{protocol}+sentinel://{','.join(nodes)}/{quote(self._text('masterName', wanted=True), safe='')}"
        elif self._section == "clusterServersConfig":
            url = f"{protocol}+cluster://{','.join(nodes)}"
        return FileSettings(url, options, None if "codec" in self._given else self._codec())

    def _without_server(self) -> FileSettings:
        """All settings except the server, which the user has named separately."""
        options = self._of_connections()
        for name in REFUSED.keys() - {"sslCiphers", "sslKeystore", "sslTruststore"}:
            self._refuse(name, "redis")
        return FileSettings("", options, None if "codec" in self._given else self._codec())

    def _socket(self, address: str) -> FileSettings:
        path = address.partition("://")[2]
        if self._section != "singleServerConfig" or not path.startswith("/"):
            raise self._wrong(SERVERS[self._section], "a socket is one server: redis+uds:///run/redis.sock")
        database = self._whole("database")
        found = self._without_server()
        options = {**found.redis_options, **({"db": database} if database else {})}
        return attrs.evolve(found, url=f"unix://{quote(path)}", redis_options=options)

    def _check_names(self) -> None:
        known = TAKEN | MEANINGLESS | REFUSED.keys()
        for name in sorted(self._settings.keys() - known):
            meant = nearest(name, known)
            hint = f"; did you mean {meant}?" if meant else ""
            if any(word in each.lower() for word in DECIDES for each in (name, meant or "")):
                raise self._wrong(name, f"this library knows no such setting{hint}")
            logger.warning("%s: %s is ignored: this library knows no such setting%s", self._where, name, hint)
        ignored = sorted(self._settings.keys() & MEANINGLESS)
        if ignored:
            logger.debug("%s: these settings change nothing here: %s", self._where, ", ".join(ignored))

    def _check_encrypted(self) -> None:
        """Raises ArgumentError for a value that Redisson PRO decrypts."""
        for name in sorted(self._settings.keys() & TAKEN):
            value = self._settings[name]
            values = value if isinstance(value, list) else [value]
            if any(isinstance(each, str) and each.startswith(ENCRYPTED) for each in values):
                if name not in ("username", "password") or name not in self._given:
                    raise self._wrong(name, f"{ENCRYPTED} is a value that Redisson PRO decrypts; give {name} in plain")
                del self._settings[name]

    # -- servers -----------------------------------------------------------------------------------------------------

    def _servers(self) -> tuple[str, list[str], dict[str, Any]]:
        """The protocol, the nodes, and the options for this kind of server."""
        name = SERVERS[self._section]
        addresses = self._settings.get(name)
        addresses = [addresses] if isinstance(addresses, str) else addresses
        if not isinstance(addresses, list) or not addresses:
            raise self._wrong(name, "it must be an address such as redis://127.0.0.1:6379")
        if self._section == "replicatedServersConfig" and len(addresses) > 1:
            raise self._wrong(name, "this library does not look for the master among several; name only the master")
        options: dict[str, Any] = {}
        protocols, nodes = set(), []
        for address in addresses:
            protocol, node, login = self._node(name, str(address))
            protocols.add(protocol)
            nodes.append(node)
            options.update(login)
        if len(protocols) > 1:
            raise self._wrong(name, "either all of its addresses begin with rediss:// or none does")
        database = self._whole("database")
        if database:
            options["db"] = database
        if self._section == "sentinelServersConfig":
            options.update(self._texts(sentinel_username="sentinelUsername", sentinel_password="sentinelPassword"))
        if self._section == "clusterServersConfig":
            options.update(self._of_cluster())
        elif self._settings.get("natMap"):
            raise self._wrong("natMap", "only a cluster's addresses can be mapped")
        return protocols.pop(), nodes, options

    def _node(self, name: str, address: str) -> tuple[str, str, dict[str, str]]:
        try:
            parts = urlsplit(address)
            protocol, port = _SCHEMES[parts.scheme], parts.port
        except (KeyError, ValueError):
            raise self._wrong(name, "an address begins with redis:// or rediss://, and has a host and a port") from None
        database = parts.path.strip("/")
        # Any other text at this place may be part of a password.
        if not parts.hostname or parts.query or parts.fragment or not re.fullmatch("[0-9]{0,5}", database):
            raise self._wrong(name, "an address has a host and a port, and nothing behind them")
        if database and database != str(self._whole("database")):
            why = f"Redisson ignores the /{database} of an address; write database: {database}, or remove it"
            raise self._wrong(name, why)
        login = {"username": parts.username, "password": parts.password}
        if parts.password is None:
            # As in Redisson: a single name is a password.
            login = {"username": None, "password": parts.username}
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        found = {of: unquote_plus(text) for of, text in login.items() if text}
        return protocol, f"{host}:{port}" if port else host, found

    def _of_cluster(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if not self._flag("checkSlotsCoverage", True):
            options["require_full_coverage"] = False
        addresses = self._settings.get("natMap")
        if addresses:
            try:
                pairs = {_pair(inside): _pair(outside) for inside, outside in addresses.items()}
            except (AttributeError, ValueError):
                raise self._wrong("natMap", "it maps host:port to host:port") from None
            options["address_remap"] = lambda address: pairs.get(address, address)
        return options

    # -- connections -------------------------------------------------------------------------------------------------

    def _of_connections(self) -> dict[str, Any]:
        options: dict[str, Any] = self._texts(username="username", password="password", client_name="clientName")
        for option, name in (("socket_timeout", "timeout"), ("socket_connect_timeout", "connectTimeout")):
            milliseconds = self._whole(name)
            if milliseconds:
                options[option] = milliseconds / 1000
        return options

    def _tls(self) -> dict[str, Any]:
        mode = self._text("sslVerificationMode") or "STRICT"
        if not self._flag("sslEnableEndpointIdentification", True) and mode == "STRICT":
            mode = "CA_ONLY" if "sslTruststore" in self._settings else "NONE"
        if mode not in ("STRICT", "CA_ONLY", "NONE"):
            raise self._wrong("sslVerificationMode", "it is STRICT, CA_ONLY or NONE")
        options: dict[str, Any] = {"ssl_check_hostname": mode == "STRICT"}
        if mode == "NONE":
            options["ssl_cert_reqs"] = "none"
        protocols = self._settings.get("sslProtocols")
        if protocols:
            named = {protocols} if isinstance(protocols, str) else set(map(str, protocols))
            if not named & _TLS.keys():
                raise self._wrong("sslProtocols", "Python speaks TLSv1.2 and TLSv1.3")
            options["ssl_min_version"] = min(_TLS[each] for each in named & _TLS.keys())
        for option, name in (("ssl_ca_certs", "sslTruststore"), ("ssl_certfile", "sslKeystore")):
            path = self._pem(name)
            if path:
                options[option] = path
        if "ssl_certfile" in options:
            options.update(self._texts(ssl_password="sslKeystorePassword"))
        return options

    def _pem(self, name: str) -> str:
        """The path of a truststore or a keystore that is a PEM file."""
        path = self._text(name).removeprefix("file:")
        return re.sub("^//+", "/", path) if path.endswith((".pem", ".crt")) else ""

    def _refuse(self, name: str, protocol: str) -> None:
        """Raises ArgumentError for a setting that cannot be adopted, unless the user has given it in another way."""
        value, refused = self._settings.get(name), REFUSED[name]
        if value is None or refused.instead & set(self._given):
            return
        if _is_default(value):
            return
        if name.startswith("ssl") and (protocol == "redis" or not value or self._pem(name)):
            return
        raise self._wrong(name, refused.why)

    def _codec(self) -> Codec[Any] | None:
        value = self._settings.get("codec")
        if value is None:
            return None
        name = value.name if isinstance(value, NamedObject) else str(value)
        found = _CODEC.fullmatch(name)
        if found is None or found[1] not in codecs.__all__ or found[1] == "Codec":
            raise self._wrong("codec", f"this library has no {name}; give codec= one that reads the same bytes")
        if isinstance(value, NamedObject) and value.properties:
            return self._with_properties(found[1], value.properties)
        try:
            made: Codec[Any] = getattr(codecs, found[1])()
        except TypeError:
            raise self._wrong("codec", f"{found[1]} takes arguments; give codec={found[1]}(...)") from None
        except RedissonDQError as error:
            raise self._wrong("codec", str(error)) from error
        return made

    def _with_properties(self, name: str, properties: Any) -> Codec[Any]:
        """Only Kryo5Codec has properties in a file: Redisson has written them since 4.6."""
        if name != "Kryo5Codec" or not isinstance(properties, Mapping) or properties.keys() - _OF_KRYO5:
            raise self._wrong("codec", f"{name} with properties; give codec= the same codec with its options")
        allowed = properties.get("allowedClasses") or []
        references = properties.get("useReferences") or "false"
        if not isinstance(allowed, list) or not all(isinstance(each, str) for each in allowed):
            raise self._wrong("codec", "allowedClasses is a list of names of classes")
        if references not in ("true", "false"):
            raise self._wrong("codec", "useReferences is true or false")
        try:
            return codecs.Kryo5Codec(allowed, references == "true")
        except RedissonDQError as error:
            raise self._wrong("codec", str(error)) from error

    # -- values ------------------------------------------------------------------------------------------------------

    def _text(self, name: str, *, wanted: bool = False) -> str:
        value = self._settings.get(name)
        if not isinstance(value, (str, type(None))) or (wanted and not value):
            raise self._wrong(name, "it must be a text")
        return value or ""

    def _texts(self, **names: str) -> dict[str, str]:
        """The options whose values are texts, by the names of their settings."""
        return {option: text for option, name in names.items() if (text := self._text(name))}

    def _whole(self, name: str) -> int:
        text = self._text(name) or "0"
        if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= _LARGEST):
            raise self._wrong(name, f"it must be a whole number of at most {_LARGEST}")
        number = int(text)
        if text[0] == "0" and len(text) > 1 and (set("89") & set(text) or int(text, 8) != number):
            raise self._wrong(name, f"{text} is octal for Redisson from 4.4 on: write it without the 0 in front")
        return number

    def _flag(self, name: str, default: bool) -> bool:
        text = self._text(name) or str(default).lower()
        if text not in ("true", "false"):
            raise self._wrong(name, "it must be true or false")
        return text == "true"

    def _wrong(self, name: str, why: str) -> ArgumentError:
        return ArgumentError(f"{self._where}: {name} cannot be taken over: {why}")


def _is_default(value: Any) -> bool:
    """Whether this is Redisson's default value."""
    return value == "STRICT" or (isinstance(value, NamedObject) and value.name.rpartition(".")[2] in HARMLESS)


def _pair(text: Any) -> tuple[str, int]:
    host, _, port = str(text).rpartition(":")
    return host, int(port)
