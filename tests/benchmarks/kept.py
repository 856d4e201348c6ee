"""Figures that are kept on the disk as they are found, so that a run that was ended can go on."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

__all__ = ["Kept"]

T = TypeVar("T")


class Kept:
    """A folder with one file for each figure. With ``resume`` a figure that is there is not measured again."""

    def __init__(self, folder: Path, *, resume: bool) -> None:
        self._folder = folder
        self._resume = resume

    def of(self, name: str, measure: Callable[[], T]) -> T:
        """What was kept under this name, or what is measured now."""
        path = self._folder / (re.sub(r"\W+", "-", name) + ".pickle")
        if self._resume and path.exists():
            found: T = pickle.loads(path.read_bytes())
            return found
        found = measure()
        self._folder.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: the run may be ended at any moment.
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_bytes(pickle.dumps(found))
        unfinished.replace(path)
        return found
