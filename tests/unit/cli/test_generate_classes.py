"""``redisson-dq generate-classes``: its modules declare what Java's own reflection sees, and import, and are typed."""

from __future__ import annotations

import json
import os
import re
import shlex
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.cli import main
from redisson_dq.cli.frame import DATA, PROBLEM, USAGE
from redisson_dq.cli.generate_classes._names import class_candidates, identifier, literal, unique
from tests.conftest import by_night, environment
from tests.peer import JAVAC, JVM, VERSIONS, build
from tests.unit.codecs.vectors import vectors

FACTS = Path(__file__).parent / "generated_facts.py"
PAGE = (Path(__file__).parents[3] / "docs" / "generate-classes.md").read_text("utf-8")

Generate = Callable[..., str]


@pytest.fixture
def generate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Generate:
    """Runs the command, and gives the module's text, which is in ``tmp_path / "made.py"``. It may warn of NOT_DECLARED
    alone.
    """

    def run(path: Path, *arguments: str) -> str:
        made = tmp_path / "made.py"
        assert main(["generate-classes", str(path), *arguments, "-o", str(made)]) == 0
        output = capsys.readouterr()
        warnings = [line.split(" is not declared: it ")[0] for line in output.err.splitlines()]
        assert output.out == ""
        assert {*warnings} <= {f"redisson-dq: warning: {name}" for name in NOT_DECLARED}
        return made.read_text("utf-8")

    return run


def fails(capsys: pytest.CaptureFixture[str], code: int, path: Path, *arguments: str) -> str:
    """The error of a command that has no output. It ends with the exit code ``code``."""
    assert main(["generate-classes", str(path), *arguments]) == code
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("redisson-dq: error: ")
    assert output.err.count("\n") == 1
    return output.err.removeprefix("redisson-dq: error: ").rstrip("\n")


def python(*arguments: str | Path, cwd: Path | None = None) -> str:
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment(), cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def facts_in_python(module: Path) -> dict[str, str]:
    """By class: what the module declares. It runs in a process of its own, for a class can be declared only once."""
    return {line.partition(" ")[0]: line for line in python(FACTS, module).splitlines()}


def facts_in_java(names: Iterable[str], *classpath: Path | str) -> dict[str, str]:
    command = [*JVM, "-Dfile.encoding=UTF-8", "-cp", os.pathsep.join(map(str, classpath)), "Reflect"]
    done = subprocess.run(command, input="\n".join(names), capture_output=True, encoding="utf-8", check=True)
    return {line.partition(" ")[0]: line for line in done.stdout.splitlines()}


def declared(text: str) -> list[str]:
    """The Java names of the classes in a module, in its order."""
    return [line.split('"')[1] for line in text.split("@java_class(")[1:]]


def body(text: str, name: str) -> str:
    """The lines of a class, without its head."""
    return text.split(f"\nclass {name}")[1].split("\n", 1)[1].split("\n\n")[0].rstrip()


COLLECTION = (
    "is a collection or a map of its own, which is not written by its fields: send an ArrayList, a HashMap ..., a "
    "class that extends one of these, or one that has it in a field"
)
#: What the patterns of these tests match and no module can declare.
NOT_DECLARED = ("shop.Shapes$Basket", "shop.Shapes$Clock")
OPTIONS = [[], ["--snake-case"], ["--dataclasses"], ["--snake-case", "--dataclasses"]]


