"""The wheel: the same bytes each time, what it says of its parts, and the first example in an empty environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from redisson_dq.embedded import EmbeddedServer

ROOT = Path(__file__).resolve().parents[2]
MOMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1790000000"}


def built(folder: Path) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True, env=MOMENT)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"))


def test_it_is_the_same_when_it_is_built_again(wheel: Path, tmp_path: Path) -> None:
    assert built(tmp_path).read_bytes() == wheel.read_bytes()


def test_it_names_what_it_contains_of_others_with_their_licenses(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (bill,) = (name for name in archive.namelist() if re.search(r"\.dist-info/sboms/.*\.cdx\.json$", name))
        components = json.loads(archive.read(bill))["components"]
        licenses = {Path(name).name for name in archive.namelist() if ".dist-info/licenses/" in name}
        metadata = archive.read(bill.partition("/")[0] + "/METADATA").decode()
        foreign = [Path(name).name for name in archive.namelist() if name.endswith((".woff2", ".ttf", ".min.js"))]
    assert {each["name"] for each in components} == set(foreign)
    assert licenses == {"LICENSE", "inter-LICENSE.txt"}
    assert "License-Expression: Apache-2.0 AND OFL-1.1\n" in metadata


@pytest.mark.nightly
def test_the_first_example_runs_in_an_empty_environment(
    wheel: Path, own_server: EmbeddedServer, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "tutorials" / "first-steps.md").read_text("utf-8")
    (program,) = re.findall(r"^```python\n(# first\.py\n.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "first.py").write_text(program.replace("redis://localhost:6379/0", own_server.url), "utf-8")
    venv.create(tmp_path / "empty", with_pip=True)
    python = str(tmp_path / "empty" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True, cwd=tmp_path)
    done = subprocess.run([python, "first.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "order-43\norder-42\n"
