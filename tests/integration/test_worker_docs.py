"""Programs of pages about the worker that the test of pages cannot run: the first worker, and the web application."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import redis
from fastapi import FastAPI
from starlette.applications import Starlette

from redisson_dq.codecs import Kryo5Codec
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, environment
from tests.flavours import Flavour
from tests.workers.handlers import at_rest

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Using `httpx` with")  # of later versions of starlette
    from fastapi.testclient import TestClient

DOCS = Path(__file__).resolve().parents[2] / "docs"
URL = "redis://localhost:6379/0"


def program(page: str, mark: str) -> str:
    """The block of code under a comment that says where it is run."""
    found = re.search(
        rf"<!-- not run: [^\n]*{mark}[^\n]* -->\n+```python\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.S | re.M
    )
    assert found is not None
    return found[1]


def test_the_file_of_the_tutorial(own_server: EmbeddedServer, tmp_path: Path, flavour: Flavour) -> None:
    file = tmp_path / "shop.py"
    file.write_text(program("tutorials/first-worker.md", "as a process").replace(URL, own_server.url), "utf-8")
    process = subprocess.Popen(
        [sys.executable, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), encoding="utf-8"
    )
    try:
        with flavour.connect(own_server.url) as client:
            client.delayed_queue("orders", transfer=False).offer("order-42", delay=0.1)
            assert process.stdout is not None
            assert process.stdout.readline() == "order-42 attempt 1\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("framework", [FastAPI, Starlette])
def test_the_web_application(
    own_server: EmbeddedServer, capsys: pytest.CaptureFixture[str], framework: type[Starlette]
) -> None:
    made: dict[str, Any] = {"__name__": "shop"}
    code = (
        program("web-application.md", "FastAPI")
        .replace("from fastapi import FastAPI\n", "")
        .replace("FastAPI(", "framework(")
    )
    made["framework"] = framework
    exec(code.replace(URL, own_server.url), made)
    app: Starlette = made["app"]
    with redis.Redis.from_url(own_server.url) as admin, TestClient(app):
        admin.rpush("orders", Kryo5Codec().encode("order-43"))
        at_rest(admin)
        assert made["worker"].is_consuming
    assert not made["worker"].is_running
    assert capsys.readouterr().out == "order-43\n"
