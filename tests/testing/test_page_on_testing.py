"""The project of docs/testing.md, as a user would run it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.testing.test_plugin import run

PAGE = Path(__file__).parents[2] / "docs/testing.md"


def files() -> dict[str, str]:
    found = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text(), re.DOTALL))
    assert found.keys() == {"shop.py", "test_shop.py", "test_faults.py"}
    return found


def test_the_project_of_the_page(tmp_path: Path) -> None:
    assert files()["test_shop.py"].count("\n") < 60
    (tmp_path / "shop.py").write_text(files()["shop.py"])
    done = run(tmp_path, files()["test_shop.py"], "--durations=5")
    assert "3 passed" in done.stdout, done.stdout


def test_the_faults_of_the_page(tmp_path: Path) -> None:
    done = run(tmp_path, files()["test_faults.py"])
    assert "3 passed" in done.stdout, done.stdout
