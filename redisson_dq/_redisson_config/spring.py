"""Extracts Redisson's settings from Spring's application.yml: ``spring.data.redis``, ``redisson.config``.

Names are bound as Spring binds them: ``connect-timeout`` is ``connectTimeout``, and dots stand for nesting.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from redisson_dq.errors import ArgumentError

__all__ = ["is_spring", "redisson_content"]

_PLACEHOLDER = re.compile(r"\$\{([^${}]*)\}")
_BEGIN = re.compile(r"^[\"']?spring[\"']?(\.[\w.-]+)?\s*:", re.MULTILINE)
_DURATION = re.compile(r"(\d{1,9})\s*(ms|s|m)?", re.ASCII)
_SCALES = {None: 1, "ms": 1, "s": 1000, "m": 60_000}
_PREFIXES = ("spring.data.redis.", "spring.redis.")
#: The key that names the profile of a document.
_PROFILES = ("spring.config.activate.onprofile", "spring.profiles")
_MOST_ROUNDS = 100
_MOST_PROPERTIES = 20_000
_OF_SENTINEL = {"master": "masterName", "username": "sentinelUsername", "password": "sentinelPassword"}
#: Pools and drivers of Java: their settings change nothing here.
_OF_DRIVERS = ("lettuce.", "jedis.", "clienttype", "repositories.", "cluster.maxredirects", "redisson.")


def is_spring(text: str) -> bool:
    """Whether a YAML file is one of Spring's."""
    return _BEGIN.search(text) is not None


def redisson_content(documents: list[Any], where: str, path: Path) -> tuple[str | None, Mapping[str, Any]]:
    """The text of Redisson's own settings in the file, or None; and the other settings under Redisson's names.

    Raises ArgumentError.
    """
    properties = _properties(documents, where)
    for prefix in _PREFIXES:
        text = properties.get(f"{prefix}redisson.config")
        if text:
            return _resolved(text, properties, where), {}
        file = _resolved(properties.get(f"{prefix}redisson.file") or "", properties, where)
        if file:
            name = file.removeprefix("classpath:").removeprefix("file:").lstrip("/" if "classpath:" in file else "")
            try:
                return (path.parent / name).read_text("utf-8-sig"), {}
            except (OSError, UnicodeDecodeError):
                pass
            raise ArgumentError(f"{where}: {prefix}redisson.file names {name!r}, which cannot be read beside this file")
    found: dict[str, str] = {}
    for prefix in reversed(_PREFIXES):
        found.update({n.removeprefix(prefix): v for n, v in properties.items() if n.startswith(prefix)})
    return None, _settings({name: _resolved(value, properties, where) for name, value in found.items()}, where)


# -- properties ------------------------------------------------------------------------------------------------------


def _properties(documents: list[Any], where: str) -> dict[str, str]:
    """The properties of the documents that apply, by full name. Later documents win."""
    active = set(re.split(r"\s*,\s*", os.environ.get("SPRING_PROFILES_ACTIVE", "")))
    found: dict[str, str] = {}
    for document in documents:
        flat = dict(islice(_flat(document, ""), _MOST_PROPERTIES))
        # Aliases of aliases can define more properties than the file has bytes.
        if len(flat) == _MOST_PROPERTIES:
            raise ArgumentError(f"{where}: a file of Spring with {_MOST_PROPERTIES:,} properties or more is not read")
        wanted = next((flat[name] for name in _PROFILES if name in flat), None)
        if wanted is None or active & set(re.split(r"\s*,\s*", wanted)):
            found.update(flat)
    return found


