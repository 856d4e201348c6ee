"""``generate-classes --check``: the differences, the exit codes, and the claims about values that are stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from redisson_dq.cli import main
from redisson_dq.cli.frame import DATA, FINE, PROBLEM, USAGE
from tests.conftest import environment

PAGE = (Path(__file__).parents[3] / "docs" / "generate-classes.md").read_text("utf-8")

FIELDS = "public int count = 7; public String first = {first}; public String last = {last};"
BEFORE = "private static final long serialVersionUID = 1;" + FIELDS.format(first='"Ann"', last='"Lee"')
REFUSED, READ, WRONG = "refused", "read", "wrong"
KRYO, JSON, SERIAL = "Kryo5Codec", "JsonJacksonCodec", "SerializationCodec"

#: By change: the fields afterwards, the words that tell it, and how the codecs read values of before.
CLASS_CHANGES = {
    "added": (BEFORE + "public String zed;", "field zed added", (REFUSED, READ, READ)),
    "removed": (BEFORE.replace('public String last = "Lee";', ""), "field last removed", (REFUSED, READ, REFUSED)),
    "renamed": (BEFORE.replace("String last", "String later"), "field last renamed to later", (READ, READ, REFUSED)),
    "renamed elsewhere": (
        BEFORE.replace("String last", "String alast"),
        "field last renamed to alast",
        (WRONG, READ, REFUSED),
    ),
    "retyped": (
        BEFORE.replace('String first = "Ann"', "int first"),
        "type of field first changed from str | None to int",
        (REFUSED, REFUSED, REFUSED),
    ),
    "version": (BEFORE.replace("UID = 1", "UID = 2"), "serialVersionUID changed from 1 to 2", (READ, READ, REFUSED)),
    "default": (BEFORE.replace("count = 7", "count = 8"), "default of field count changed from 7 to 8", (READ,) * 3),
}
#: The constants afterwards, of A, B, C before, and how the codecs read B and C of before.
ENUM_CHANGES = {
    "at the end": ("A, B, C, D", "constant D added at the end", (READ, READ, READ)),
    "in front": ("X, A, B, C", "constant X added in front of others", (WRONG, READ, READ)),
    "removed": ("A, C", "constant B removed", (WRONG, REFUSED, REFUSED)),
    "reordered": ("A, C, B", "constants reordered, now A, C, B", (WRONG, READ, READ)),
}
_ENCODE = """
import sys
sys.path.insert(0, ".")
import acme
from redisson_dq import codecs
value = acme.Order() if hasattr(acme, "Order") else [acme.Level.B]
for name in sys.argv[1:]:
    print(getattr(codecs, name)().encode(value).hex())
"""
_DECODE = """
import sys
sys.path.insert(0, ".")
import acme
from redisson_dq import codecs
from redisson_dq.errors import DecodeError
kept = {"count": 7, "first": "Ann", "last": "Lee"}
for name, line in zip(sys.argv[1:], sys.stdin):
    try:
        value = getattr(codecs, name)().decode(bytes.fromhex(line))
    except DecodeError:
        print("refused")
        continue
    if isinstance(value, list):
        print("read" if value == [getattr(acme.Level, "B", None)] else "wrong")
    else:
        print("read" if all(getattr(value, key, kept[key]) == kept[key] for key in kept) else "wrong")