class TestFacts:
    @pytest.mark.parametrize("options", [OPTIONS[0], *map(by_night, OPTIONS[1:3]), OPTIONS[3]], ids=" ".join)
    def test_of_names_generics_and_types_of_the_jdk(
        self, java_classes: Path, generate: Generate, tmp_path: Path, options: list[str]
    ) -> None:
        generate(java_classes, "shop.*", "depot.*", *options)
        found = facts_in_python(tmp_path / "made.py")
        assert len(found) == 25
        assert found == facts_in_java(found, java_classes)

    @pytest.mark.parametrize("options", [*map(by_night, OPTIONS[:3]), OPTIONS[3]], ids=" ".join)
    def test_of_the_classes_of_interop(
        self, java_classes: Path, acme_jar: Path, generate: Generate, tmp_path: Path, options: list[str]
    ) -> None:
        generate(acme_jar, "com.acme.*", *options)
        found = facts_in_python(tmp_path / "made.py")
        assert {"com.acme.Order", "com.acme.Outer$Inner", "com.acme.Line", "com.acme.Planet"} < found.keys()
        libraries = build(VERSIONS[0]) / "lib" / "*"
        assert found == facts_in_java(found, java_classes, acme_jar, libraries)

    @pytest.mark.nightly
    @pytest.mark.nightly
    def test_of_all_that_is_in_a_large_jar(
        self, java_classes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        jar, made = build(VERSIONS[0]) / "lib" / f"redisson-{VERSIONS[0]}.jar", tmp_path / "made.py"
        (cache_api,) = jar.parent.glob("cache-api-*.jar")  # with interfaces that are Serializable
        command = ["generate-classes", str(jar), "org.redisson.**", "--classpath", str(cache_api), "-o", str(made)]
        assert main(command) == 0
        assert "io.netty.channel.EventLoopGroup, of which " in capsys.readouterr().err
        ours = facts_in_python(made)
        theirs = facts_in_java(ours, java_classes, jar.parent / "*")
        assert len(theirs) > 800
        assert {name: ours[name] for name in theirs} == theirs


class TestModules:
    def test_an_abstract_class_derives_from_abc(self, java_classes: Path, generate: Generate) -> None:
        made = generate(java_classes, "shop.*")
        assert "\nfrom abc import ABC\n" in made
        assert "\nclass Body(ABC):  # noqa: B024\n" in made
        assert "\nclass Ball(Body):\n" in made

    @pytest.mark.parametrize("options", [*map(by_night, OPTIONS[:3]), OPTIONS[3]], ids=" ".join)
    def test_they_are_typed_and_laid_out(
        self, java_classes: Path, generate: Generate, tmp_path: Path, mypy_strict: list[str], options: list[str]
    ) -> None:
        generate(java_classes, "shop.*", "depot.*", *options)
        made = tmp_path / "made.py"
        python(*mypy_strict, made)
        python("-m", "ruff", "format", "--isolated", "--check", made)
        rules = ("--isolated", "--target-version", "py310", "--select", "E4,E7,E9,F,I,UP,B")
        python("-m", "ruff", "check", *rules, made, cwd=tmp_path)  # where redisson_dq is a library

    def test_a_generic_class_says_what_it_implements(
        self, acme_classes: Path, generate: Generate, tmp_path: Path, mypy_strict: list[str]
    ) -> None:
        text = generate(acme_classes, "com.acme.result.*")
        assert '    implements=["com.acme.result.Results$Either<L, R>", "java.io.Serializable"],\n' in text
        assert (
            "    implements=[\n"
            '        "com.acme.result.Results$Same<Z>",\n'
            '        "com.acme.result.Results$Either<Z, Z>",\n'
            '        "java.io.Serializable",\n'
            "    ],\n"
        ) in text
        assert "class Raw(Ok, Generic[T]):  # type: ignore[type-arg]\n" in text
        made = tmp_path / "made.py"
        python(*mypy_strict, made)
        python("-m", "ruff", "format", "--isolated", "--check", made)

    def test_a_class_says_all_that_it_implements(self, java_classes: Path, generate: Generate) -> None:
        text = generate(java_classes, "shop.Shapes$Ball", "shop.Shapes$Disc", "shop.Shapes$Unit")
        said = re.findall(r'"shop\.Shapes\$(Ball|Body|Disc|Unit)",.*?implements=\[(.*?)\]', text, re.DOTALL)
        assert {name: re.findall(r"\$(\w+)", interfaces) for name, interfaces in said} == {
            "Ball": ["Round", "Shape"],
            "Body": [],
            "Disc": ["Round", "Shape"],
            "Unit": ["Shape"],
        }

    def test_what_the_jars_lack_may_extend_more(self, tmp_path: Path, generate: Generate) -> None:
        source = tmp_path / "src" / "Bag.java"
        source.parent.mkdir()
        source.write_text(
            "package bag; interface Has {} public class Bag implements Has, Runnable { public void run() {} }"
        )
        subprocess.run([*JAVAC, "-d", str(tmp_path / "classes"), str(source)], check=True)
        (tmp_path / "classes" / "bag" / "Has.class").unlink()
        assert 'implements=["bag.Has", "java.lang.Runnable", ...]' in generate(tmp_path / "classes", "bag.Bag")

    def test_long_lines_are_laid_out(self, tmp_path: Path) -> None:
        jar, made = build(VERSIONS[0]) / "lib" / f"redisson-{VERSIONS[0]}.jar", tmp_path / "made.py"
        assert main(["generate-classes", str(jar), "org.redisson.**", "--snake-case", "-o", str(made)]) == 0
        python("-m", "ruff", "format", "--isolated", "--check", made)

    def test_the_same_classes_give_the_same_text(self, acme_jar: Path, acme_classes: Path, generate: Generate) -> None:
        first = generate(acme_jar, "com.acme.Drawing", "com.acme.Order")
        again = generate(acme_jar, "com.acme.Order", "com.acme.Drawing")
        folder = generate(acme_classes, "com.acme.Order", "com.acme.Drawing")
        assert declared(first) == sorted(declared(first))
        assert first.split("\n\n", 1)[1] == again.split("\n\n", 1)[1] == folder.split("\n\n", 1)[1]

    def test_the_text_does_not_depend_on_the_run(self, java_classes: Path) -> None:
        command = ["-m", "redisson_dq.cli", "generate-classes", str(java_classes), "shop.*", "--subclasses"]
        outputs = {
            subprocess.run(
                [sys.executable, *command],
                capture_output=True,
                check=True,
                env={**environment(), "PYTHONHASHSEED": seed},
            ).stdout
            for seed in "123"
        }
        assert len(outputs) == 1

    def test_the_heading_has_the_command_without_folders(
        self, acme_jar: Path, java_classes: Path, generate: Generate
    ) -> None:
        text = generate(acme_jar, "com.acme.*", "--classpath", str(java_classes), "--snake-case")
        assert text.splitlines()[1:3] == [
            "#   redisson-dq generate-classes acme.jar 'com.acme.*' --classpath classes \\",
            "#     --snake-case",
        ]
        assert str(acme_jar.parent) not in text

    def test_it_goes_to_standard_output_as_utf_8(
        self, java_classes: Path, capfdbinary: pytest.CaptureFixture[bytes]
    ) -> None:
        assert main(["generate-classes", str(java_classes), "shop.Names"]) == 0
        output, errors = capfdbinary.readouterr()
        assert "    größe: int = 0\n".encode() in output
        assert errors == b""

    def test_a_class(self, acme_jar: Path, generate: Generate) -> None:
        text = generate(acme_jar, "com.acme.Order", "com.acme.Point", "com.acme.Color", "com.acme.VipCustomer")
        assert declared(text) == [
            *("com.acme.Address", "com.acme.Color", "com.acme.Customer", "com.acme.Order", "com.acme.Point"),
            "com.acme.VipCustomer",
        ]
        assert text.endswith(
            "\n\n\n"
            '@java_class("com.acme.Order", serial_version_uid=2208193040985352831, implements=[])\n'
            "@attrs.define\n"
            "class Order:\n"
            "    id: java.long | None = None\n"
            "    sku: str | None = None\n"
            "    price: float = 0.0\n"
            "    tags: list[str] | None = None\n"
            "    customer: Customer | None = None\n"
            "\n\n"
            '@java_class("com.acme.Point", record=True, implements=["java.io.Serializable"])\n'
            "@attrs.frozen\n"
            "class Point:\n"
            "    x: int\n"
            "    y: int\n"
            "\n\n"
            '@java_class("com.acme.VipCustomer", serial_version_uid=2, implements=[])\n'
            "@attrs.define\n"
            "class VipCustomer(Customer):\n"
            "    level: int = 0\n"
            "    zone: str | None = None\n"
            "    discount: float | None = None\n"
        )

    def test_a_class_that_writes_itself(self, acme_jar: Path, generate: Generate) -> None:
        remark = "    # SerializationCodec may refuse it: Java lets its writeExternal() decide what is written."
        assert body(generate(acme_jar, "com.acme.Money"), "Money").split("\n")[0] == remark
        reason = '    not_serialized="its writeObject() writes more than the fields",\n'
        assert reason in generate(acme_jar, "com.acme.Sealed")

    def test_an_inner_class(self, java_classes: Path, generate: Generate) -> None:
        assert body(generate(java_classes, "shop.Names.Inner"), "Inner").split("\n") == [
            "    # An inner class: its reference to the enclosing object is left out.",
            "    depth: int = 0",
        ]

    def test_snake_case(self, acme_jar: Path, generate: Generate) -> None:
        text = generate(acme_jar, "com.acme.Collected", "--snake-case")
        assert "    by_color: dict[Color, list[Order]] | None = None\n" in text
        assert "rename=java.camel_case" in text

    def test_snake_case_that_does_not_lead_back(self, java_classes: Path, generate: Generate) -> None:
        text = generate(java_classes, "shop.Names", "--snake-case")
        assert "    a_long_name: int = 0\n    url_value: int = 0\n" in text
        assert '        "a_long_name": "aLongName",\n        "url_value": "URLValue",\n' in text

    def test_dataclasses(self, acme_jar: Path, generate: Generate) -> None:
        text = generate(acme_jar, "com.acme.Point", "com.acme.Order", "--dataclasses")
        assert "@dataclass(frozen=True)\nclass Point:\n" in text
        assert "@dataclass\nclass Order:\n" in text
        assert "attrs" not in text

    def test_names_that_python_cannot_have(self, java_classes: Path, generate: Generate) -> None:
        text = generate(java_classes, "shop.Names.More")
        assert body(text, "More") == "    fine__: int = 0\n    from__: str | None = None\n    fine___: int = 0"
        assert 'rename={"fine__": "fine", "from__": "from", "fine___": "fine_"}' in text
        assert body(text, "Status").split("\n") == [
            '    None_ = "None"',
            '    mro_ = "mro"',
            '    name_ = "name"',
            '    X = "_X"',
            '    VALUE = "VALUE"',
        ]

    def test_classes_of_one_name(self, java_classes: Path, generate: Generate) -> None:
        text = generate(java_classes, "shop.Names")
        assert "    order: shop_Order | None = None\n    other: depot_Order | None = None\n" in text
        assert "    line: shop_Order_Line | None = None\n    otherLine: depot_Order_Line | None = None\n" in text

    @pytest.mark.parametrize("codec", ["Kryo5Codec", "JsonJacksonCodec", "SerializationCodec"])
    def test_codecs_read_and_write_what_java_wrote(
        self, acme_jar: Path, generate: Generate, tmp_path: Path, codec: str
    ) -> None:
        """Every value of the vectors that is of a class in the jar."""
        classes = declared(generate(acme_jar, "com.acme.*"))
        # What their own code writes, SerializationCodec refuses; the module says so.
        refused = ("com.acme.Money", "com.acme.Sealed") if codec == "SerializationCodec" else ()
        values = [
            vector.data.hex()
            for vector in vectors(codec)
            if vector.redisson == VERSIONS[0]
            and vector.java_type in classes
            and vector.java_type not in refused
            and vector.same_back
            and vector.data
        ]
        assert len(values) > 30
        done = subprocess.run(
            [sys.executable, "-c", _RECODE, str(FACTS.parent), str(tmp_path / "made.py"), codec],
            input="\n".join(values),
            capture_output=True,
            encoding="utf-8",
            env=environment(),
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == values


_RECODE = """
import sys

sys.path.insert(0, sys.argv[1])
import generated_facts

from redisson_dq import codecs

module = generated_facts.load(sys.argv[2])
codec = getattr(codecs, sys.argv[3])()
for line in sys.stdin:
    value = codec.decode(bytes.fromhex(line))
    assert type(value).__module__ == module.__name__, value
    print(codec.encode(value).hex())
"""


class TestWhichClasses:
    def test_what_fields_are_of_is_included(self, acme_jar: Path, generate: Generate) -> None:
        assert declared(generate(acme_jar, "com.acme.Order")) == [
            "com.acme.Address",
            "com.acme.Customer",
            "com.acme.Order",
        ]

    @pytest.mark.parametrize("name", ["com.acme.Outer.Inner", "com.acme.Outer$Inner"])
    def test_a_nested_class(self, acme_jar: Path, generate: Generate, name: str) -> None:
        assert declared(generate(acme_jar, name)) == ["com.acme.Outer$Inner"]

    def test_superclasses_are_included_and_come_first(self, java_classes: Path, generate: Generate) -> None:
        text = generate(java_classes, "shop.Shapes.Ball")
        assert declared(text) == ["shop.Shapes$Body", "shop.Shapes$Ball"]

    def test_of_a_package(self, acme_classes: Path, generate: Generate) -> None:
        names = declared(generate(acme_classes, "com.acme.*"))
        assert "com.acme.Outer$Inner" in names
        assert not [name for name in names if name.count(".") > 2]
        assert not {"com.acme.Shape", "com.acme.OrderFailed", "com.acme.Planet$1"} & set(names)

    def test_of_the_packages_below_it(self, java_classes: Path, generate: Generate) -> None:
        assert declared(generate(java_classes, "dep**")) == ["depot.Order", "depot.Order$Line"]

    def test_what_is_of_an_interface_is_included_when_asked_for(self, java_classes: Path, generate: Generate) -> None:
        ball = ["shop.Shapes$Body", "shop.Shapes$Ball"]
        assert declared(generate(java_classes, "shop.Shapes")) == [
            "shop.Shapes",
            "shop.Shapes$Bag",
            "shop.Shapes$Body",
            "shop.Shapes$Unit",
        ]
        assert declared(generate(java_classes, "shop.Shapes", "--subclasses")) == [
            *("shop.Shapes", "shop.Shapes$Bag", *ball, "shop.Shapes$Disc", "shop.Shapes$Unit")
        ]
        assert declared(generate(java_classes, "shop.Shapes.Round", "--subclasses")) == [
            *(*ball, "shop.Shapes$Disc", "shop.Shapes$Unit")
        ]

    def test_a_subclass_of_a_superclass_is_not_asked_for(self, java_classes: Path, generate: Generate) -> None:
        assert declared(generate(java_classes, "shop.Generics.Half", "--subclasses")) == [
            *("shop.Generics$Pair", "shop.Generics$Half", "shop.Generics$Zone")
        ]

    def test_the_class_path_completes_it(self, split: tuple[Path, Path], generate: Generate) -> None:
        shop, depot = split
        text = generate(shop, "shop.Names", "--classpath", str(depot))
        assert "depot.Order" in declared(text)

    def test_what_is_missing_is_any(
        self, split: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["generate-classes", str(split[0]), "shop.Names", "-o", str(tmp_path / "made.py")]) == 0
        assert capsys.readouterr().err == (
            "redisson-dq: warning: depot.Order, of which shop.Names has a field, is in none of the jars: typed as Any; "
            "--classpath adds its jar\n"
            "redisson-dq: warning: depot.Order$Line, of which shop.Names has a field, is in none of the jars: typed as "
            "Any; --classpath adds its jar\n"
        )
        text = (tmp_path / "made.py").read_text("utf-8")
        assert "# Not declared: the jars lack these, or a superclass of these.\ndepot_Order = Annotated[Any, " in text
        assert (
            facts_in_python(tmp_path / "made.py")["shop.Names"] == facts_in_java(["shop.Names"], *split)["shop.Names"]
        )

    def test_a_class_without_its_superclass_is_not_declared(
        self, made_jar: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        jar = made_jar(
            class_file("a.Holder", fields=[("child", "La/Child;")]), class_file("a.Child", superclass="lib.Base")
        )
        assert main(["generate-classes", str(jar), "a.Holder", "-o", str(tmp_path / "made.py")]) == 0
        assert capsys.readouterr().err == (
            "redisson-dq: warning: lib.Base, which a.Child extends, is in none of the jars: a.Child is not declared; "
            "--classpath adds its jar\n"
        )
        assert declared((tmp_path / "made.py").read_text("utf-8")) == ["a.Holder"]


@pytest.fixture
def split(java_classes: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Package shop with Reflect, and package depot, in two jars."""
    jars = tmp_path / "shop.jar", tmp_path / "depot.jar"
    for jar in jars:
        with zipfile.ZipFile(jar, "w") as opened:
            for file in java_classes.rglob("*.class"):
                if (file.parent.name == "depot") == (jar.stem == "depot"):
                    opened.write(file, file.relative_to(java_classes))
    return jars


def class_file(name: str, *, superclass: str = "java.lang.Object", fields: Iterable[tuple[str, str]] = ()) -> bytes:
    """A class file, without methods, as no compiler would have to have made it."""
    texts = [name.replace(".", "/"), superclass.replace(".", "/"), *(text for field in fields for text in field)]
    constants = b"".join(b"\x01" + struct.pack(">H", len(text.encode())) + text.encode() for text in texts)
    count = len(texts)
    constants += b"\x07\0\x01\x07\0\x02"  # the classes of the first two texts
    members = b"".join(struct.pack(">HHHH", 0, at, at + 1, 0) for at in range(3, count + 1, 2))
    head = b"\xca\xfe\xba\xbe\0\0\0\x34" + struct.pack(">H", count + 3) + constants
    return head + struct.pack(">HHHHH", 0x21, count + 1, count + 2, 0, (count - 2) // 2) + members + bytes(4)


@pytest.fixture
def made_jar(tmp_path: Path) -> Callable[..., Path]:
    """Makes a jar of class files; each may be a pair of its path and its bytes."""

    def make(*files: bytes | tuple[str, bytes], name: str = "made.jar", deflated: bool = True) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as jar:
            for file in files:
                path, data = file if isinstance(file, tuple) else (_name_in(file) + ".class", file)
                jar.writestr(path, data)
        return tmp_path / name

    return make


def _name_in(data: bytes) -> str:
    """The first text of a file that ``class_file`` made."""
    return data[13 : 13 + struct.unpack_from(">H", data, 11)[0]].decode()


class TestPage:
    """docs/generate-classes.md."""

    @pytest.fixture
    def project(self, acme_classes: Path, tmp_path: Path) -> Path:
        """A directory where the page's command has been run."""
        (tmp_path / "target").symlink_to(acme_classes.parent)
        (command,) = re.findall(r"^\$ redisson-dq (.+) > acme\.py$", PAGE, re.MULTILINE)
        (tmp_path / "acme.py").write_text(python("-m", "redisson_dq.cli", *shlex.split(command), cwd=tmp_path))
        return tmp_path

    def test_the_module_is_what_the_command_prints(self, project: Path) -> None:
        (shown,) = re.findall(r"^```python\n(# Made by.*?)\.\.\.\n```$", PAGE, re.DOTALL | re.MULTILINE)
        made = (project / "acme.py").read_text("utf-8")
        for part in shown.split("...\n"):
            assert part in made
            made = made.partition(part)[2]

    def test_the_codec_prints_what_is_shown(self, project: Path) -> None:
        (session,) = re.findall(r"^```python\n(>>> from acme .*?)```$", PAGE, re.DOTALL | re.MULTILINE)
        (project / "session.txt").write_text(session)
        python("-m", "doctest", "session.txt", cwd=project)

    def test_every_option_has_a_row(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["generate-classes", "--help"]) == 0
        options = set(re.findall(r"(?<!\w)--?[a-z-]+", capsys.readouterr().out)) - {"-h", "--help", "--output"}
        assert options >= {"-o", "--classpath", "--subclasses"}
        assert {option for option in options if f"\n| `{option}" not in PAGE} == set()


class TestJars:
    @pytest.mark.parametrize("root", ["BOOT-INF", "WEB-INF"])
    @pytest.mark.parametrize("deflated", [False, True])
    def test_an_application_with_its_libraries_inside(
        self, made_jar: Callable[..., Path], generate: Generate, root: str, deflated: bool
    ) -> None:
        part = made_jar(class_file("lib.Part", fields=[("number", "I")]), name="part.jar")
        other = made_jar(class_file("lib.Other"), name="other.jar")
        order = class_file("a.Order", fields=[("part", "Llib/Part;")])
        jar = made_jar(
            (f"{root}/classes/a/Order.class", order),
            (f"{root}/lib/other.jar", other.read_bytes()),
            (f"{root}/lib/part.jar", part.read_bytes()),
            deflated=deflated,
        )
        assert declared(generate(jar, "a.Order")) == ["a.Order", "lib.Part"]
        assert declared(generate(jar, "**")) == ["a.Order", "lib.Other", "lib.Part"]

    def test_libraries_are_opened_only_when_needed(self, made_jar: Callable[..., Path], generate: Generate) -> None:
        jar = made_jar(("BOOT-INF/classes/a/B.class", class_file("a.B")), ("BOOT-INF/lib/broken.jar", b"no jar"))
        assert declared(generate(jar, "a.B")) == ["a.B"]

    def test_a_broken_library(self, made_jar: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
        jar = made_jar(("BOOT-INF/classes/a/B.class", class_file("a.B")), ("BOOT-INF/lib/broken.jar", b"no jar"))
        assert (
            fails(capsys, DATA, jar, "a.C")
            == "made.jar!/BOOT-INF/lib/broken.jar cannot be read: File is not a zip file"
        )

    @pytest.mark.parametrize("inner", [b"no jar", None], ids=["broken", "whole"])
    def test_no_jar_is_left_open(
        self, made_jar: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, inner: bytes | None
    ) -> None:
        part = made_jar(class_file("a.C"), name="part.jar").read_bytes() if inner is None else inner
        jar = made_jar(("BOOT-INF/classes/a/B.class", class_file("a.B")), ("BOOT-INF/lib/part.jar", part))
        opened: list[zipfile.ZipFile] = []
        files: list[Any] = []

        class Watched(zipfile.ZipFile):
            def __init__(self, file: Any) -> None:
                super().__init__(file)
                opened.append(self)

            def open(self, *args: Any, **kwargs: Any) -> Any:
                files.append(super().open(*args, **kwargs))
                return files[-1]

        monkeypatch.setattr(zipfile, "ZipFile", Watched)
        main(["generate-classes", str(jar), "a.C"])
        assert files
        assert all(file.closed for file in files)
        assert len(opened) == (2 if inner is None else 1)
        assert all(one.fp is None for one in opened)

    @pytest.mark.parametrize(("manifest", "field"), [("Multi-Release: true\r\n", "eleven"), ("", "old")])
    def test_a_jar_for_several_releases(
        self, made_jar: Callable[..., Path], generate: Generate, manifest: str, field: str
    ) -> None:
        jar = made_jar(
            ("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\n" + manifest.encode()),
            ("META-INF/versions/11/a/B.class", class_file("a.B", fields=[("eleven", "I")])),
            ("META-INF/versions/9/a/B.class", class_file("a.B", fields=[("nine", "I")])),
            ("a/B.class", class_file("a.B", fields=[("old", "I")])),
        )
        assert body(generate(jar, "a.B"), "B") == f"    {field}: int = 0"

    def test_the_first_of_several_counts(self, made_jar: Callable[..., Path], generate: Generate) -> None:
        first = made_jar(class_file("a.B", fields=[("first", "I")]), name="first.jar")
        second = made_jar(class_file("a.B", fields=[("second", "I")]), name="second.jar")
        assert body(generate(first, "a.B", "--classpath", str(second)), "B") == "    first: int = 0"


class TestErrors:
    def test_without_a_class_the_classes_are_listed(self, acme_jar: Path, capsys: pytest.CaptureFixture[str]) -> None:
        message = fails(capsys, USAGE, acme_jar)
        assert message.startswith("name the classes to declare; acme.jar has com.acme.Account, com.acme.Address, ")
        assert message.endswith(" more")
        assert message.count(",") == 19
        assert "$1" not in message

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("com.acme.Ordr", "there is no class com.acme.Ordr; did you mean com.acme.Order or "),
            ("order", "there is no class order; did you mean com.acme.Order?"),
            ("x", "there is no class x; there are com.acme.Account, "),
            ("com.acm.*", "no class matches com.acm.*; there are com.acme.Account, "),
            (
                "com.acme.Shape",
                "com.acme.Shape cannot be declared: it is an interface; --subclasses includes what implements it",
            ),
            ("com.acme.Planet$1", "com.acme.Planet$1 cannot be declared: it is the class of one constant of an enum"),
            ("com.acme.OrderFailed", "com.acme.OrderFailed cannot be declared: it is an exception, which comes as "),
            ("com.acme.Shap*", "acme.jar has no class to declare for com.acme.Shap*"),
        ],
    )
    def test_what_cannot_be_declared(
        self, acme_jar: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
    ) -> None:
        assert fails(capsys, USAGE, acme_jar, name).startswith(message)

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("shop.Shapes.Basket", COLLECTION),
            ("shop.Shapes.Clock", "extends a class of Java itself, whose fields are not known"),
        ],
    )
    def test_what_has_more_than_its_own_fields(
        self, java_classes: Path, capsys: pytest.CaptureFixture[str], name: str, reason: str
    ) -> None:
        assert fails(capsys, USAGE, java_classes, name).endswith(f" cannot be declared: it {reason}")

    def test_the_maps_and_lists_of_a_json_library_are_collections(
        self, java_classes: Path, generate: Generate, tmp_path: Path
    ) -> None:
        text = generate(java_classes, "com.alibaba.fastjson.JSONObject")
        assert "class JSONObject(java.LinkedHashMap[str, Any]):" in text
        assert "class JSONArray(list[Any]):" in text
        assert text.count('not_serialized="it keeps its entries in a field of its own"') == 2
        script = (
            "from made import *; from redisson_dq.codecs import *; from redisson_dq.errors import EncodeError\n"
            "value = JSONObject(id=java.Long(5), rows=JSONArray([1, JSONObject()]))\n"
            "for codec in Kryo5Codec(), JsonJacksonCodec():\n"
            "    read = codec.decode(codec.encode(value))\n"
            "    print(read == value, type(read['rows']).__name__, type(read['rows'][1]).__name__)\n"
            "try: SerializationCodec().encode(value)\n"
            "except EncodeError as error: print(error)"
        )
        first, second, refused = python("-c", script, cwd=tmp_path).splitlines()
        assert (first, second) == ("True JSONArray JSONObject",) * 2
        assert "because it keeps its entries in a field of its own" in refused

    def test_no_jar(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        text = tmp_path / "text.jar"
        text.write_text("no jar")
        assert fails(capsys, DATA, text, "a.B") == "text.jar cannot be read: File is not a zip file"
        assert fails(capsys, DATA, tmp_path / "none.jar", "a.B") == "none.jar cannot be read: No such file or directory"
        assert (
            fails(capsys, DATA, tmp_path, "a.B", "--classpath", str(text))
            == "text.jar cannot be read: File is not a zip file"
        )

    def test_an_output_that_cannot_be_written(self, acme_jar: Path, capsys: pytest.CaptureFixture[str]) -> None:
        message = fails(capsys, PROBLEM, acme_jar, "com.acme.Order", "-o", str(acme_jar / "made.py"))
        assert message == f"{acme_jar / 'made.py'} cannot be written: Not a directory"

    def test_a_folder_inside_the_packages(self, acme_classes: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert fails(capsys, USAGE, acme_classes / "com" / "acme", "Order") == (
            "Order in acme is the file of com.acme.Order; give the folder that the packages begin in"
        )

    def test_a_truncated_class(self, made_jar: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
        data = class_file("a.B", fields=[("number", "I")])
        for size in range(len(data)):
            jar = made_jar(("a/B.class", data[:size]))
            assert fails(capsys, DATA, jar, "a.B").startswith("a.B in made.jar is not a readable class file: it ")

    def test_a_truncated_jar(self, acme_jar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        data = acme_jar.read_bytes()
        for size in range(0, len(data), 97):
            (tmp_path / "short.jar").write_bytes(data[:size])
            assert fails(capsys, DATA, tmp_path / "short.jar", "com.acme.Order").startswith(
                "short.jar cannot be read: "
            )

    def test_a_damaged_entry(self, acme_jar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        data = bytearray(acme_jar.read_bytes())
        with zipfile.ZipFile(acme_jar) as jar:
            start = jar.getinfo("com/acme/Order.class").header_offset
        data[start + 100] ^= 0xFF
        (tmp_path / "damaged.jar").write_bytes(data)
        message = fails(capsys, DATA, tmp_path / "damaged.jar", "com.acme.Order")
        assert message.startswith("com.acme.Order in damaged.jar cannot be read: ")

    def test_an_encrypted_entry(self, made_jar: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
        jar = made_jar(class_file("a.B"))
        data = bytearray(jar.read_bytes())
        data[6] |= 1
        data[data.index(b"PK\x01\x02") + 8] |= 1
        jar.write_bytes(data)
        assert "encrypted" in fails(capsys, DATA, jar, "a.B")

    def test_a_class_of_unending_size(self, made_jar: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
        jar = made_jar(("a/B.class", class_file("a.B") + bytes(16 << 20)))
        assert jar.stat().st_size < 100_000
        assert fails(capsys, DATA, jar, "a.B") == "a.B in made.jar is larger than 16 MB"

    def test_a_broken_class_that_may_be_a_subclass_is_only_warned_of(
        self, made_jar: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        jar = made_jar(class_file("a.B"), ("a/C.class", b"broken"))
        assert main(["generate-classes", str(jar), "a.B", "--subclasses", "-o", str(tmp_path / "made.py")]) == 0
        assert capsys.readouterr().err == (
            "redisson-dq: warning: a.C in made.jar is not a readable class file: it does not begin like one\n"
        )

    def test_classes_that_extend_each_other(
        self, made_jar: Callable[..., Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        jar = made_jar(class_file("a.B", superclass="a.C"), class_file("a.C", superclass="a.B"))
        assert fails(capsys, DATA, jar, "a.B") == "a.B extends itself"

    def test_a_class_that_extends_a_record(
        self, made_jar: Callable[..., Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        jar = made_jar(class_file("a.B", superclass="a.C"), class_file("a.C", superclass="java.lang.Record"))
        assert fails(capsys, DATA, jar, "a.B") == "a.B extends a.C, which no class may extend"

    def test_a_generic_head_that_contradicts_the_class(
        self, java_classes: Path, made_jar: Callable[..., Path], generate: Generate
    ) -> None:
        files = [(java_classes / "shop" / f"Generics${name}.class").read_bytes() for name in ("Entity", "Node")]
        assert files[1].count(b"Generics$Entity<") == 1
        files[1] = files[1].replace(b"Generics$Entity<", b"Generics$Nobody<")
        jar = made_jar(("shop/Generics$Entity.class", files[0]), ("shop/Generics$Node.class", files[1]))
        assert declared(generate(jar, "shop.Generics.Node")) == ["shop.Generics$Entity", "shop.Generics$Node"]


class TestHostileNames:
    def test_of_a_class(self, made_jar: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
        jar = made_jar(class_file("a.B", fields=[("f", 'La/X"]\nimport os;')]))
        assert fails(capsys, DATA, jar, "a.B") == r'a.X"]\nimport os is not a class name that Java source can have'

    def test_in_an_error(self, made_jar: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
        jar = made_jar(("a/B.class", class_file("a.B\nimport os")))
        assert r"is the file of a.B\nimport os; " in fails(capsys, USAGE, jar, "a.B")

    def test_of_a_field(self, made_jar: Callable[..., Path], generate: Generate, tmp_path: Path) -> None:
        name = 'x" }\nimport os # \\'
        text = generate(made_jar(class_file("a.B", fields=[(name, "I"), ("\u202eevil", "I")])), "a.B")
        assert len(text.splitlines()) == len(text.split("\n")) - 1
        assert r"""'x" }\nimport os # \\'""" in text
        assert "\u202e" not in text
        facts = python(FACTS, tmp_path / "made.py")
        assert facts == f"a.B | class | open | - | - | {name}: int; \u202eevil: int | \n"

    def test_of_the_jar(self, made_jar: Callable[..., Path], generate: Generate, tmp_path: Path) -> None:
        text = generate(made_jar(class_file("a.B"), name="x\nimport os\n.jar"), "a.B")
        assert r"x\nimport os\n.jar" in text.splitlines()[1]
        assert facts_in_python(tmp_path / "made.py").keys() == {"a.B"}


class TestNames:
    @pytest.mark.parametrize(
        ("java", "name"),
        [
            ("sku", "sku"),
            ("_id", "id"),
            ("__x", "x"),
            ("$a$b", "a_b"),
            ("_1st", "n1st"),
            ("ﬁn", "fin"),
            ("_", "n"),
            ("É", "É"),
        ],
    )
    def test_identifiers(self, java: str, name: str) -> None:
        assert identifier(java) == name
        assert name.isidentifier()

    @pytest.mark.parametrize(
        "text", ["plain", 'a"b', "a\\b", "a\nb", "\0", "\u202e", "\ud800", "\U000e0001", "\\n", "😀", "é"]
    )
    def test_literals(self, text: str) -> None:
        written = literal(text)
        assert eval(written) == text
        assert written.isprintable()

    def test_candidates(self) -> None:
        assert class_candidates("com.acme.Outer$Inner") == [
            *("Inner", "Outer_Inner", "acme_Outer_Inner", "com_acme_Outer_Inner")
        ]

    def test_a_name_does_not_depend_on_the_order(self) -> None:
        candidates = {"a": ["X", "a_X"], "b": ["X", "b_X"], "c": ["Y"], "d": ["taken", "d_taken"]}
        expected = {"a": "a_X", "b": "b_X", "c": "Y", "d": "d_taken"}
        assert unique(candidates, {"taken"}) == expected
        assert unique(dict(reversed(candidates.items())), {"taken"}) == expected

    def test_numbers_when_nothing_else_is_left(self) -> None:
        assert unique({1: ["X"], 2: ["X"], 3: ["X"], 4: ["Y"]}, {"Y"}) == {1: "X", 2: "X_2", 3: "X_3", 4: "Y_2"}


@pytest.fixture
def kotlin_classes(tmp_path: Path) -> Path:
    """The directory of the class files of interop/kotlin, as Kotlin's compiler wrote them."""
    target = tmp_path / "kotlin"
    lines = (Path(__file__).parents[2] / "vectors" / "kotlin-classes.jsonl").read_text("utf-8").splitlines()[1:]
    for row in map(json.loads, lines):
        file = target / row["file"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes.fromhex(row["hex"]))
    return target


class TestKotlin:
    def test_an_enum_whose_constants_have_bodies(self, kotlin_classes: Path, generate: Generate) -> None:
        text = generate(kotlin_classes, "com.acme.kt.Lvl", "com.acme.kt.Sign", "--subclasses")
        assert declared(text) == ["com.acme.kt.Lvl", "com.acme.kt.Sign"]
        assert '"HIGH": "com.acme.kt.Lvl$HIGH"' in text
        assert '"MINUS": "com.acme.kt.Sign$MINUS"' in text
        assert '\nclass Lvl(Enum):\n    HIGH = "HIGH"\n' in text

    def test_the_class_of_a_constant(self, kotlin_classes: Path, capsys: pytest.CaptureFixture[str]) -> None:
        error = fails(capsys, USAGE, kotlin_classes, "com.acme.kt.Lvl.HIGH")
        assert error == "com.acme.kt.Lvl$HIGH cannot be declared: it is the class of one constant of an enum"

    def test_all_of_a_package(
        self, kotlin_classes: Path, tmp_path: Path, mypy_strict: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        made = tmp_path / "made.py"
        assert main(["generate-classes", str(kotlin_classes), "com.acme.**", "-o", str(made)]) == 0
        assert "kotlin.UInt, of which com.acme.kt.Account has a field, is in none" in capsys.readouterr().err
        assert "    pair: kotlin.Pair[Geo, Level] | None = None\n" in made.read_text("utf-8")
        assert "com.acme.kt.Event$Never" in facts_in_python(made)
        python(*mypy_strict, made)
        python("-m", "ruff", "format", "--isolated", "--check", made)