def _flat(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for part, inner in value.items():
            plain = re.sub("[-_]", "", str(part)).lower()
            yield from _flat(inner, f"{name}.{plain}" if name else plain)
    elif isinstance(value, list):
        yield name, ",".join(str(each) for each in value if not isinstance(each, (Mapping, list)))
    elif value is not None:
        yield name, str(value)


def _resolved(text: str, properties: Mapping[str, str], where: str) -> str:
    """Replaces ``${NAME}`` and ``${NAME:default}``, inner ones first, by values of the environment or the file."""
    for _ in range(_MOST_ROUNDS):
        found = _PLACEHOLDER.search(text)
        if found is None:
            return text
        name, colon, default = found[1].partition(":")
        value = _environment(name.strip())
        if value is None:
            value = properties.get(re.sub("[-_]", "", name.strip()).lower(), default if colon else None)
        if value is None:
            raise ArgumentError(f"{where}: nothing has the value of ${{{name}}}, and it has no default")
        text = text[: found.start()] + value + text[found.end() :]
    raise ArgumentError(f"{where}: its ${{...}} name each other in a circle")


def _environment(name: str) -> str | None:
    """An environment variable by its name, or by Spring's form of it: ``REDIS_HOST`` for ``redis.host``."""
    return os.environ.get(name, os.environ.get(name.replace(".", "_").replace("-", "").upper()))


# -- settings --------------------------------------------------------------------------------------------------------


def _settings(given: dict[str, str], where: str) -> Mapping[str, Any]:
    """Spring's settings under Redisson's names, as its starter does."""
    taken: dict[str, Any] = {}
    for name in ("username", "password", "clientName"):
        if given.get(name.lower()):
            taken[name] = given.pop(name.lower())
    for name in ("timeout", "connectTimeout"):
        if given.get(name.lower()):
            taken[name] = _milliseconds(given.pop(name.lower()), f"{where}: {name}")
    if given.get("database"):
        taken["database"] = given.pop("database")
    section, servers = _servers(given)
    if section == "clusterServersConfig":
        taken.pop("database", None)
    left = {each: value for each, value in given.items() if not each.startswith(_OF_DRIVERS)}
    return {section: {**taken, **servers, **left}}


def _servers(given: dict[str, str]) -> tuple[str, dict[str, Any]]:
    """Redisson's section for the servers, and the settings of their addresses. Takes these out of ``given``."""
    tls = given.pop("ssl", given.pop("ssl.enabled", "false")).lower() == "true"
    scheme = "rediss" if tls else "redis"
    url, host, port = given.pop("url", ""), given.pop("host", ""), given.pop("port", "")

    def nodes(name: str) -> list[str]:
        addresses = [each.strip() for each in given.pop(name).split(",") if each.strip()]
        return [each if "://" in each else f"{scheme}://{each}" for each in addresses]

    if given.get("sentinel.nodes"):
        found: dict[str, Any] = {"sentinelAddresses": nodes("sentinel.nodes")}
        for of_spring, ours in _OF_SENTINEL.items():
            if given.get(f"sentinel.{of_spring}"):
                found[ours] = given.pop(f"sentinel.{of_spring}")
        return "sentinelServersConfig", found
    if given.get("cluster.nodes"):
        return "clusterServersConfig", {"nodeAddresses": nodes("cluster.nodes")}
    if url:
        return "singleServerConfig", _of_url(url)
    if host or port:
        return "singleServerConfig", {"address": f"{scheme}://{host or 'localhost'}:{port or 6379}"}
    return "singleServerConfig", {}


def _of_url(url: str) -> dict[str, Any]:
    """A URL of Spring: it names a database, and a user before the colon."""
    parts = urlsplit(url)
    database = parts.path.strip("/")
    found: dict[str, Any] = {"address": url[: len(url) - len(parts.path)] if database else url}
    return {**found, "database": database} if database else found


def _milliseconds(text: str, where: str) -> str:
    """``3s``, ``500ms``, ``PT3S`` or ``3000``."""
    found = _DURATION.fullmatch(text.strip().removeprefix("PT").lower() if text.startswith("PT") else text.strip())
    if found is None:
        raise ArgumentError(f"{where} cannot be taken over: it must be a duration such as 3s or 500ms")
    return str(int(found[1]) * _SCALES[found[2]])