"""


def compiled(folder: Path, name: str, source: str) -> Path:
    """The directory of a class of package acme."""
    file = folder / f"{name}.java"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"package acme; {source}")
    subprocess.run(["javac", "-d", str(folder / "classes"), str(file)], check=True)
    return folder / "classes"


def order(folder: Path, fields: str = BEFORE) -> Path:
    return compiled(folder, "Order", f"public class Order implements java.io.Serializable {{ {fields} }}")


def level(folder: Path, constants: str = "A, B, C") -> Path:
    return compiled(folder, "Level", f"public enum Level {{ {constants} }}")


def made(classes: Path, *options: str) -> Path:
    module = classes.parent / "acme.py"
    assert main(["generate-classes", str(classes), "acme.*", *options, "-o", str(module)]) == FINE
    return module


def ran(script: str, folder: Path, text: str = "") -> list[str]:
    command = [sys.executable, "-c", script, KRYO, JSON, SERIAL]
    done = subprocess.run(command, input=text, cwd=folder, env=environment(), capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def told(capsys: pytest.CaptureFixture[str], module: Path, classes: Path, code: int = PROBLEM) -> list[str]:
    assert main(["generate-classes", str(classes), "acme.*", "--check", str(module)]) == code
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("acme.")]


def assert_claimed(line: str, found: tuple[str, ...]) -> None:
    """The line says of each codec how it has read a value."""
    parts = line.split("Stored values: ")[1].split("; ")
    assert [part.split()[0] for part in parts] == ["Kryo5", "JsonJackson", "Serialization"]
    words = {READ: "reads them", REFUSED: "refuses", WRONG: "reads wrong"}
    assert [result for part, result in zip(parts, found, strict=True) if words[result] not in part] == []


@pytest.mark.parametrize("change", CLASS_CHANGES)
def test_a_change_of_a_class_is_told_as_the_codecs_read_it(
    change: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields, words, expected = CLASS_CHANGES[change]
    before, after = made(order(tmp_path / "before")), order(tmp_path / "after", fields)
    (line,) = told(capsys, before, after)
    assert line.startswith(f"acme.Order: {words}. Stored values: ")
    data = ran(_ENCODE, before.parent)
    assert tuple(ran(_DECODE, made(after).parent, "\n".join(data))) == expected
    assert_claimed(line, expected)


@pytest.mark.parametrize("change", ENUM_CHANGES)
def test_a_change_of_an_enum_is_told_as_the_codecs_read_it(
    change: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    constants, words, expected = ENUM_CHANGES[change]
    before, after = made(level(tmp_path / "before")), level(tmp_path / "after", constants)
    (line,) = told(capsys, before, after)
    assert line.startswith(f"acme.Level: {words}. Stored values: ")
    data = ran(_ENCODE, before.parent)
    assert tuple(ran(_DECODE, made(after).parent, "\n".join(data))) == expected
    assert_claimed(line, expected)


def test_a_module_that_is_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    classes = order(tmp_path)
    module = made(classes)
    module.write_text("# Another head.\n" + module.read_text("utf-8"))
    assert main(["generate-classes", str(classes), "acme.*", "--check", str(module)]) == FINE
    assert capsys.readouterr() == ("", "")


def test_classes_that_came_and_went(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = made(order(tmp_path / "before"))
    lines = told(capsys, module, level(tmp_path / "after"))
    assert [line.split(". ")[0] for line in lines] == ["acme.Level: class added", "acme.Order: class removed"]
    assert_claimed(lines[1], (REFUSED,) * 3)


def test_a_module_or_jar_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    classes = order(tmp_path)
    (tmp_path / "broken.py").write_text("class :")
    (tmp_path / "broken.jar").write_text("no jar")
    for path, name in ((classes, "none.py"), (classes, "broken.py"), (tmp_path / "broken.jar", "broken.py")):
        command = ["generate-classes", str(path), "acme.*", "--check", str(tmp_path / name)]
        assert main(command) == DATA
        assert "cannot be read: " in capsys.readouterr().err


def test_it_writes_nothing(tmp_path: Path) -> None:
    command = ["generate-classes", str(order(tmp_path)), "acme.*", "--check", "a.py", "-o", str(tmp_path / "b.py")]
    assert main(command) == USAGE
    assert not (tmp_path / "b.py").exists()


def test_the_page_shows_what_the_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = made(order(tmp_path / "before"))
    after = order(tmp_path / "after", BEFORE + "public String note;")
    assert main(["generate-classes", str(after), "acme.*", "--check", str(before)]) == PROBLEM
    assert f"--check acme.py\n{capsys.readouterr().out}```" in PAGE
