"""The Java in the pages compiles against Redisson, with the imports that stand there or in the one whole program.

The tutorials have pom.xml files of their own, and are walked at night.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.peer import JAVAC, VERSIONS, build

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```java\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)

#: The names that a sample of few lines may use without a declaration.
_GIVEN = {"redisson": "RedissonClient", "config": "Config", "names": "java.util.List<String>"}


def samples() -> dict[str, list[str]]:
    """The blocks of Java, by page."""
    paths = sorted(set(DOCS.rglob("*.md")) - set((DOCS / "tutorials").iterdir()))
    pages = {path.relative_to(DOCS).as_posix(): path.read_text("utf-8") for path in paths}
    return {page: found for page, text in pages.items() if (found := _BLOCK.findall(text))}


def source_of(block: str, name: str, known: list[str]) -> str:
    """A whole source. A sample of few lines becomes a method's body."""
    if re.search(r"^(public )?(final )?(class|record|interface) ", block, re.MULTILINE):
        return block
    imports, body = _IMPORT.findall(block), _IMPORT.sub("", block)
    given = ", ".join(f"{kind} {each}" for each, kind in _GIVEN.items() if f" {each} = " not in body)
    head = "".join(dict.fromkeys([*known, *imports]))
    return f"{head}class {name} {{\n    static void sample({given}) throws Exception {{\n{body}}}\n}}\n"


def test_java_of_the_pages_compiles(tmp_path: Path) -> None:
    found = samples()
    (program,) = found["sharing-with-redisson.md"]
    known = _IMPORT.findall(program)
    sources: list[Path] = []
    for page, blocks in found.items():
        for number, block in enumerate(blocks):
            folder = tmp_path / f"{re.sub('[^a-z]', '_', page)}{number}"
            folder.mkdir()
            text = source_of(block, f"Sample{len(sources)}", known)
            name = re.search(r"^(?:public )?(?:final )?(?:class|record|interface) (\w+)", text, re.MULTILINE)
            assert name
            sources.append(folder / f"{name[1]}.java")
            sources[-1].write_text(text, "utf-8")
    assert len(sources) >= 4
    jars = f"{build(VERSIONS[0]) / 'lib'}{os.sep}*"
    command = [*JAVAC, "-nowarn", "-proc:none", "-d", str(tmp_path), "-cp", jars]
    done = subprocess.run([*command, *map(str, sources)], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr


def test_a_page_with_java_says_how_it_is_built() -> None:
    """It shows a pom.xml, or links to the one of the whole program."""
    for page in samples():
        text = (DOCS / page).read_text("utf-8")
        assert (
            "<artifactId>redisson</artifactId>" in text or "sharing-with-redisson.md#java-on-the-same-queue" in text
        ), page
