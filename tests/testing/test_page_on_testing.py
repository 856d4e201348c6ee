"""The test files of docs/testing.md, as a user would run them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.testing.test_plugin import run

PAGE = Path(__file__).parents[2] / "docs/testing.md"


def test_the_files_of_the_page(tmp_path: Path) -> None:
    files = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    assert files.keys() == {"test_aio.py", "test_faults.py"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    done = run(tmp_path, "", "--durations=5")
    assert "4 passed" in done.stdout, done.stdout
