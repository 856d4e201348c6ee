"""``generate-classes --check``: the differences, the exit codes, and the claims about values that are stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from redisson_dq.cli import main
from redisson_dq.cli.frame import DATA, FINE, PROBLEM, USAGE
from tests.conftest import environment
from tests.peer import JVM

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
#: Compiles many versions of one class, each into a folder of its own, in one JVM.
_COMPILER = """
import java.nio.file.*;
import javax.tools.ToolProvider;
public class Compiler {
    public static void main(String[] folders) {
        for (String folder : folders) {
            Path source = Path.of(folder).resolve("Only.java");
            String[] words = {"-proc:none", "-nowarn", "-d", folder + "/classes", source.toString()};
            if (ToolProvider.getSystemJavaCompiler().run(null, null, null, words) != 0) System.exit(1);
        }
    }
}
"""
#: In each of two folders a module is imported by a process of its own: the one writes a value, the other one reads it.
_PLAY = """
import os, sys
from redisson_dq import codecs
from redisson_dq.errors import DecodeError

kept = {"count": 7, "first": "Ann", "last": "Lee"}
names = sys.argv[1:]


def written():
    import acme
    value = acme.Order() if hasattr(acme, "Order") else [acme.Level.B]
    return [getattr(codecs, name)().encode(value).hex() for name in names]


def read(lines):
    import acme
    for name, line in zip(names, lines):
        try:
            value = getattr(codecs, name)().decode(bytes.fromhex(line))
        except DecodeError:
            yield "refused"
            continue
        if isinstance(value, list):
            yield "read" if value == [getattr(acme.Level, "B", None)] else "wrong"
        else:
            yield "read" if all(getattr(value, key, kept[key]) == kept[key] for key in kept) else "wrong"


def played(folder, call):
    out, into = os.pipe()
    if not os.fork():
        sys.path.insert(0, folder)
        os.write(into, " ".join(call()).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as told:
        text = told.read().decode().split()
    os.wait()
    return text


for line in sys.stdin:
    before, after = line.rstrip().split("|")
    data = played(before, written)
    print(" ".join(played(after, lambda: read(data))))
"""


def ordered(fields: str = BEFORE) -> str:
    return f"public class Order implements java.io.Serializable {{ {fields} }}"


def levelled(constants: str = "A, B, C") -> str:
    return f"public enum Level {{ {constants} }}"


#: By folder its class.
SOURCES = {
    "order": ordered(),
    "level": levelled(),
    "order-noted": ordered(BEFORE + "public String note;"),
    **{f"order-{change.replace(' ', '-')}": ordered(fields) for change, (fields, _, _) in CLASS_CHANGES.items()},
    **{f"level-{change.replace(' ', '-')}": levelled(names) for change, (names, _, _) in ENUM_CHANGES.items()},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each class, with its class file and the module that is made of it."""
    whole = tmp_path_factory.mktemp("classes")
    (whole / "Compiler.java").write_text(_COMPILER)
    for name, source in SOURCES.items():
        (whole / name / "classes").mkdir(parents=True)
        # A public class is only allowed in a file of its name.
        (whole / name / "Only.java").write_text(f"package acme; {source.removeprefix('public ')}")
    subprocess.run([*JVM, str(whole / "Compiler.java"), *[str(whole / name) for name in SOURCES]], check=True)
    for name in SOURCES:
        made(whole / name / "classes")
    return whole


@pytest.fixture(scope="module")
def found(folders: Path) -> dict[str, tuple[str, ...]]:
    """By folder of a change, how each codec reads a value of before by the module of afterwards."""
    changes = [name for name in SOURCES if "-" in name]
    pairs = "".join(f"{folders / name.partition('-')[0]}|{folders / name}\n" for name in changes)
    command = [sys.executable, "-c", _PLAY, KRYO, JSON, SERIAL]
    done = subprocess.run(command, input=pairs, env=environment(), capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return {name: tuple(line.split()) for name, line in zip(changes, done.stdout.splitlines(), strict=True)}


def made(classes: Path) -> Path:
    module = classes.parent / "acme.py"
    assert main(["generate-classes", str(classes), "acme.*", "-o", str(module)]) == FINE
    return module


def told(capsys: pytest.CaptureFixture[str], module: Path, classes: Path, code: int = PROBLEM) -> list[str]:
    capsys.readouterr()
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
    change: str, folders: Path, found: dict[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    _, words, expected = CLASS_CHANGES[change]
    after = f"order-{change.replace(' ', '-')}"
    (line,) = told(capsys, folders / "order" / "acme.py", folders / after / "classes")
    assert line.startswith(f"acme.Order: {words}. Stored values: ")
    assert found[after] == expected
    assert_claimed(line, expected)


@pytest.mark.parametrize("change", ENUM_CHANGES)
def test_a_change_of_an_enum_is_told_as_the_codecs_read_it(
    change: str, folders: Path, found: dict[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    _, words, expected = ENUM_CHANGES[change]
    after = f"level-{change.replace(' ', '-')}"
    (line,) = told(capsys, folders / "level" / "acme.py", folders / after / "classes")
    assert line.startswith(f"acme.Level: {words}. Stored values: ")
    assert found[after] == expected
    assert_claimed(line, expected)


def test_a_module_that_is_up_to_date(folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = tmp_path / "acme.py"
    module.write_text("# Another head.\n" + (folders / "order" / "acme.py").read_text("utf-8"))
    capsys.readouterr()
    assert main(["generate-classes", str(folders / "order" / "classes"), "acme.*", "--check", str(module)]) == FINE
    assert capsys.readouterr() == ("", "")


def test_classes_that_came_and_went(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, folders / "order" / "acme.py", folders / "level" / "classes")
    assert [line.split(". ")[0] for line in lines] == ["acme.Level: class added", "acme.Order: class removed"]
    assert_claimed(lines[1], (REFUSED,) * 3)


def test_a_module_or_jar_that_cannot_be_read(folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    classes = folders / "order" / "classes"
    (tmp_path / "broken.py").write_text("class :")
    (tmp_path / "broken.jar").write_text("no jar")
    for path, name in ((classes, "none.py"), (classes, "broken.py"), (tmp_path / "broken.jar", "broken.py")):
        command = ["generate-classes", str(path), "acme.*", "--check", str(tmp_path / name)]
        assert main(command) == DATA
        assert "cannot be read: " in capsys.readouterr().err


def test_it_writes_nothing(folders: Path, tmp_path: Path) -> None:
    classes = str(folders / "order" / "classes")
    assert main(["generate-classes", classes, "acme.*", "--check", "a.py", "-o", str(tmp_path / "b.py")]) == USAGE
    assert not (tmp_path / "b.py").exists()


def test_the_page_shows_what_the_command_prints(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    module, classes = folders / "order" / "acme.py", folders / "order-noted" / "classes"
    assert main(["generate-classes", str(classes), "acme.*", "--check", str(module)]) == PROBLEM
    assert f"--check acme.py\n{capsys.readouterr().out}```" in PAGE
