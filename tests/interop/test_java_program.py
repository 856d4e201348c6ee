"""The Java program of docs/sharing-with-redisson.md, run as the page says, beside Python on one queue."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import redisson_dq
from redisson_dq.embedded import EmbeddedServer
from tests.peer import JVM, build

PAGE = Path(__file__).parents[2] / "docs" / "sharing-with-redisson.md"
_PATIENCE = 60


@pytest.fixture
def program(redis7: EmbeddedServer, tmp_path: Path) -> list[str]:
    """The command that runs it on this server, with the jars that its pom.xml names."""
    page = PAGE.read_text("utf-8")
    shown = re.search(r"```java\n// Shop\.java\n(.*?)```", page, re.DOTALL)
    version = re.search(r"<artifactId>redisson</artifactId>\s*<version>(.*?)</version>", page)
    assert shown
    assert version
    source = tmp_path / "Shop.java"
    source.write_text(shown[1].replace("localhost:6379", f"127.0.0.1:{redis7.port}"), "utf-8")
    return [*JVM, "-Xlog:disable", "-cp", f"{build(version[1]) / 'lib'}{os.sep}*", str(source)]


def test_java_takes_what_python_offers(program: list[str], redis7: EmbeddedServer) -> None:
    with redisson_dq.connect(redis7.url) as client:
        client.delayed_queue("orders").offer("order-41", delay=0.5)
        done = subprocess.run([*program, "take"], capture_output=True, text=True, timeout=_PATIENCE, check=True)
    assert done.stdout == "Java took order-41\n"


def test_python_takes_what_java_offers(program: list[str], redis7: EmbeddedServer) -> None:
    with redisson_dq.connect(redis7.url) as client:
        queue = client.blocking_queue("orders")
        subprocess.run([*program, "offer"], capture_output=True, text=True, timeout=_PATIENCE, check=True)
        assert queue.poll(timeout=_PATIENCE) == "order-42"
