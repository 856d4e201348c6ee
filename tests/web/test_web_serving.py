"""The dashboard inside other applications, by the command, and without its extra."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.web import app
from redisson_dq.web.frame import COLORS
from tests.conftest import PATIENCE, environment
from tests.web.conftest import TestClient

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "Using `httpx` with")  # of later versions of starlette
    from fastapi import FastAPI


@pytest.mark.parametrize("kind", ["fastapi", "starlette"])
def test_every_link_of_a_mounted_dashboard_leads_into_it(client: redisson_dq.Client, kind: str) -> None:
    client.delayed_queue("a/b", transfer=False).offer("one", 60, id="x/y")
    inner = app(client, name="production", color="red")
    outer: Starlette
    if kind == "fastapi":
        outer = FastAPI()
        outer.mount("/shop/tools/queues", inner)
    else:
        outer = Starlette(routes=[Mount("/shop", routes=[Mount("/tools/queues", inner)])])
    base = "/shop/tools/queues"
    with TestClient(outer, base_url="http://localhost", client=("127.0.0.1", 1), follow_redirects=False) as pages:
        left, seen = [f"{base}/"], set[str]()
        while left and len(seen) < 60:
            address = left.pop(0)
            seen.add(address)
            answer = pages.get(address)
            assert answer.status_code == 200, address
            if "text/html" in answer.headers["content-type"]:
                found = re.findall(r'(?:href|src|action|data-url)="([^"#]+)', answer.text)
                assert found
                for each in (link.replace("&amp;", "&") for link in found):
                    assert each.startswith(f"{base}/"), each
                    if each not in seen and each not in left and "/live" not in each:
                        left.append(each)
        assert f"{base}/queues/a~2Fb/items/waiting/x~2Fy" in seen
        assert f"{base}/doctor" in seen
        assert pages.get("/").status_code == 404


def test_the_command_serves_until_it_is_told_to_end(redis_url: str, client: redisson_dq.Client, tmp_path: Path) -> None:
    client.delayed_queue("orders", transfer=False).offer("one", 60)
    users = tmp_path / "users"
    users.write_text("# name:password:right:pattern\nada:secret-of-ada:mend:orders*\n", "utf-8")
    users.chmod(0o600)
    command = [
        *(sys.executable, "-m", "redisson_dq", "dashboard", "--url", redis_url, "--port", "0"),
        *("--auth", f"basic:{users}", "--allow-writes", "--name", "production", "--color", "red"),
        *("--mask", "card,password", "--root-path", "/tools"),
    ]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"dashboard at (http://127\.0\.0\.1:\d+)/\n", line)
        assert found is not None, line
        assert httpx.get(f"{found[1]}/", timeout=PATIENCE).status_code == 401
        answer = httpx.get(f"{found[1]}/queues/orders/items", auth=("ada", "secret-of-ada"), timeout=PATIENCE)
        assert answer.status_code == 200
        assert "production" in answer.text
        assert 'href="/tools/doctor"' in answer.text
        # A stream that goes on does not hold it up.
        with httpx.stream("GET", f"{found[1]}/live", auth=("ada", "secret-of-ada"), timeout=PATIENCE) as stream:
            assert next(stream.iter_lines())
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 needs --auth"),
        (["--allow-writes"], "--allow-writes needs --auth"),
        (["--auth", "secret"], "--auth is token, basic:FILE, or MODULE:FUNCTION"),
        (["--auth", "basic:/nowhere/users"], "cannot be read"),
        (["--auth", "no_such_module:authorize"], "cannot be imported"),
        (["--color", "mauve"], "mauve"),
    ],
)
def test_options_that_the_command_refuses(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dashboard", "--url", "redis://localhost:1", "--port", "0", *words]) == 64
    assert text in capsys.readouterr().err


def test_passwords_that_everybody_can_read_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users = tmp_path / "users"
    users.write_text("ada:secret\n", "utf-8")
    users.chmod(0o644)
    assert main(["dashboard", "--url", "redis://localhost:1", "--port", "0", "--auth", f"basic:{users}"]) == 64
    assert "everybody can read" in capsys.readouterr().err


def test_without_the_extra_the_error_says_what_to_install() -> None:
    code = (
        "import importlib.util\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'starlette' else find(name, *rest)\n"
        "import redisson_dq.web"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert "redisson_dq.web needs starlette: pip install" in done.stderr
    done = subprocess.run(
        [sys.executable, "-c", "import redisson_dq, redisson_dq.cli, sys\nassert 'starlette' not in sys.modules"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_style_sheet_has_every_colour_of_the_badge() -> None:
    text = (Path(app.__code__.co_filename).parent / "static" / "dashboard.css").read_text("utf-8")
    assert [each for each in COLORS if f"env-{each}" not in text] == []
