"""A plugin of pytest's that notes which functions each test file calls: ``python -m tests.where --trace``."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from tests.mutations import ROOT
from tests.where import NOTES, source_of

__all__ = ["pytest_configure", "pytest_runtest_protocol", "pytest_unconfigure"]

_PACKAGE = str(ROOT / "redisson_dq")
# What was called since the current test file began.
_called: set[CodeType] = set()
_current: list[str] = []


def _note(frame: FrameType, event: str, argument: object) -> None:
    if event == "call":
        _called.add(frame.f_code)


def _write() -> None:
    """Writes the notes of a test file that has ended. A process of pytest-xdist runs whole files."""
    if not _current:
        return
    functions = {
        f"{source_of(code.co_filename)}:{getattr(code, 'co_qualname', code.co_name)}"
        for code in list(_called)
        if code.co_filename.startswith(_PACKAGE) and not code.co_name.startswith("<")
    }
    folder = Path(os.environ.get("REDISSON_DQ_WHERE", NOTES))
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"test": _current[0], "functions": sorted(functions)}, indent=0)
    (folder / f"{_current[0].replace('/', '.')}.json").write_text(text)


def pytest_configure(config: pytest.Config) -> None:
    sys.setprofile(_note)
    threading.setprofile(_note)


def pytest_unconfigure(config: pytest.Config) -> None:
    sys.setprofile(None)
    threading.setprofile(None)
    _write()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    path = item.path.relative_to(ROOT).as_posix()
    if _current != [path]:
        _write()
        _called.clear()
        _current[:] = [path]
    return (yield)
