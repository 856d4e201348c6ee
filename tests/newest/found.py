"""The newest versions that there are, and which of them ``tests/versions.py`` does not name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from packaging.specifiers import SpecifierSet

from tests.versions import CLIENTS, CODECS, LATER, LIBRARIES, NEWEST, REDISES, VALKEYS

__all__ = ["unproven"]


def unproven(java: Mapping[str, str], python: Mapping[str, str], servers: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each version that is not proven.

    ``java`` is by the name of a library, and ``redisson``. ``python`` is by the name of a package. A server is a pair
    of Redis or Valkey and its version.
    """
    lines = [f"redisson {java['redisson']}: the newest of REDISSONS is {NEWEST}"] if java["redisson"] != NEWEST else []
    for library, known in {**LIBRARIES[NEWEST], **LATER}.items():
        if java.get(library, known) not in (known, LIBRARIES[NEWEST].get(library)):
            lines.append(f"{library} {java[library]}: LATER or LIBRARIES has {known}")
    if python["redis"] not in SpecifierSet(CLIENTS[-1]):
        lines.append(f"redis-py {python['redis']}: the newest of CLIENTS is {CLIENTS[-1]}")
    lines += [
        f"{name} {python[name]}: CODECS has {known}" for name, known in CODECS.items() if _line(python[name]) != known
    ]
    return [*lines, *_servers(servers)]


def _servers(servers: Iterable[tuple[str, str]]) -> Iterator[str]:
    for kind, version in servers:
        known = VALKEYS if kind == "Valkey" else REDISES
        if _line(version) not in known:
            yield f"{kind} {version}: {'VALKEYS' if kind == 'Valkey' else 'REDISES'} has {', '.join(known)}"


def _line(version: str) -> str:
    return ".".join(version.split(".")[:2])
