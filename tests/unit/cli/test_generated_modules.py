"""Modules of ``generate-classes`` that are imported and checked: defaults, pydantic, raw types, what is left out."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from redisson_dq.cli import main
from tests.conftest import by_night, environment
from tests.peer import JAVAC

SOURCE = """
package p;
import java.util.*;
import java.util.function.*;

public class All {
    public static class Base {
        public int max; public String name = "b"; public List<String> tags;
        public Base() {}
        public Base(int max) { this.max = max; }
        public Base(Integer max, String name, List<String> tags) { this(max); this.name = name; this.tags = tags; }
    }
    public static class Own extends Base { public int max2 = 3; public Own() { super(7); } }
    public static class Deep extends Own { public long n = 5L; public Deep() { name = "deep"; max2 = 4; } }
    public static class Given extends Base { public Given() { super(8, "x", new ArrayList<>()); } }
    public static class This {
        public int max; public String cur;
        This() { this(3, "EUR"); }
        This(int m, String c) { max = m; cur = c; }
    }
    public static class Odd extends Base { public int max2 = 3; public Odd() { super(new int[] {1, 2}.length); } }
    public static class Branch extends Base {
        public int max2 = 3;
        public Branch() { super(System.nanoTime() > 0 ? 1 : 2); }
    }

    public enum Op implements IntBinaryOperator { ADD; public int applyAsInt(int a, int b) { return a + b; } }
    public enum Un implements ToDoubleFunction<String>, Runnable {
        A;
        public double applyAsDouble(String s) { return 0; }
        public void run() {}
    }
    public static class Holder { public IntBinaryOperator op; public Runnable run; }

    public static class Config {
        public String model_config; public String model_fields; public int model_dump; public String model_validate_x;
        public String model_x; public String copy;
    }
    public record Recorded(String model_config) {}
    public static class D { public int x; public Poly<List<D>> p; public Poly<Map<String, D>> m; }
    public static class E extends Poly<List<E>> { public int x; }
    public static class Poly<T> { public T value; public List<T> all; public D d; public Poly<List<D>> more; }
    public static class Node<T> {
        public T value; public Node<?> next; public Map<String, Node> all; public Node<T> own;
    }
    public static class OfNode extends Node<Long> { public Node<String> text; }
    public static class Left<T> { public T value; public Right<?> right; }
    public static class Right<T> { public T value; public Left<?> left; }
    public static class AnEntry<K> extends Poly<ZRaw> { public K key; }
    public static class Another extends Poly<ZRaw<D>> { public int x; }
    public static class ZRaw<T> { public T value; public AnEntry raw; }
    public static class ZSub extends Poly<ZRaw> { public int x; }

    public static class Tree extends AbstractList<String> {
        public String get(int i) { return ""; }
        public int size() { return 0; }
    }
    public static class Watched extends java.util.Observable { public int x; }
    public static class Oops extends RuntimeException {}
    public interface Face {}
}
"""

Make = Callable[..., str]


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("all")
    (folder / "All.java").write_text(SOURCE, "utf-8")
    subprocess.run([*JAVAC, "-nowarn", "-Xlint:none", "-d", str(folder), str(folder / "All.java")], check=True)
    return folder


def made(classes: Path, target: Path, *options: str) -> str:
    assert main(["generate-classes", str(classes), "p.*", *options, "-o", str(target)]) == 0
    return target.read_text("utf-8")


def run(*arguments: str) -> str:
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


USE = """
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec

value = [
    D(x=1, p=Poly(value=[D(x=2)])), E(x=3, value=[E(x=4)]), ZSub(value=ZRaw(value=1)),
    Config(model_config_="a", model_dump_=4) if hasattr(Config(), "model_config_") else Config(model_config="a"),
]
for codec in Kryo5Codec(), JsonJacksonCodec():
    assert codec.decode(codec.encode(value)) == value
assert b'"model_config":"a"' in JsonJacksonCodec().encode(value)
"""


@pytest.mark.parametrize(
    "options", [[], by_night(["--dataclasses"]), by_night(["--pydantic"]), ["--pydantic", "--snake-case"]], ids=" ".join
)
def test_a_module_is_imported_used_and_typed(
    classes: Path, tmp_path: Path, mypy_strict: list[str], options: list[str]
) -> None:
    target = tmp_path / "made.py"
    text = made(classes, target, *options)
    run("-m", "ruff", "format", "--isolated", "--check", str(target))
    run(*mypy_strict, str(target))
    target.write_text(text + USE, "utf-8")
    run(str(target))


def test_defaults_that_other_constructors_give(classes: Path, tmp_path: Path) -> None:
    text = made(classes, tmp_path / "made.py")

    def fields(name: str) -> list[str]:
        body = text.split(f"\nclass {name}")[1].split(":\n", 1)[1].split("\n\n")[0]
        return [re.sub(r" +", " ", line).strip() for line in body.splitlines()]

    assert fields("Base") == [
        "max: int = 0",
        'name: str | None = "b"',
        "tags: list[str] | None = None",
    ]
    assert fields("Own(Base)") == ["max2: int = 3", "max: int = 7"]
    assert fields("Deep(Own)") == ["n: java.long = 5", 'name: str | None = "deep"', "max2: int = 4"]
    assert fields("Given(Base)") == [
        "max: int = 8",
        'name: str | None = "x"',
        "tags: list[str] | None = attrs.field(factory=list)",
    ]
    assert fields("This") == ["max: int = 3", 'cur: str | None = "EUR"']
    assert fields("Odd(Base)") == ["max2: int = 3"]
    assert fields("Branch(Base)") == ["max2: int = 0"]


def test_a_field_takes_no_enum_that_is_none_of_its_type(classes: Path, tmp_path: Path) -> None:
    target = tmp_path / "made.py"
    text = made(classes, target)
    assert '@java_class("p.All$Op", implements=["java.util.function.IntBinaryOperator"])' in text
    check = """
import pytest
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec
from redisson_dq.errors import EncodeError

for codec in Kryo5Codec(), JsonJacksonCodec():
    value = Holder(op=Op.ADD, run=Un.A)
    assert codec.decode(codec.encode(value)) == value
    for wrong in Holder(op=Un.A), Holder(run=Op.ADD):
        with pytest.raises(EncodeError, match="cannot be a java"):
            codec.encode(wrong)
"""
    target.write_text(text + check, "utf-8")
    run(str(target))


def test_what_a_pattern_matches_and_is_not_declared_is_named(
    classes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = made(classes, tmp_path / "made.py")
    warnings = capsys.readouterr().err.splitlines()
    assert [line.split(": it ")[0] for line in warnings] == [
        "redisson-dq: warning: p.All$Tree is not declared",
        "redisson-dq: warning: p.All$Watched is not declared",
    ]
    assert (
        "# Not declared, although they match:\n"
        "# interfaces, whose values are of other classes: p.All$Face.\n"
        "# exceptions, which come as java.Throwable: p.All$Oops.\n"
    ) in text
