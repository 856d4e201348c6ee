"""The dashboard below a path, behind real proxies and in other applications: links, logins, the stream, actions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import redisson_dq
from redisson_dq.web import Token
from redisson_dq.web.paths import Links
from tests.conftest import PATIENCE, environment
from tests.web.places import BELOW, PLACES

SECRET = "a-token-of-the-tests"
LINKS = Links(BELOW)


@pytest.mark.parametrize("place", PLACES)
def test_a_browser_logs_in_looks_and_acts_below_a_path(redis_url: str, client: redisson_dq.Client, place: str) -> None:
    delayed = client.delayed_queue("a/b", transfer=False)
    delayed.offer_all([("one", 3600), ("two", 3600)])
    with (
        PLACES[place](redis_url, auth=Token(SECRET), allow_writes=True) as address,
        httpx.Client(base_url=address.removesuffix(BELOW), timeout=PATIENCE, headers={"accept": "text/html"}) as pages,
    ):
        answer = pages.get(f"{BELOW}/")
        assert (answer.status_code, answer.headers["location"]) == (303, LINKS.login(next="/"))
        answer = pages.post(answer.headers["location"], data={"password": SECRET})
        assert (answer.status_code, answer.headers["location"]) == (303, LINKS.fleet())
        cookie = answer.headers["set-cookie"].lower()
        assert f"path={BELOW}" in cookie
        assert "httponly" in cookie
        text = pages.get(LINKS.fleet()).text
        links = {each.replace("&amp;", "&") for each in re.findall(r'(?:href|src|action|data-url)="([^"#]+)', text)}
        assert [each for each in links if not each.startswith(f"{BELOW}/")] == []
        for each in links - {LINKS.live(), LINKS.logout()}:
            assert pages.get(each).status_code == 200, each
        with pages.stream("GET", LINKS.live()) as stream:
            lines = stream.iter_lines()
            assert next(line for line in lines if line.startswith("data: ") and '"a/b"' in line)
            delayed.offer("three", 3600)
            assert next(line for line in lines if line.startswith("data: ") and '"waiting":3' in line)

        def posted(link: str, **fields: str) -> httpx.Response:
            given = {"sec-fetch-site": "same-origin", "origin": address.removesuffix(BELOW)}
            return pages.post(link, data={"token": token, **fields}, headers=given)

        found = re.search(r'name="token" value="([0-9a-f]+)"', pages.get(LINKS.items("a/b")).text)
        assert found is not None
        token = found[1]
        action = posted(LINKS.act("a/b"), action="cancel", state="waiting", all="1").headers["location"]
        assert action.startswith(f"{BELOW}/actions/")
        assert posted(f"{action}/do").headers["location"] == action
        assert '3</span> <span class="soft">of 3 cancelled' in pages.get(action).text
        posted(f"{action}/undo")
        assert client.stats("a/b")["a/b"].waiting == 3


def test_a_proxy_that_hides_the_host_is_named_as_the_reason(redis_url: str) -> None:
    """A browser sends no Sec-Fetch-Site to a page without TLS on another machine."""
    with PLACES["proxy-without-host"](redis_url, auth=Token(SECRET)) as address:
        given = {"origin": "http://queues.example.com"}
        answer = httpx.post(f"{address}/login", data={"password": SECRET}, headers=given, timeout=PATIENCE)
    assert answer.status_code == 403
    assert "from 'http://queues.example.com' to '127.0.0.1:" in answer.text
    assert "has to pass the header Host on" in answer.text


def test_undo_files_of_a_mounted_dashboard_go_with_its_program() -> None:
    """The program around it tells it neither of its beginning nor of its end."""
    code = "import redisson_dq.web as web; print(web.app('redis://localhost:1').state.dashboard.undo_dir)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert done.stderr == ""
    folder = Path(done.stdout.strip())
    assert folder.name.startswith("redisson-dq-undo-")
    assert not folder.exists()


@pytest.mark.parametrize("prefix", ["//evil.example.com", "/x", "https://evil.example.com"])
def test_no_header_tells_where_the_pages_are(redis_url: str, prefix: str) -> None:
    """The option --root-path does. A header may come from anybody."""
    with PLACES["fastapi"](redis_url, auth=lambda request, action, queue: True) as address:
        given = {"x-forwarded-prefix": prefix, "x-script-name": prefix, "x-forwarded-host": "evil.example.com"}
        text = httpx.get(f"{address}/", headers=given, timeout=PATIENCE).text
    assert f'href="{BELOW}/doctor"' in text
    assert "evil.example.com" not in text
