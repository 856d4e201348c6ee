"""The program of docs/web-application.md, which the test of pages cannot run."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import redis
from fastapi import FastAPI
from starlette.applications import Starlette

from redisson_dq.codecs import Kryo5Codec
from redisson_dq.embedded import EmbeddedServer
from tests.workers.handlers import at_rest

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Using `httpx` with")  # of later versions of starlette
    warnings.filterwarnings("ignore", "The anyio.abc.BlockingPortal alias")  # of starlette 1.3 beside anyio 4.10
    from fastapi.testclient import TestClient

PAGE = Path(__file__).resolve().parents[3] / "docs" / "web-application.md"
URL = "redis://localhost:6379/0"


@pytest.mark.parametrize("framework", [FastAPI, Starlette])
def test_the_web_application(
    own_server: EmbeddedServer, capsys: pytest.CaptureFixture[str], framework: type[Starlette]
) -> None:
    shown = re.search(
        r"<!-- not run: [^\n]* FastAPI [^\n]*-->\n```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.S | re.M
    )
    assert shown is not None
    made: dict[str, Any] = {"__name__": "shop", "framework": framework}
    code = shown[1].replace("from fastapi import FastAPI\n", "").replace("FastAPI(", "framework(")
    exec(code.replace(URL, own_server.url), made)
    app: Starlette = made["app"]
    with redis.Redis.from_url(own_server.url) as admin, TestClient(app):
        admin.rpush("orders", Kryo5Codec().encode("order-43"))
        at_rest(admin)
        assert made["worker"].is_consuming
    assert not made["worker"].is_running
    assert capsys.readouterr().out == "order-43\n"
