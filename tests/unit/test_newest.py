"""The nightly run of the newest versions reads the answers of Maven, and lists the versions that are unproven."""

from __future__ import annotations

import pytest

from tests.newest.found import unproven
from tests.poms import coordinates, of_pom, of_updates, properties
from tests.versions import CLIENTS, CODECS, LATER, LIBRARIES, NEWEST, REDISES, VALKEYS

UPDATES = """\
[INFO] The following dependencies in Dependency Management have newer versions:
[INFO]   com.fasterxml.jackson:jackson-bom ...
[INFO]                                     ${library.jackson.version} -> 2.23.0
[INFO]   com.fasterxml.jackson.core:jackson-annotations .......... 2.21 -> 2.23
[INFO]   com.fasterxml.jackson.dataformat:jackson-dataformat-avro ...
[INFO]                                                         2.21.2 -> 2.22.1
[INFO]   at.yawk.lz4:lz4-java ................................ 1.10.1 -> 1.14.0
[INFO]   org.msgpack:jackson-dataformat-msgpack ............... 0.9.9 -> 0.9.11
[INFO]   org.redisson:redisson ................................. 4.3.1 -> 4.7.0
[INFO]   org.slf4j:slf4j-simple .............................. 2.0.17 -> 2.0.20
[INFO]   tools.jackson.core:jackson-databind ................... 3.1.1 -> 3.3.0
"""


def test_the_newest_of_jackson_is_one_that_every_part_has() -> None:
    assert of_updates(UPDATES, LIBRARIES[NEWEST]) == {
        "jackson": "2.22.1",
        "jackson3": "3.3.0",
        "lz4": "at.yawk.lz4:1.14.0",
        "msgpack": "0.9.11",
        "redisson": "4.7.0",
    }


def _pom(*dependencies: str) -> str:
    tags = ("groupId", "artifactId", "version")
    inner = "".join(
        "<dependency>"
        + "".join(f"<{tag}>{text}</{tag}>" for tag, text in zip(tags, each.split(":"), strict=True))
        + "</dependency>"
        for each in dependencies
    )
    return f'<project xmlns="http://maven.apache.org/POM/4.0.0"><dependencies>{inner}</dependencies></project>'


def test_the_libraries_of_an_unknown_redisson_are_those_of_its_pom() -> None:
    found = of_pom(
        _pom(
            "com.fasterxml.jackson.core:jackson-annotations:2.90",
            "com.fasterxml.jackson.core:jackson-core:2.90.1",
            "org.another:lz4-java:2.0",
            "org.msgpack:jackson-dataformat-msgpack:1.0",
        )
    )
    needed = {library for library, (_, _, needed) in coordinates().items() if needed}
    # Those of which it has no codec are left out, and the rest of the build has them as the newest Redisson does.
    assert set(found) == needed
    assert (found["jackson"], found["lz4"], found["msgpack"]) == ("2.90.1", "org.another:2.0", "1.0")
    assert found["snappy"] == LIBRARIES[NEWEST]["snappy"]
    assert "-Dlibrary.lz4.group=org.another" in [*properties(found)]


JAVA = {**LIBRARIES[NEWEST], **LATER, "redisson": NEWEST}
PYTHON = {
    "redis": f"{CLIENTS[-1].partition(',')[0].removeprefix('>=')}.5.0",
    **{name: f"{v}.1" for name, v in CODECS.items()},
}
SERVERS = [("Redis", f"{REDISES[-1]}.9"), ("Valkey", f"{VALKEYS[-1]}.9")]


def test_what_is_proven_is_not_listed() -> None:
    assert unproven(JAVA, PYTHON, SERVERS) == []


@pytest.mark.parametrize(
    ("java", "python", "server", "name"),
    [
        ({"redisson": "9.0.0"}, {}, (), "redisson 9.0.0"),
        *(({library: "99.9"}, {}, (), f"{library} 99.9") for library in LIBRARIES[NEWEST]),
        ({}, {"redis": "99.0.0"}, (), "redis-py 99.0.0"),
        *(({}, {name: "99.0.0"}, (), f"{name} 99.0.0") for name in CODECS),
        ({}, {}, [("Redis", "99.1.0")], "Redis 99.1.0"),
        ({}, {}, [("Valkey", "99.1.0")], "Valkey 99.1.0"),
    ],
)
def test_each_newer_version_is_listed(
    java: dict[str, str], python: dict[str, str], server: list[tuple[str, str]], name: str
) -> None:
    (line,) = unproven({**JAVA, **java}, {**PYTHON, **python}, [*SERVERS, *server])
    assert line.startswith(f"{name}: ")
