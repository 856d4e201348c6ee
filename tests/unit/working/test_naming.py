"""A handler has one name in all processes, however its module was started: so they share its rate and slots."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SHOP = """
import multiprocessing
import sys

from redisson_dq.working.handlers import declared
from redisson_dq.working.limits import Rate


class Order:
    number = 1


class Mailer:
    def __call__(self, order):
        pass


def handle(order):
    pass


def tell():
    for function in (handle, Mailer()):
        admission = declared(
            function, "orders", rate=Rate(1), unique_for=60, unique_by=lambda order: order.number
        ).admission
        unique = admission.seen(Order(), b"", 0).unique
        print(admission.name, admission.words_of_keys(None)[0].id.hex(), unique.hex(), flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["spawn"]:
        child = multiprocessing.get_context("spawn").Process(target=tell)
        child.start()
        child.join()
    else:
        tell()
"""


def _told(folder: Path, *arguments: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.parametrize(
    ("module", "starts"),
    [
        ("shop", [["shop.py"], ["-m", "shop"], ["shop.py", "spawn"]]),
        ("acme.web.shop", [["acme/web/shop.py"], ["-m", "acme.web.shop", "spawn"]]),
        ("acme.__main__", [["-m", "acme"]]),
    ],
)
def test_the_module_that_python_was_started_with_is_known_by_its_name(
    tmp_path: Path, module: str, starts: list[list[str]]
) -> None:
    *packages, name = module.split(".")
    folder = tmp_path.joinpath(*packages)
    folder.mkdir(parents=True, exist_ok=True)
    for depth in range(len(packages)):
        tmp_path.joinpath(*packages[: depth + 1], "__init__.py").touch()
    (folder / f"{name}.py").write_text(_SHOP)
    imported = _told(tmp_path, "-c", f"import {module} as shop; shop.tell()")
    assert [line.split()[0] for line in imported] == [f"{module}.handle", f"{module}.Mailer"]
    for start in starts:
        assert _told(tmp_path, *start) == imported, start


def test_at_a_prompt_there_is_no_other_name(tmp_path: Path) -> None:
    assert [line.split()[0] for line in _told(tmp_path, "-c", _SHOP)] == ["__main__.handle", "__main__.Mailer"]
