"""The shop of examples/ with its Java program: the commands of its page, in their order."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from redisson_dq.cli import main
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import eventually
from tests.integration.programs.test_examples import ROOT, lines_of

pytestmark = pytest.mark.nightly

_PATIENCE = 120


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A copy, in which Maven builds."""
    left = shutil.ignore_patterns("target", "__pycache__")
    return Path(shutil.copytree(ROOT / "examples" / "shop", tmp_path / "shop", ignore=left))


@contextlib.contextmanager
def beside(command: str, folder: Path, log: Path, environment: dict[str, str]) -> Iterator[None]:
    """A command that goes on until the block ends."""
    with log.open("w") as output:
        process = subprocess.Popen(
            f"exec env {command}", shell=True, cwd=folder, env=environment, stdout=output, stderr=output
        )
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(_PATIENCE)


def test_the_page(shop: Path, redis7: EmbeddedServer, look: redis.Redis) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "REDIS_ADDRESS": redis7.url.removesuffix("/0"),
    }

    def run(command: str) -> str:
        done = subprocess.run(
            command, shell=True, cwd=shop, env=environment, capture_output=True, text=True, timeout=_PATIENCE
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    _, _, build, work, place = (
        line.removesuffix(" &").replace("localhost:6379", f"127.0.0.1:{redis7.port}") for line in lines_of("shop")
    )
    run(build)
    made = ["generate-classes", str(shop / "java/target/classes"), "shop.Order"]
    assert main([*made, "--check", str(shop / "shop/java_classes.py")]) == 0
    log = shop / "log"
    with beside(work, shop, log, environment):
        assert run(place) == "A-42 is open for PT5S\n"
        # A busy machine needs a while to start the JVM that pays it.
        assert run(place.replace("A-42", "A-43").replace("PT5S", "PT1M")) == "A-43 is open for PT1M\n"
        assert run(place.replace("place A-42 teapot 2", "pay A-43")) == "A-43 is paid\n"
        eventually(lambda: "A-42 is cancelled: 2 x teapot are free again" in log.read_text(), within=_PATIENCE)
        eventually(lambda: not look.exists("redisson_delay_queue_timeout:{unpaid}", "unpaid"), within=_PATIENCE)
    assert look.hgetall("orders") == {b"A-42": b"cancelled", b"A-43": b"paid"}
    assert run(place.replace("place A-42 teapot 2", "pay A-42")) == "A-42 is not open\n"
