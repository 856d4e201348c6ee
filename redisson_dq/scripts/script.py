"""Loads the Lua scripts: reads their headers, and puts each together with the includes it needs.

A script's header is the comment block at its top: a summary, then fields, one ``NAME: text`` a line. ``KEYS`` and
``ARGV`` are its arguments, ``RETURN`` is its reply, ``COST`` its cost. ``Answers to`` is the Redisson method that it
corresponds to, if there is one. Inside a script its keys have the names of its header: ``keys.timeout`` is the key that
QueueKeys calls so. ``KEYS: any`` marks a script for any number of keys.

``INCLUDE`` names the files of ``include/`` whose functions a file calls. An include that calls others has such a line
too. The script has to have each key that they name, but for one that they ask for by ``not keys.NAME``. Each include
is once in the assembled text, before the first file that needs it.

Lua makes each function again in each call. So a script may have a line ``-- INCLUDE: names`` further down, after its
ordinary case. Those files are there. A call that returns before that line does not pay for them.

Redis gets the text without its comments: they are two fifths of it.

ScriptError says what is wrong with the files: a cycle, an include of which nothing is called, a key that the script
is not given.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources

import attrs

__all__ = [
    "READING",
    "WITHHELD",
    "Script",
    "ScriptError",
    "guarded",
    "load",
    "names",
    "numbered",
    "variants",
]


class ScriptError(Exception):
    """The files of the scripts do not fit together. Only somebody who changes them meets it."""


@attrs.frozen(kw_only=True)
class Script:
    """One Lua script."""

    name: str
    #: The text as it is sent to Redis.
    source: str = attrs.field(repr=False)
    sha: str = attrs.field(init=False)
    #: The summary: the header's text before its first field.
    summary: str
    #: The header's fields.
    header: dict[str, str]
    #: The includes in its text, in their order.
    includes: tuple[str, ...]
    #: Whether nothing in its text changes anything.
    only_reads: bool
    #: Whether its reply says, before its result, if a message was refused (``include/announce.lua``).
    announces: bool
    #: The names of the keys it takes, in order: attribute names of QueueKeys.
    keys: tuple[str, ...]

    @sha.default  # pyright: ignore[reportAttributeAccessIssue]
    def _sha(self) -> str:
        return hashlib.sha1(self.source.encode()).hexdigest()

    @property
    def adds(self) -> bool:
        """Whether it makes ids of entries (``include/add.lua``)."""
        return "add" in self.includes

    @property
    def notes(self) -> bool:
        """Whether it notes what it does (``include/events.lua``). Its last argument is the process that calls."""
        return "events" in self.includes

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands it cannot do without, in alphabetical order."""
        return _commands(self.source)


@cache
def _commands(source: str) -> tuple[str, ...]:
    found = re.findall(r"redis\.call\('([A-Z]+)'(?:, '([A-Z]+)')?", re.sub(r"change_nothing\(.*", "", source))
    return tuple(sorted({" ".join(filter(None, words)) for words in found}))


@attrs.frozen
class _File:
    """One ``.lua`` file."""

    text: str
    summary: str
    header: dict[str, str]

    @property
    def needs(self) -> tuple[str, ...]:
        """The includes it calls functions of, from its beginning on."""
        return _listed(self.header.get("INCLUDE", ""))

    @property
    def parts(self) -> list[tuple[tuple[str, ...], str]]:
        """Its text in parts, and the includes that are before each."""
        size = len(re.match(r"(?:--.*\n)*", self.text).group())  # type: ignore[union-attr]
        first, *later = re.split(r"^-- INCLUDE: (.*)\n", self.text[size:], flags=re.MULTILINE)
        return [
            (self.needs, self.text[:size] + first),
            *((_listed(names), text) for names, text in zip(later[::2], later[1::2], strict=True)),
        ]

    @property
    def offers(self) -> set[str]:
        """The functions and constants it defines for others."""
        return {
            name
            for names in re.findall(r"^local (?:function )?(\w+(?:, \w+)*)", self.text, re.MULTILINE)
            for name in names.split(", ")
        }

    def calls(self, names: set[str]) -> bool:
        """Whether it uses one of these names, comments aside."""
        return not names.isdisjoint(re.findall(r"\w+", _COMMENT.sub("", self.text)))


#: The commands of scripts that change nothing.
READING = {
    *("DUMP", "GET", "HGET", "HLEN", "HMGET", "LINDEX", "LLEN", "LPOS", "LRANGE", "MEMORY", "PEXPIRETIME", "PTTL"),
    *("PUBSUB", "TIME", "TYPE", "ZCARD", "ZCOUNT", "ZLEXCOUNT", "ZRANGE", "ZRANGEBYLEX", "ZRANGEBYSCORE", "ZRANK"),
    *("XLEN", "XRANGE", "XREVRANGE", "ZREVRANGEBYSCORE", "ZSCORE"),
}
_PACKAGE = __name__.rpartition(".")[0]
_FIELDS = ("Answers to", "KEYS", "ARGV", "RETURN", "COST", "INCLUDE")


def _read(*path: str) -> _File:
    text = resources.files(_PACKAGE).joinpath(*path).read_text("utf-8")
    return _File(text, *_header(text))


def _include(name: str) -> _File:
    try:
        return _read("include", f"{name}.lua")
    except FileNotFoundError:
        raise ScriptError(f"there is no include {name!r}") from None


def _listed(names: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in names.split(",") if part.strip())


