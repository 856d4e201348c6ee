"""The Pythons, redis-pys and servers at hand, and environments of the first two."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import attrs

from tests.versions import PYTHONS

__all__ = ["ROOT", "Environment", "pythons"]

ROOT = Path(__file__).resolve().parents[2]


def pythons() -> dict[str, Path]:
    """The declared Pythons of this machine, by their minor version: those on PATH, else those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for minor in PYTHONS:
        ways = [shutil.which(f"python{minor}"), *sorted(pyenv.glob(f"{minor}.*/bin/python"), reverse=True)]
        # Some systems have a Python without the module that makes environments.
        works = (way for way in ways if way and _can_make_environments(way))
        if (python := next(works, None)) is not None:
            found[minor] = Path(python)
    return found


def _can_make_environments(python: str | Path) -> bool:
    return subprocess.run([python, "-c", "import ensurepip"], capture_output=True, check=False).returncode == 0


@attrs.frozen
class Environment:
    """A Python with one redis-py and the library's other dependencies, kept in ``build``."""

    program: Path
    python: str
    redis_py: str

    @classmethod
    def own(cls) -> Environment:
        """That of this process."""
        return cls(Path(sys.executable), ".".join(map(str, sys.version_info[:3])), metadata.version("redis"))

    @classmethod
    def made(cls, minor: str, python: Path, client: str) -> Environment:
        """Makes it where it is not there yet. ``client`` is one of ``tests.versions.CLIENTS``."""
        folder = ROOT / "build" / "compatibility" / f"{minor}-{re.sub('[^0-9.]+', '-', client)}"
        program = folder / "bin" / "python"
        if not (folder / "made").exists():
            subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
            others = [
                each for each in metadata.requires("redisson-dq") or [] if not re.search("^redis[^-]|extra ==", each)
            ]
            install = [str(program), "-m", "pip", "install", "--quiet", f"redis[hiredis]{client}", *others]
            subprocess.run(install, check=True)
            (folder / "made").touch()
        say = "import platform, redis; print(platform.python_version(), redis.__version__)"
        said = subprocess.run([program, "-c", say], check=True, capture_output=True, text=True)
        return cls(program, *said.stdout.split())
