"""Asks Maven about versions: the newest of everything that interop/pom.xml names, and the libraries of a Redisson.

A Redisson that ``tests/versions.py`` does not name gets the libraries of its own pom. So the tests run beside one that
came out today: ``REDISSON_DQ_REDISSON=4.8.0 python -m pytest tests/interop/test_exchange.py``. A version that ends with
``+newest`` has the newest libraries that there are in their place.
"""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.versions import LIBRARIES, NEWEST

__all__ = [
    "INTEROP",
    "LATEST_LIBRARIES",
    "coordinates",
    "libraries",
    "maven",
    "newest",
    "of_pom",
    "of_updates",
    "program",
    "properties",
]

INTEROP = Path(__file__).resolve().parent.parent / "interop"

#: The end of a version whose libraries are the newest ones.
LATEST_LIBRARIES = "+newest"

_UPDATES = "org.codehaus.mojo:versions-maven-plugin:2.18.0:display-dependency-updates"
_POM = "org.apache.maven.plugins:maven-help-plugin:3.5.1:effective-pom"
_GET = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"
_OWN_PARTS = "-DprocessDependencyManagementTransitive=false"
_NO_RELEASES = r"(?i).*[.-](alpha|beta|rc|m|cr|pre|ea)[.0-9-]*"
_XML = "{http://maven.apache.org/POM/4.0.0}"


# -- Maven -----------------------------------------------------------------------------------------------------------


def program(name: str) -> str:
    """Its path."""
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not in PATH; the tests against Redisson need a JDK 17 or later and Maven 3")
    return found


def maven(*arguments: str) -> str:
    """Runs it in ``interop``. Gives its output."""
    command = [program("mvn"), "-B", *arguments]
    done = subprocess.run(
        command, check=False, cwd=INTEROP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed in {INTEROP}:\n{done.stdout}")
    return done.stdout


def properties(named: Mapping[str, str]) -> Iterator[str]:
    """The versions of libraries, as pom.xml takes them. One of another group has it in front."""
    for library, each in named.items():
        group, _, number = each.rpartition(":")
        yield f"-Dlibrary.{library}.version={number}"
        if group:
            yield f"-Dlibrary.{library}.group={group}"


def _of_newest() -> list[str]:
    """Makes pom.xml complete, for a question that is about something else."""
    return [f"-Dredisson.version={NEWEST}", *properties(LIBRARIES[NEWEST])]


# -- answers ---------------------------------------------------------------------------------------------------------


@functools.cache
def newest() -> Mapping[str, str]:
    """The newest release of each library, and of ``redisson``, that the registry has now."""
    known = {**LIBRARIES[NEWEST], "redisson": NEWEST}
    # A library of version 0 is always listed. A bill of materials is read, so it has to be there.
    zero = [f"-Dlibrary.{library}.version=0" for library in known if not library.startswith("jackson")]
    text = maven(
        "-U",
        _UPDATES,
        _OWN_PARTS,
        f"-Dmaven.version.ignore={_NO_RELEASES}",
        *_of_newest(),
        *zero,
        "-Dredisson.version=0",
    )
    return {**known, **of_updates(text, known)}


def of_updates(text: str, known: Mapping[str, str]) -> dict[str, str]:
    """The versions in the report of updates, by library. For Jackson, the newest version that every part has."""
    found: dict[str, list[str]] = {}
    for group, artifact, version in re.findall(r"(\S+):(\S+) \.+\s+(?:\[INFO\]\s+)?\S+ -> (\S+)", text):
        if (library := _library(group, artifact)) is not None:
            found.setdefault(library, []).append(version)
    chosen = {library: min(versions, key=_number) for library, versions in found.items()}
    return {library: _with_group(library, version, known.get(library, "")) for library, version in chosen.items()}


def _with_group(library: str, version: str, known: str) -> str:
    group = known.rpartition(":")[0]
    return f"{group}:{version}" if group else version


def libraries(version: str) -> Mapping[str, str]:
    """Those that the peer of a Redisson is built with. Of an unknown one they are asked for once, and kept."""
    if version in LIBRARIES:
        return LIBRARIES[version]
    kept = INTEROP / "target" / f"{version}.libraries.json"
    if not kept.exists():
        own = _derived(version) if (plain := version.removesuffix(LATEST_LIBRARIES)) == version else libraries(plain)
        found = own if plain == version else {library: newest().get(library, own[library]) for library in own}
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(found, indent=1), "utf-8")
    known: dict[str, str] = json.loads(kept.read_text("utf-8"))
    return known


def _derived(version: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        pom = Path(folder, "pom.xml")
        artifact = f"-Dartifact=org.redisson:redisson:{version}"
        maven("-q", "-U", _POM, artifact, f"-Doutput={pom}", *_of_newest())
        found = of_pom(pom.read_text("utf-8"))
    return {library: named if _is_there(library, named) else newest()[library] for library, named in found.items()}


def of_pom(text: str) -> dict[str, str]:
    """The libraries that a Redisson's complete pom names. A library of every build is by default that of the newest."""
    found = {}
    for each in ET.fromstring(text).iter(f"{_XML}dependency"):
        group, artifact, version = _named(each)
        if version and (library := _library(group, artifact)) is not None:
            found[library] = f"{group}:{version}" if library == "lz4" else version
    always = {library for library, (_, _, needed) in coordinates().items() if needed}
    return {
        library: found.get(library, LIBRARIES[NEWEST].get(library, ""))
        for library in coordinates()
        if library in found or library in always
    }


def _is_there(library: str, named: str) -> bool:
    group, _, number = named.rpartition(":")
    own, artifact, _ = coordinates()[library]
    # A bill of materials has no jar.
    kind = ":pom" if artifact.endswith("-bom") else ""
    try:
        maven(
            "-q",
            "-U",
            _GET,
            "-Dtransitive=false",
            f"-Dartifact={group or own}:{artifact}:{number}{kind}",
            *_of_newest(),
        )
    except RuntimeError:
        return False
    return True


# -- interop/pom.xml -------------------------------------------------------------------------------------------------


@functools.cache
def coordinates() -> Mapping[str, tuple[str, str, bool]]:
    """By library its group, its artifact, and whether it is in every build."""
    root = ET.parse(INTEROP / "pom.xml").getroot()
    of_profiles = {each for profile in root.iter(f"{_XML}profile") for each in profile.iter(f"{_XML}dependency")}
    found: dict[str, tuple[str, str, bool]] = {}
    for each in root.iter(f"{_XML}dependency"):
        group, artifact, version = _named(each)
        if library := re.fullmatch(r"\$\{library\.(\w+)\.version\}", version):
            found.setdefault(library[1], (group, artifact, each not in of_profiles))
    return found


def _named(dependency: ET.Element) -> tuple[str, str, str]:
    group, artifact, version = (dependency.findtext(f"{_XML}{tag}", "") for tag in ("groupId", "artifactId", "version"))
    return group, artifact, version


def _library(group: str, artifact: str) -> str | None:
    """The library that a property of pom.xml names. Its group may be another one by now."""
    if (group, artifact) == ("org.redisson", "redisson"):
        return "redisson"
    # Each part of a bill of materials has its version, but for one that has its own.
    for start, whole in (("com.fasterxml.jackson", "jackson"), ("tools.jackson", "jackson3")):
        if group == start or group.startswith(f"{start}."):
            return None if artifact == "jackson-annotations" else whole
    return next((library for library, (_, known, _) in coordinates().items() if artifact == known), None)


def _number(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]
