"""Texts for terminals and shells: no control character gets through, and printed commands work when pasted."""

from __future__ import annotations

import ast
import logging
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import redisson_dq.cli
from redisson_dq._operations.shell import NamedServer, command_line, named_server, safe, shell_word
from redisson_dq.cli.worker.logs import _SafeFormatter

CLI = Path(redisson_dq.cli.__file__).parent
#: Modules that print otherwise: data for programs or files, the output of the demo, and texts that were made safe.
OTHERWISE = {
    "frame/_json.py",
    "frame/_output.py",
    "frame/_consent.py",
    "frame/_stopping.py",
    "partitions.py",
    "exporter.py",
    "generate_classes/_run.py",
    "demo.py",
}

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_bash_reads_the_words_as_they_were(texts: list[str]) -> None:
    line = " ".join(map(shell_word, texts))
    assert all(safe(part) == part for part in line.split("\n"))
    done = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == texts


def test_a_word_that_needs_no_escape_is_quoted_as_ever() -> None:
    for text in ("orders", "it's", "a b", "größe", "{a}"):
        assert shell_word(text) == shlex.quote(text)


@pytest.mark.parametrize(
    ("url", "config", "printed"),
    [
        (None, None, ""),
        ("redis://h:1/2", None, " --url redis://h:1/2"),
        ("redis://user@h:1/2", None, " --url redis://user@h:1/2"),
        ("redis://h/0?socket_timeout=3", None, " --url 'redis://h/0?socket_timeout=3'"),
        (None, "my file.yaml", " --redisson-config 'my file.yaml'"),
    ],
)
def test_a_command_names_the_server(url: str | None, config: str | None, printed: str) -> None:
    with named_server(NamedServer.of(url, config)) as named:
        assert (
            command_line("dead redrive", ["it's"], ["--all"])
            == f"""redisson-dq dead redrive 'it'"'"'s' --all{printed}"""
        )
        assert command_line("move", ["-q"]) == f"redisson-dq move{printed} -- -q"
        assert command_line("acl", ["q"], of_server=False) == "redisson-dq acl q"
        assert not named.left_out
    assert command_line("queues") == "redisson-dq queues"


@pytest.mark.parametrize(
    "url",
    [
        "redis://:secret@h",
        "redis://u:secret@h/0",
        "rediss+sentinel://u:secret@h,g/s",
        "redis://h?password=secret",
        "redis+sentinel://h/s?sentinel_password=secret",
        "unix://u:secret@/tmp/s",
        "redis://u:se/cret@h",
    ],
)
def test_no_command_has_a_password(url: str) -> None:
    with named_server(NamedServer.of(url, None)) as named:
        assert command_line("move", ["q"]) == "redisson-dq move q"
        assert named.left_out


def test_no_command_prints_but_by_the_frame() -> None:
    found = set()
    for path in CLI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "print",
                "click.echo",
                "click.secho",
                "sys.stdout.write",
                "sys.stderr.write",
                "stream.write",
            ):
                found.add(str(path.relative_to(CLI)))
    assert found == OTHERWISE


def test_the_log_of_a_command_shows_escapes() -> None:
    made = _SafeFormatter("%(name)s: %(message)s")
    record = logging.LogRecord("q", logging.INFO, "", 0, "queue %s\nends", ("\x1b[2J",), None)
    assert made.format(record) == "q: queue \\x1b[2J\nends"
