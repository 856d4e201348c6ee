"""The page of Redisson's methods is complete and up to date, and its script notices when it is not."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from docs.make_methods import JavaMethod, Ours, complaints, java_methods, our_methods, page, signature
from redisson_dq import embedded, errors, worker

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_page_is_complete_and_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "docs" / "make_methods.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", [redisson_dq, worker, embedded, errors])
def test_everything_that_users_import_is_described(module: types.ModuleType) -> None:
    """Codecs and Java's types have pages of their own."""
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs" / "api").glob("*.md"))
    described = set(re.findall(r"^\.\. auto(?:class|function):: ([\w.]+)", text, re.MULTILINE))
    whole = set(re.findall(r"^\.\. automodule:: ([\w.]+)", text, re.MULTILINE))
    named = {name: getattr(module, name) for name in module.__all__}
    missing = [
        name
        for name, each in named.items()
        if not isinstance(each, types.ModuleType)
        and not {name, f"{module.__name__}.{name}"} & described
        and each.__module__ not in whole
    ]
    assert missing == []


def _public_calls() -> list[tuple[str, Any]]:
    # Names of the package are imported when they are asked for.
    named = [getattr(module, name) for module in (redisson_dq, worker) for name in module.__all__]
    # A request has the name and the meaning of its call.
    classes = [each for each in named if isinstance(each, type) and not each.__name__.endswith("Requests")]
    found = {
        call: (f"{each.__name__}.{name}", call)
        for each in classes
        for name, call in inspect.getmembers(each, inspect.isfunction)
        if not name.startswith("_") and call.__module__.startswith("redisson_dq")
    }
    return list(found.values())


def test_an_editor_shows_a_docstring_as_a_whole() -> None:
    """The first line says what the call does. Longer explanations are in the pages."""
    texts = {name: inspect.getdoc(call) or "" for name, call in _public_calls()}
    assert len(texts) > 150
    assert [name for name, text in texts.items() if not text.partition("\n")[0].strip()] == []
    assert [name for name, text in texts.items() if len(text.split()) > 200] == []


@pytest.mark.parametrize(
    "call",
    [
        *(redisson_dq.DelayedQueue.offer, redisson_dq.DelayedQueue.take_due, redisson_dq.DelayedQueue.offer_recurring),
        *(redisson_dq.BlockingQueue.receive, worker.Worker.handler, redisson_dq.Client.__init__),
    ],
)
def test_each_argument_has_its_line(call: Any) -> None:
    text = inspect.getdoc(redisson_dq.Client if call is redisson_dq.Client.__init__ else call) or ""
    lines = [line.partition(": ")[0] for line in text.splitlines() if line.startswith("- ")]
    described = {name for line in lines for name in re.findall(r"``(\w+)``", line)}
    # These are named in the first lines.
    told = {"self", "value", "queue", "redis"}
    assert described == set(inspect.signature(call).parameters) - told
    assert ">>> " in text or call is redisson_dq.Client.__init__


class Answering:
    """Its methods end with the fields."""

    def clear(self) -> None:
        """Removes everything.

        :Redisson: ``Collection.clear()``
        :Cost: one round trip
        :Guarantee: atomic
        """

    def poll(self) -> None:
        """Takes the head.

        :Redisson: ``RQueue.poll()``,
            ``RQueue.poll(int)``
        :Cost: O(limit); as :meth:`clear`
        :Guarantee: at most
            once | never
        """

    def __len__(self) -> int:
        """How many.

        :Redisson: none
        :Cost: O(1)
        :Guarantee: a moment's truth
        """
        return 0

    def peek(self) -> None:
        """Looks. Leaves out what is the default.

        :Cost: O(1)
        """

    def _internal(self) -> None:
        """Nobody's business."""


LENGTH = Ours("__len__", (), "O(1)", "a moment's truth")
PEEK = Ours("peek", (), "O(1)", "")
CLEAR = Ours("clear", (("Collection", "clear()"),), "one round trip", "atomic")
POLL = Ours("poll", (("RQueue", "poll()"), ("RQueue", "poll(int)")), "O(limit); as `clear`", "at most once \\| never")
JAVA = [
    JavaMethod("RQueue", "clear()", "Collection"),
    JavaMethod("RQueue", "poll()", "Queue"),
    JavaMethod("RQueue", "poll(int)", "RQueue"),
    JavaMethod("RQueue", "stream()", "Collection"),
]


def test_fields_are_read() -> None:
    assert our_methods(Answering) == ([LENGTH, CLEAR, PEEK, POLL], [])


def test_missing_and_vague_fields_are_noticed() -> None:
    class Vague:
        def clear(self) -> None:
            """Removes everything."""

        def poll(self) -> None:
            """Takes the head.

            :Redisson: RQueue.poll()
            :Cost: O(1)
            :Guarantee: at most once
            """

    _, wrong = our_methods(Vague)
    assert wrong == [
        "Vague.clear: no :Cost:",
        "Vague.poll: :Redisson: names ``Interface.method(types)``, or says none",
    ]


def test_types_are_short() -> None:
    poll = ["long", "java.util.concurrent.TimeUnit", "java.lang.String[]"]
    row = {"interface": "RBlockingQueue", "method": "pollFromAny", "parameters": poll, "declaredIn": "RBlockingQueue"}
    assert java_methods(['{"regenerate": "mvn"}', json.dumps(row)]) == [
        JavaMethod("RBlockingQueue", "pollFromAny(long, TimeUnit, String[])", "RBlockingQueue")
    ]


def test_what_was_typed_as_variable_arguments_is_an_array() -> None:
    assert signature("pollFromAny", ["long", " TimeUnit", " String..."]) == "pollFromAny(long, TimeUnit, String[])"


@pytest.mark.parametrize("pattern", ["stream", "stream()", "RQueue.stream", "RQueue.stream()"])
def test_what_is_answered_or_left_out_is_no_complaint(pattern: str) -> None:
    assert complaints(JAVA, {"RQueue": [LENGTH, CLEAR, POLL]}, {pattern: "iterate"}) == []


@pytest.mark.parametrize(
    ("ours", "left_out", "complaint"),
    [
        ([POLL], {"stream": "iterate"}, "clear(): neither answered nor left out (RQueue)"),
        ([CLEAR, POLL], {"stream": "iterate", "poll(int)": "no"}, "poll(int): left out, but here is poll (RQueue)"),
        ([CLEAR, POLL], {"stream": "iterate", "peek": "no"}, "peek: left out, but Redisson has no such method"),
        (
            [CLEAR, POLL, POLL._replace(answers_to=(("RQueue", "poll(long)"),))],
            {"stream": "iterate"},
            "BlockingQueue.poll: Redisson has no RQueue.poll(long)",
        ),
    ],
)
def test_what_does_not_fit_is_a_complaint(ours: list[Ours], left_out: dict[str, str], complaint: str) -> None:
    assert complaints(JAVA, {"RQueue": ours}, left_out) == [complaint]


def test_overloads_share_a_row() -> None:
    lines = page(JAVA, {"RQueue": [LENGTH, CLEAR, POLL]}).partition("## RQueue, ")[2].splitlines()
    assert [line for line in lines if line.startswith(("| `", "- "))] == [
        "| `clear()` | `clear` |",
        "| `poll()`, `poll(int)` | `poll` |",
        "- `stream()`: Python's own `for value in queue` and `list(queue)`.",
    ]
