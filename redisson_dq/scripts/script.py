"""Loads the Lua scripts and reads their headers.

A script's header is the comment block at its top, one ``NAME: text`` a line: ``KEYS`` and ``ARGV`` say what it
takes, ``RETURN`` what it gives, ``Answers to`` the Redisson method it stands for, ``COST`` what it costs.
``INCLUDE`` names files of ``include/`` put before its first line. Inside a script its keys have the names of its
header: ``keys.timeout`` is what the queue calls so. ``KEYS: any`` is a script for any number of keys.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources

import attrs

__all__ = ["Script", "load", "names"]


@attrs.frozen(kw_only=True)
class Script:
    """One Lua script as it is sent to Redis."""

    name: str
    source: str
    sha: str
    header: dict[str, str]

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the keys it takes, in order: attribute names of QueueKeys."""
        return _keys(self.header)


_PACKAGE = __name__.rpartition(".")[0]


def _read(*path: str) -> str:
    return resources.files(_PACKAGE).joinpath(*path).read_text("utf-8")


def _keys(header: dict[str, str]) -> tuple[str, ...]:
    named = header["KEYS"]
    return () if named == "any" else tuple(part.strip() for part in named.split(","))


def _header(source: str) -> dict[str, str]:
    fields = {}
    for line in source.splitlines():
        if not line.startswith("--"):
            break
        name, colon, text = line[2:].partition(":")
        if colon:
            fields[name.strip()] = text.strip()
    return fields


@cache
def load(name: str) -> Script:
    """The script of ``<name>.lua``, read once."""
    body = _read(f"{name}.lua")
    header = _header(body)
    included = [_read("include", f"{part.strip()}.lua") for part in header.get("INCLUDE", "").split(",") if part]
    keys = ", ".join(f"{key} = KEYS[{number}]" for number, key in enumerate(_keys(header), 1))
    source = "".join([f"local keys = {{{keys}}}\n" if keys else "", *included, body])
    return Script(name=name, source=source, sha=hashlib.sha1(source.encode()).hexdigest(), header=header)


def names() -> list[str]:
    """The names of all scripts."""
    return sorted(entry.name[:-4] for entry in resources.files(_PACKAGE).iterdir() if entry.name.endswith(".lua"))