def _header(source: str) -> tuple[str, dict[str, str]]:
    """The summary of a file, and the fields of its header."""
    summary: list[str] = []
    fields: dict[str, str] = {}
    for line in source.splitlines():
        if not line.startswith("--"):
            break
        name, _, text = line[2:].partition(":")
        if name.strip() in _FIELDS:
            fields[name.strip()] = text.strip()
        elif not fields:
            summary.append(line[2:].strip())
    return " ".join(summary), fields


def _resolve(
    what: str, file: _File, names: Iterable[str], done: dict[str, _File], path: tuple[str, ...]
) -> Iterator[str]:
    """Adds the includes that a file needs, each after those that it needs itself. Returns their texts."""
    for name in names:
        if name in path:
            raise ScriptError(f"the includes {' -> '.join((*path[path.index(name) :], name))} need each other")
        include = done.get(name) or _include(name)
        if not file.calls(include.offers):
            raise ScriptError(f"{what} includes {name!r} and calls nothing of it")
        if name not in done:
            yield from _resolve(f"include {name!r}", include, include.needs, done, (*path, name))
            done[name] = include
            yield include.text


# An entry has the length of its value as Redisson's scripts pack it there, in the server's own longs.
_PACKS_LONGS = re.compile(r"pack\('[^']*(?:L|<I8)")
_SAME_LONGS = """\
if #struct.pack('L', 0) ~= 8 then
  return redis.error_reply('LONGSIZE the longs of this server have ' .. #struct.pack('L', 0) .. ' bytes')
end
"""


# No text of a script has two dashes in it.
_COMMENT = re.compile("--.*")
_END_OF_LINE = re.compile(r" *\n[ \n]*\n| +\n")


def _without_comments(text: str) -> str:
    return _END_OF_LINE.sub("\n", _COMMENT.sub("", text)).lstrip()


def _with_numbers(source: str, keys: tuple[str, ...]) -> str:
    """The script with ``KEYS[1]`` for the first of its keys, and so on, as Alibaba Cloud's oldest proxies want it.

    A key that a function has as an argument keeps that name, and there such a script is refused. So does each key of a
    script that turns to another queue for a while (``include/shared_limit.lua``).
    """
    if re.search(r"(?<!local )\bkeys = ", source):
        return source
    numbers = {f"keys.{key}": f"KEYS[{number}]" for number, key in enumerate(keys, 1)}
    return re.sub(r"\bkeys\.\w+", lambda found: numbers.get(found[0], found[0]), source)


def _assembled(name: str, file: _File) -> Script:
    listed = file.header.get("KEYS", "")
    keys = () if listed == "any" else _listed(listed)
    named = ", ".join(f"{key} = KEYS[{number}]" for number, key in enumerate(keys, 1))
    texts = [f"local keys = {{{named}}}\n"] if keys else []
    included: dict[str, _File] = {}
    for needed, text in file.parts:
        texts.extend(_resolve(f"script {name!r}", file, needed, included, ()))
        texts.append(text)
    for part, include in included.items():
        text = _without_comments(include.text)
        missing = set(re.findall(r"\bkeys\.(\w+)", text)).difference(keys, re.findall(r"not keys\.(\w+)", text))
        if missing:
            raise ScriptError(f"script {name!r} has no key {sorted(missing)}, which include {part!r} works on")
    source = _with_numbers(_without_comments("".join(texts)), keys)
    if _PACKS_LONGS.search(source):
        source = _SAME_LONGS + source
    called = re.findall(r"redis\.p?call\((?:'(\w+)')?", source)
    return Script(
        name=name,
        source=source,
        summary=file.summary,
        header=file.header,
        includes=tuple(included),
        only_reads=READING.issuperset(called),
        announces="announce" in included,
        keys=keys,
    )


@cache
def load(name: str) -> Script:
    """The script of ``<name>.lua``, put together once. Raises ScriptError."""
    return _assembled(name, _read(f"{name}.lua"))


#: The answer of a guarded script that does nothing.
WITHHELD = "WITHHELD"
_GUARD = f"""\
if redis.call('EXISTS', table.remove(KEYS)) == 0 then
  return redis.error_reply('{WITHHELD} a lease of the transaction had ended')
end
"""


@cache
def guarded(name: str) -> Script:
    """The script of ``<name>.lua`` that does nothing unless one more key exists: the last of its keys."""
    script = load(name)
    return attrs.evolve(script, source=_GUARD + script.source)


# Where ids are made of the time (include/add.lua).
_IDS = "local function wrapper(envelope, now_us)\n"
_CALLS_BEFORE = "local calls_before = tonumber(table.remove(ARGV))\n"


@cache
def numbered(name: str, *, is_guarded: bool = False) -> Script:
    """A script that adds entries, for a transaction: its last argument says how many such calls come before it.

    Ids are made of the time, which does not move in a transaction from Redis 7.2 on. Each call counts as a microsecond.
    """
    script = guarded(name) if is_guarded else load(name)
    if script.source.count(_IDS) != 1:
        raise ScriptError(f"script {name!r} makes no ids")
    ids = f"{_IDS}  now_us = now_us + calls_before\n"
    return attrs.evolve(script, source=_CALLS_BEFORE + script.source.replace(_IDS, ids))


def variants(name: str) -> list[Script]:
    """The script of ``<name>.lua`` in each form in which it is sent."""
    script = load(name)
    found = [script, guarded(name)]
    if script.adds:
        found += [numbered(name), numbered(name, is_guarded=True)]
    return found


def names() -> list[str]:
    """The names of all scripts."""
    found = resources.files(_PACKAGE).iterdir()
    return sorted(entry.name[:-4] for entry in found if entry.name.endswith(".lua"))
