"""The programs of docs/web-application.md, served by several processes: by uvicorn, and by gunicorn that forks."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import eventually

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "web-application.md").read_text("utf-8")
URL = "redis://localhost:6379/0"
SERVERS = {
    "uvicorn": ("api.py", "uvicorn", "api:app", "--workers", "2", "--port"),
    "gunicorn": ("shop.py", "gunicorn", "shop:app", "--workers", "2", "--bind"),
    "gunicorn --preload": ("shop.py", "gunicorn", "shop:app", "--workers", "2", "--preload", "--bind"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("server", SERVERS)
def test_each_process_offers(own_server: EmbeddedServer, tmp_path: Path, server: str) -> None:
    name, module, *words = SERVERS[server]
    (program,) = re.findall(rf"^```python\n(# {re.escape(name)}\n.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / name).write_text(program.replace(URL, own_server.url), "utf-8")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    at = f"127.0.0.1:{port}" if words[-1] == "--bind" else str(port)
    with subprocess.Popen([sys.executable, "-m", module, *words, at], cwd=tmp_path) as served:
        try:
            eventually(lambda: offered(port, "first"))
            assert all(offered(port, f"order-{number}") for number in range(20))
        finally:
            served.terminate()
    with redis.Redis.from_url(own_server.url) as admin:
        assert admin.zcard("redisson_delay_queue_timeout:{orders}") == 21


def offered(port: int, number: str) -> bool:
    try:
        with urlopen(Request(f"http://127.0.0.1:{port}/orders/{number}", method="POST"), timeout=10) as answer:
            return bool(answer.status == 200)
    except (URLError, ConnectionError):
        return False
