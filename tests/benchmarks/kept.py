"""Figures that are saved to disk as they are measured, so that an interrupted run can continue."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

__all__ = ["Kept"]

T = TypeVar("T")


class Kept:
    """A folder with a file for each figure. With ``resume``, an existing figure is not measured again."""

    def __init__(self, folder: Path, *, resume: bool) -> None:
        self._folder = folder
        self._resume = resume

    def of(self, name: str, measure: Callable[[], T]) -> T:
        """The saved figure of this name. If there is none, it is measured."""
        path = self._folder / (re.sub(r"\W+", "-", name) + ".pickle")
        if self._resume and path.exists():
            found: T = pickle.loads(path.read_bytes())
            return found
        found = measure()
        self._folder.mkdir(parents=True, exist_ok=True)
        # Written atomically, because the run may end at any moment.
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_bytes(pickle.dumps(found))
        unfinished.replace(path)
        return found
