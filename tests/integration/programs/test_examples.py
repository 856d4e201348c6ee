"""The projects in examples/: their own tests pass, and their files name what is there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from redisson_dq.cli._main import COMMANDS
from tests.conftest import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
NAMES = sorted(path.parent.name for path in (ROOT / "examples").glob("*/pyproject.toml"))
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]

each_example = pytest.mark.parametrize("name", NAMES)


def own_tests(name: str, python: Path) -> subprocess.CompletedProcess[str]:
    """Runs them as a user does, by plain ``pytest`` in the directory of the example."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "REDISSON_"))}
    environment["PATH"] = f"{python.parent}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        [str(python), *PYTEST],
        cwd=ROOT / "examples" / name,
        env=environment,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,
    )


@each_example
def test_an_example_passes_its_own_tests(name: str) -> None:
    done = own_tests(name, Path(sys.executable))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.nightly
@each_example
def test_an_example_passes_its_own_tests_in_a_clean_environment(name: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    (install,) = (line for line in lines_of(name) if line.startswith("pip install "))
    python = tmp_path / "bin" / "python"
    command = [str(python), "-m", *shlex.split(install)]
    subprocess.run(command, cwd=ROOT / "examples" / name, check=True, capture_output=True, text=True)
    done = own_tests(name, python)
    assert done.returncode == 0, done.stdout + done.stderr


# -- files for machines that are not here ----------------------------------------------------------------------------


def lines_of(name: str) -> list[str]:
    """The commands by which the page runs the example."""
    page = (ROOT / "examples" / name / "README.md").read_text("utf-8")
    blocks: list[str] = re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (block,) = blocks
    return block.splitlines()


def services(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "examples" / name / "compose.yaml").read_text("utf-8"))["services"]
    return found


def dockerfiles(name: str) -> dict[Path, Path]:
    """The context of each Dockerfile that the Compose file builds."""
    folder, found = ROOT / "examples" / name, {}
    for service in services(name).values():
        build = service.get("build")
        if isinstance(build, str):
            found[folder / build / "Dockerfile"] = folder / build
        elif build:
            context = (folder / build["context"]).resolve()
            found[context / build["dockerfile"]] = context
    return found


@each_example
def test_a_dockerfile_copies_files_that_are_there(name: str) -> None:
    found = dockerfiles(name)
    assert found.keys() == set((ROOT / "examples" / name).rglob("Dockerfile"))
    for file, context in found.items():
        copied = re.findall(r"^COPY (?!--from)(.+)$", file.read_text("utf-8"), re.MULTILINE)
        assert copied
        sources = [source for line in copied for source in line.split()[:-1]]
        assert [source for source in sources if not (context / source).exists()] == []


@each_example
def test_a_container_runs_as_a_user_whose_probes_reach_it(name: str) -> None:
    for file in dockerfiles(name):
        last_image = file.read_text("utf-8").rpartition("FROM ")[2]
        (user,) = re.findall(r"^USER (.+)$", last_image, re.MULTILINE)
        assert user not in ("root", "0")
        assert f"useradd --system {user}" in last_image
    for words in deployed(name):
        # A unit of systemd runs on the machine that asks it.
        if "--health-port" in words and not words[0].startswith("/"):
            assert words[words.index("--health-host") + 1] == "0.0.0.0"


def deployed(name: str) -> list[list[str]]:
    """The commands of the Dockerfiles, the Compose file, the unit and the manifest."""
    folder = ROOT / "examples" / name
    found: list[list[str]] = []
    for file in dockerfiles(name):
        text = file.read_text("utf-8")
        parts = [re.findall(rf"^{word} (\[.*\])$", text, re.MULTILINE) for word in ("ENTRYPOINT", "CMD")]
        found.append([word for part in parts for line in part for word in yaml.safe_load(line)])
    found += [service["command"] for service in services(name).values() if isinstance(service.get("command"), list)]
    for unit in folder.rglob("*.service"):
        (line,) = re.findall(r"^ExecStart=(.+)$", unit.read_text("utf-8"), re.MULTILINE)
        found.append(shlex.split(line))
    for manifest in folder.glob("deploy/*.yaml"):
        for container in yaml.safe_load(manifest.read_text("utf-8"))["spec"]["template"]["spec"]["containers"]:
            found.append(container["command"] + container["args"])
    return found


def shown(name: str) -> list[list[str]]:
    """The commands that run the example, and all calls of ``redisson-dq`` on its page and in its modules."""
    texts = [path.read_text("utf-8") for path in (ROOT / "examples" / name).rglob("*") if path.suffix in (".md", ".py")]
    found = [call for text in texts for call in re.findall(r"(?m)(?:^|[ `])(redisson-dq \w+ [^`\n&]*)", text)]
    return [shlex.split(call.partition(" & ")[0].removesuffix(" &")) for call in [*lines_of(name), *found]]


def understood(words: list[str]) -> None:
    """Raises click.UsageError for a command of ``redisson-dq`` with a word or an option that it has not got."""
    command: click.Command = import_module(COMMANDS[words[1]]).command
    rest = words[2:]
    if isinstance(command, click.Group):
        command, rest = command.commands[rest[0]], rest[1:]
    command.make_context(" ".join(words[:2]), rest)


@each_example
def test_the_commands_exist(name: str) -> None:
    folder, commands = ROOT / "examples" / name, [*deployed(name), *shown(name)]
    for words in commands:
        if Path(words[0]).name == "redisson-dq":
            understood(words)
        for target in (word for word in words if re.fullmatch(r"[\w.]+:\w+", word)):
            module, _, attribute = target.partition(":")
            text = (folder / f"{module.replace('.', '/')}.py").read_text("utf-8")
            assert re.search(rf"^(?:def {attribute}\(|{attribute} = )", text, re.MULTILINE), target


def test_everybody_has_one_number_of_partitions() -> None:
    text = (ROOT / "examples" / "cluster" / "sessions" / "queue.py").read_text("utf-8")
    wanted = re.findall(r"^PARTITIONS = (\d+)$", text, re.MULTILINE)
    named = [
        words[words.index("--partitions") + 1]
        for words in [*deployed("cluster"), *shown("cluster")]
        if "--partitions" in words
    ]
    assert len(named) >= 5
    assert list(set(named)) == wanted


@each_example
def test_the_page_runs_the_example_in_five_commands(name: str) -> None:
    assert len(lines_of(name)) == 5
