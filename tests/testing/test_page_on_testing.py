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


def test_the_project_of_the_page_and_its_faults(tmp_path: Path) -> None:
    """One run for both, so that Python and the server start once."""
    assert files()["test_shop.py"].count("\n") < 60
    for name, text in files().items():
        (tmp_path / name).write_text(text)
    done = run(tmp_path, "", "--durations=5")
    assert "6 passed" in done.stdout, done.stdout
