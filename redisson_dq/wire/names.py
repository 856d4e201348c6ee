"""The way back from a key or a channel to the queue that it belongs to, and the patterns that names are chosen by."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.wire.keys import PREFIXES, NameMapper, PlainNames, is_plain, map_name
from redisson_dq.wire.partitions import whole_of

__all__ = ["CHANNELS", "KEYS", "exact_name", "named", "names_of", "queues_reached", "unmapping"]

#: The patterns of all keys, and of all channels.
KEYS, CHANNELS = "redisson_*", "redisson_delay_queue_channel:*"

# The keys of a dead-letter list, which is a queue's own, or another queue's ready list.
_DEAD = "redisson_dq_dead"
_BESIDE_DEAD = {"redisson_dq_dead_info", "redisson_dq_dead_index"}
_CHANNELS = {"redisson_sc"}
# The calls that put values back into a queue, or into its list of values that could not be decoded.
_RETURNED, _UNDECODABLE = PREFIXES["returned"][0], PREFIXES["undecodable"][0]
_OWN = {prefix for prefix, _ in PREFIXES.values()} | {_DEAD}


def names_of(found: Iterable[bytes]) -> Iterator[str]:
    """The raw names of the queues that these keys and channels belong to. Those of other programs are left out."""
    for key in found:
        try:
            name = _name_of(key.decode())
        except UnicodeDecodeError:
            continue
        if name:
            yield name


def _name_of(key: str) -> str | None:
    prefix, _, rest = key.partition(":")
    if prefix in _BESIDE_DEAD:
        name = _untagged(rest)
        return _name_of(name) if name is not None and name.startswith(f"{_DEAD}:") else name
    name = _untagged(rest) if prefix in _OWN else None
    if name is not None and prefix == _RETURNED and name.startswith(f"{_UNDECODABLE}:"):
        return _name_of(name)
    return name


def _untagged(rest: str) -> str | None:
    # Of the names "a" and "{a}", whose keys are the same, the first one is reported.
    if rest.startswith("{") and rest.endswith("}") and "{" not in rest[1:]:
        return rest[1:-1]
    return rest if "{" in rest else None


def queues_reached(name: str, mapper: NameMapper | None) -> list[str | None]:
    """The names of the queues that have a key of the queue with this name, or of a queue of partitions with this one.

    That is the name, but for ``{a}`` also ``a``, whose keys are the same, and for ``redisson_dq_leases:{a}`` also
    ``a``, to which that key belongs. A partition has the name of its queue. None is a queue that the mapper does not
    name. Raises ArgumentError.
    """
    unmap, raw = unmapping(mapper), map_name(name, mapper)
    # A mapper may give two names one queue.
    raws = [raw]
    while (owner := _owner_of(raws[-1])) is not None:
        raws.append(owner)
    found: list[str | None] = [_whole(name, mapper)]
    for each in raws:
        named = unmap(each)
        found.append(None if named is None else _whole(named, mapper))
    return list(dict.fromkeys(found))


def _whole(name: str, mapper: NameMapper | None) -> str:
    found = whole_of(name, mapper)
    return name if found is None else found[0]


def _owner_of(raw: str) -> str | None:
    """The shorter raw name of the queue whose key this is, or whose keys are those of this queue."""
    prefix, colon, rest = raw.partition(":")
    if not colon or prefix not in _OWN | _BESIDE_DEAD | _CHANNELS:
        rest = raw
    # The keys of "{}" are spread over slots, as it is no tag.
    found = _untagged(rest) or (rest if rest == "{}" else None)
    return found if found != raw else None


def unmapping(mapper: NameMapper | None) -> Callable[[str], str | None]:
    """A function from a raw name to the name before the mapper; None for one that the mapper does not make.

    Raises ArgumentError for a function without a way back.
    """
    if isinstance(mapper, PlainNames):
        back_to = unmapping(mapper.inner)
        return lambda raw: back_to(raw) if is_plain(raw) else None
    if mapper is None:
        return lambda raw: raw
    if isinstance(mapper, str):
        prefix = mapper
        return lambda raw: raw[len(prefix) :] or None if raw.startswith(prefix) else None
    unmap = getattr(mapper, "unmap", None)
    if not callable(unmap):
        raise ArgumentError(
            f"name_mapper= is {shown(mapper)}, which cannot turn a raw name back into a name; give it an "
            "attribute unmap, a function from raw name to name, as Redisson's NameMapper has one"
        )

    def back(raw: str) -> str | None:
        name = unmap(raw)
        return name if isinstance(name, str) and name and map_name(name, mapper) == raw else None

    return back


# These characters make a text a pattern, except after a backslash.
_PATTERN = frozenset("*?[")
_ESCAPED = re.compile(r"\\([*?\[\]])")


def named(pattern: str | None) -> Callable[[str], bool]:
    """Whether a name matches a pattern as Redis's KEYS takes it: ``*``, ``?``, ``[a-c]``, ``[^a]``, and a backslash
    before any of these. Raises ArgumentError.
    """
    if pattern is None:
        return lambda name: True
    if not isinstance(pattern, str):
        raise ArgumentError(f"queue_names(): match= must be a pattern such as 'orders*', not {shown(pattern)}")
    # Python writes both otherwise.
    written = re.sub(r"\\(.)", lambda met: f"[{met[1]}]" if met[1] in "*?[" else met[1], pattern.replace("[^", "[!"))
    return re.compile(fnmatch.translate(written)).match  # type: ignore[return-value]


def exact_name(text: str) -> str | None:
    """The name of the one queue that a text means, or None where it is a pattern.

    A backslash before ``*``, ``?``, ``[`` or ``]`` takes away its special meaning: ``q\\[1\\]`` is the queue ``q[1]``.
    """
    if not _PATTERN.isdisjoint(_ESCAPED.sub("", text)):
        return None
    return text if _PATTERN.isdisjoint(text) else _ESCAPED.sub(r"\1", text)
