"""docs/deploy.md and docs/how-to/kubernetes.md: their programs run, and their files are accepted."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from redisson_dq.cli import worker
from tests.conftest import PATIENCE, environment

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = (ROOT / "docs" / "deploy.md").read_text("utf-8")
SIDECAR = (ROOT / "docs" / "sidecar.md").read_text("utf-8")
KUBERNETES = (ROOT / "docs" / "how-to" / "kubernetes.md").read_text("utf-8")
DOCUMENTED_URL = "redis://localhost:6379/0"

pytestmark = [
    pytest.mark.usefixtures("server"),
    pytest.mark.parametrize("server", ["redis"], indirect=True),
]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def program(page: str, containing: str) -> str:
    (found,) = [block for block in blocks(page, "python") if containing in block]
    return found


def arguments(words: list[str]) -> SimpleNamespace:
    """The command's own parser takes what stands in a page."""
    return SimpleNamespace(**worker.command.make_context("worker", words).params)


@contextmanager
def shop(place: Path, text: str, url: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """``shop/work.py`` of a page, under the command."""
    (place / "shop").mkdir()
    (place / "shop" / "work.py").write_text(text)
    words = [sys.executable, "-u", "-m", "redisson_dq", "worker", "shop.work:worker", *options]
    env = {**environment(), "REDISSON_DQ_URL": url, "PYTHONUNBUFFERED": "1"}
    made = subprocess.Popen(words, cwd=place, env=env, stdout=subprocess.PIPE, encoding="utf-8")
    try:
        yield made
        made.send_signal(signal.SIGTERM)
        assert made.wait(PATIENCE) == 0
    finally:
        made.kill()
        made.wait()
        assert made.stdout is not None
        made.stdout.close()


def test_the_check_shows_what_the_page_shows(url: str, tmp_path: Path) -> None:
    with shop(tmp_path, program(DEPLOY, "# shop/work.py"), url, "--check") as made:
        assert made.stdout is not None
        found = made.stdout.read()
        assert made.wait(PATIENCE) == 0
    (shown,) = (block for block in blocks(DEPLOY, "text") if "ready" in block)
    assert found == shown.replace("3 ready, 12 waiting", "0 ready, 0 waiting")


def test_the_unit() -> None:
    (text,) = blocks(DEPLOY, "ini")
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign,assignment]
    unit.read_string(text)
    service = unit["Service"]
    words = shlex.split(service["ExecStart"])
    assert words[1] == "worker"
    found = arguments(words[2:])
    assert (found.processes, service["Type"]) == (4, "notify")
    assert int(service["TimeoutStopSec"]) > found.grace + 15


def test_the_image() -> None:
    (text,) = blocks(DEPLOY, "dockerfile")
    lines = dict(line.split(" ", 1) for line in text.splitlines())
    words = json.loads(lines["ENTRYPOINT"]) + json.loads(lines["CMD"])
    assert words[:2] == ["redisson-dq", "worker"]
    found = arguments(words[2:])
    assert (found.target, str(found.health_port)) == ("shop.work:worker", lines["EXPOSE"])
    assert (found.health_host, lines["USER"]) == ("0.0.0.0", "shop")


def test_the_manifest() -> None:
    (text,) = blocks(DEPLOY, "yaml")
    manifest: Any = yaml.safe_load(text)
    pod = manifest["spec"]["template"]
    assert manifest["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"]
    (container,) = pod["spec"]["containers"]
    found = arguments(["shop.work:worker", *container["args"]])
    assert pod["spec"]["terminationGracePeriodSeconds"] > found.grace + 15
    (port,) = container["ports"]
    assert port["containerPort"] == found.health_port
    assert found.health_host == "0.0.0.0"
    paths = {name: container[name]["httpGet"] for name in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert {each["port"] for each in paths.values()} == {port["name"]}
    assert [each["path"] for each in paths.values()] == ["/ready", "/ready", "/live"]
    # The variable of the page's program.
    assert [each["name"] for each in container["env"]] == ["REDISSON_DQ_URL"]
    assert "REDISSON_DQ_URL" in program(DEPLOY, "# shop/work.py")


def test_the_secret_and_the_patch_for_both_manifests() -> None:
    # The others, which follow, scale the deployment.
    secret, patch = (yaml.safe_load(block) for block in blocks(KUBERNETES, "yaml")[:2])
    (worker_pod, mover_pod) = (yaml.safe_load(*blocks(page, "yaml"))["spec"]["template"] for page in (DEPLOY, SIDECAR))
    (container,) = patch["spec"]["template"]["spec"]["containers"]
    (volume,) = patch["spec"]["template"]["spec"]["volumes"]
    (mount,) = container["volumeMounts"]
    (item,) = volume["secret"]["items"]
    assert (container["name"], mount["name"]) == (worker_pod["spec"]["containers"][0]["name"], volume["name"])
    assert f"`{mover_pod['spec']['containers'][0]['name']}`" in KUBERNETES
    assert volume["secret"]["secretName"] == secret["metadata"]["name"]
    for pod in (worker_pod, mover_pod):
        (variable,) = pod["spec"]["containers"][0]["env"]
        assert variable["valueFrom"]["secretKeyRef"] == {"name": secret["metadata"]["name"], "key": "url"}
    data = secret["stringData"]
    assert item["key"] in data
    for url in (data["url"], data["move-url"]):
        assert url.startswith("rediss://")
        assert url.endswith(f"?ssl_ca_certs={mount['mountPath']}/{item['path']}")


def test_every_option_has_a_row() -> None:
    options = [name for each in worker.command.params for name in each.opts if name.startswith("--")]
    listed = "".join((ROOT / "docs" / page).read_text("utf-8") for page in ("programs.md", "commands.md"))
    assert [each for each in options if f"`{each}" not in listed] == []
