"""The time zones of this machine that Python takes for Java's are known to the JVM."""

from __future__ import annotations

import subprocess
import zoneinfo
from pathlib import Path

from redisson_dq.java.zones import no_java_zone
from tests.peer import JVM

SOURCE = Path(__file__).parent / "java" / "Zones.java"
#: Zones of 2025 and later, which a JVM may not know yet.
NEW = {"America/Coyhaique"}


def test_python_refuses_the_zones_that_no_jvm_knows() -> None:
    ids = zoneinfo.available_timezones() | {"localtime", "posixrules", "posix/UTC", "right/UTC"}
    done = subprocess.run(
        [*JVM, str(SOURCE)], input="\n".join(sorted(ids)), capture_output=True, encoding="utf-8", check=True
    )
    unknown = set(done.stdout.split())
    assert {zone for zone in ids if no_java_zone(zone)} >= unknown - NEW
    assert {"localtime", "posixrules", "posix/UTC"} <= unknown
