"""The environments of the peers' programs: Python's, Node's or Go's own kind, or the one of the driver.

An environment is made once in the user's cache, for all checkouts, with the versions that a file in ``requirements``
asks for. Its registry comes from the configuration of pip, npm or go. Nothing is downloaded while anything is measured.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import attrs

__all__ = ["INSIDE", "ROOT", "Environment", "Go", "Node", "Python", "Shared"]

ROOT = Path(__file__).resolve().parents[3]
#: The scripts that run inside the environments.
INSIDE = Path(__file__).resolve().parent / "inside"

_REQUIREMENTS = Path(__file__).resolve().parent / "requirements"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
_ENVIRONMENTS = _CACHE / "redisson-dq" / "benchmarks"


@attrs.frozen
class Environment:
    """The environment of the peer ``name``. Subclasses make it, and start its programs."""

    #: The endings of its files in ``requirements``, and of its script in ``inside``.
    requirements: ClassVar[tuple[str, ...]] = ()
    ending: ClassVar[str] = ".py"

    name: str

    @property
    def folder(self) -> Path:
        return _ENVIRONMENTS / self.name

    def prepare(self) -> None:
        """Makes the environment unless it exists. Raises RuntimeError with the end of the installer's output."""
        sources = [_REQUIREMENTS / f"{self.name}{ending}" for ending in self.requirements]
        if not sources:
            return
        made = self.folder / "made-from"
        wanted = b"".join(source.read_bytes() for source in (*sources, *self.compiled()))
        if made.exists() and made.read_bytes() == wanted:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.make()
        # Last, so that an incomplete environment is made again.
        made.write_bytes(wanted)

    def make(self) -> None:
        """Fills the empty folder."""

    def compiled(self) -> Sequence[Path]:
        """Scripts that are a part of the environment itself."""
        return ()

    def program(self, name: str) -> str:
        """The path of a program, or its name where PATH has it."""
        return str(self.folder / "bin" / name)

    def variables(self) -> dict[str, str]:
        """The environment variables of its programs."""
        return {"PYTHONPATH": str(INSIDE)}

    def calling(self, module: str, function: str) -> list[str]:
        """The command line that calls a function of a script."""
        return [self.program("python"), "-c", f"import {module}; {module}.{function}()"]

    def importing(self, module: str) -> list[str]:
        """The command line that does the imports of a script, and ends."""
        return [self.program("python"), "-c", f"import {module}"]

    def bare(self) -> list[str]:
        """The command line of a program that imports nothing of the peer."""
        return self.importing("serving")


class Shared(Environment):
    """The driver's own, with this library."""

    def program(self, name: str) -> str:
        return sys.executable

    def variables(self) -> dict[str, str]:
        return {"PYTHONPATH": f"{INSIDE}:{ROOT}"}


class Python(Environment):
    """A virtual environment."""

    requirements = (".txt",)

    def make(self) -> None:
        venv.create(self.folder, with_pip=True)
        _run(self.program("python"), "-m", "pip", "install", "--quiet", "-r", str(_REQUIREMENTS / f"{self.name}.txt"))


class Node(Environment):
    """A folder of packages from npm. Node itself has to be on PATH."""

    requirements = (".json",)
    ending = ".cjs"

    def make(self) -> None:
        shutil.copy(_REQUIREMENTS / f"{self.name}.json", self.folder / "package.json")
        _run("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", folder=self.folder)

    def program(self, name: str) -> str:
        return name

    def variables(self) -> dict[str, str]:
        return {"NODE_PATH": str(self.folder / "node_modules")}

    def calling(self, module: str, function: str) -> list[str]:
        return ["node", str(INSIDE / f"{module}.cjs"), function]

    def importing(self, module: str) -> list[str]:
        return self.calling(module, "import")

    def bare(self) -> list[str]:
        return ["node", "-e", ""]


class Go(Environment):
    """A program that Go compiles. Go itself has to be on PATH."""

    requirements = (".mod", ".sum")
    ending = ".go"

    def make(self) -> None:
        for ending in self.requirements:
            shutil.copy(_REQUIREMENTS / f"{self.name}{ending}", self.folder / f"go{ending}")
        for source in self.compiled():
            shutil.copy(source, self.folder)
        _run("go", "build", "-o", "bin/program", ".", folder=self.folder)

    def compiled(self) -> Sequence[Path]:
        return (INSIDE / f"on_{self.name}.go",)

    def variables(self) -> dict[str, str]:
        return {}

    def calling(self, module: str, function: str) -> list[str]:
        return [self.program("program"), function]

    def importing(self, module: str) -> list[str]:
        return self.calling(module, "import")

    def bare(self) -> list[str]:
        return ["true"]


def _run(*command: str, folder: Path | None = None) -> None:
    try:
        done = subprocess.run(
            command,
            check=False,
            cwd=folder,
            env={**os.environ, "GOFLAGS": "-mod=readonly"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
    except FileNotFoundError as error:
        raise RuntimeError(f"{command[0]} is not on PATH") from error
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}")
