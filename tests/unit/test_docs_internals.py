"""The tree in docs/internals.md, the walks of docs/five-calls.md and the words of docs/words.md are true."""

from __future__ import annotations

import ast
import asyncio
import functools
import re
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple, TypeVar

import pytest
import redis

from redisson_dq import aio
from redisson_dq.aio.worker import Succeeded, Worker
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.scripts.script import load, names
from tests.conftest import PATIENCE
from tests.unit.test_imports import imports_of, modules_of

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "redisson_dq"
PAGE = (ROOT / "docs" / "internals.md").read_text("utf-8")
WORDS = (ROOT / "docs" / "words.md").read_text("utf-8")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: The table of each walk.
WALKS = re.findall(
    r"^<!-- walk -->\n\n((?:\|.*\n)+)", (ROOT / "docs" / "five-calls.md").read_text("utf-8"), re.MULTILINE
)
NAMES = ["offer", "take", "receive", "ack", "handling"]
#: The rooms that a walk shows. The others are helpers.
ROOMS = ("_async/", "calls/", "scheduling/", "waiting/", "wire/", "working/")
HELPERS = tuple(f"scheduling/{name}.py" for name in ("clock", "pauses", "tables", "times"))
T = TypeVar("T")


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].partition("\n## ")[0]


class Entered(NamedTuple):
    """A traced call: the functions that it entered, in order, each by its file; and the scripts that Redis ran."""

    functions: list[tuple[str, str]]
    scripts: set[str]

    @property
    def files(self) -> list[str]:
        """Those of the rooms that a walk shows, in order."""
        return list(dict.fromkeys(path for path, _ in self.functions if path.startswith(ROOMS) and path not in HELPERS))


@functools.cache
def functions_of(path: str) -> dict[int, str]:
    """A module's functions by their first lines, those of a class after its name."""
    found = {}
    for node in ast.parse((PACKAGE / path).read_text("utf-8")).body:
        prefix, inner = (f"{node.name}.", node.body) if isinstance(node, ast.ClassDef) else ("", [node])
        for each in inner:
            if isinstance(each, _FUNCTIONS):
                found[min([each.lineno, *(decorator.lineno for decorator in each.decorator_list)])] = prefix + each.name
    return found


def is_beside(task: str) -> bool:
    """Whether a task works beside every call: it moves, listens, renews, or looks at the server once."""
    beside = ("mover", "subscription", "renewal", "watch", "server-checks")
    return task.startswith(tuple(f"redisson_dq-{each}" for each in beside))


class Tracer:
    """Traces calls of one event loop. Its own client of redis-py plays the other processes."""

    def __init__(self, url: str) -> None:
        self.other = redis.Redis.from_url(url)
        self.other.config_set("slowlog-log-slower-than", 0)
        self.other.config_set("slowlog-max-len", 1000)
        self.walks: dict[str, Entered] = {}

    async def walk(self, name: str, call: Awaitable[T], *, alone: bool = True) -> T:
        """Awaits ``call`` and notes its walk. ``alone``: the tasks of receivers are no part of it."""
        entered: dict[tuple[str, str], None] = {}
        own = asyncio.current_task()

        def trace(frame: FrameType, event: str, argument: object) -> None:
            path = Path(frame.f_code.co_filename)
            task = asyncio.current_task()
            if PACKAGE not in path.parents or (
                task is not own if alone else task is None or is_beside(task.get_name())
            ):
                return
            place = path.relative_to(PACKAGE).as_posix()
            function = functions_of(place).get(frame.f_code.co_firstlineno)
            if function is not None:
                entered[place, function] = None

        self.other.slowlog_reset()
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            result = await call
        finally:
            sys.settrace(before)
        sent = {word for row in self.other.slowlog_get(1000) for word in row["command"].split()[1:2]}
        scripts = {script.name for script in map(load, names()) if script.sha.encode() in sent}
        self.walks[name] = Entered(list(entered), scripts)
        return result

    async def until(self, happens: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not happens():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.005)

    def blocked(self) -> int:
        return int(self.other.info("clients")["blocked_clients"])

    async def offers(self, queue: str) -> None:
        """Another process offers a value, when a pop waits for it."""
        await self.until(lambda: self.blocked() == 1)
        self.other.rpush(queue, "order-42")

    async def waits(self, name: str, queue: str, call: Awaitable[T]) -> T:
        """The walk of a call that waits for another process."""
        await self.until(lambda: self.blocked() == 0)
        other = asyncio.create_task(self.offers(queue))
        try:
            return await self.walk(name, call, alone=False)
        finally:
            await other


async def walk_all(url: str) -> dict[str, Entered]:
    """The walks of the page, each of a client that has done it before."""
    tracer = Tracer(url)
    async with aio.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        delayed = client.delayed_queue("orders")
        for _ in range(2):
            await tracer.walk("offer", delayed.offer("order-42", delay=60))
            await tracer.waits("take", "orders", queue.take())
            delivery = await tracer.waits("receive", "orders", queue.receive())
            await tracer.walk("ack", delivery.ack())
        await handle_all(tracer, client)
    tracer.other.close()
    return tracer.walks


async def handle_all(tracer: Tracer, client: aio.Client) -> None:
    worker = Worker(client)
    acked = asyncio.Event()

    @worker.handler("jobs")
    async def handle(value: str) -> None:
        pass

    @worker.on(Succeeded)
    def note(happening: Succeeded) -> None:
        acked.set()

    async def one() -> None:
        await tracer.offers("jobs")
        await acked.wait()
        acked.clear()

    async with worker:
        # The first values find tasks that begin, the others find tasks that wait. Some files are entered now and then.
        for _ in range(8):
            await tracer.walk("handling", one(), alone=False)


@pytest.fixture(scope="module")
def walks() -> dict[str, Entered]:
    with EmbeddedServer() as server:
        return asyncio.run(walk_all(server.url))


@pytest.mark.parametrize(("name", "table"), list(zip(NAMES, WALKS, strict=True)), ids=NAMES)
def test_a_walk_enters_what_the_page_shows(name: str, table: str, walks: dict[str, Entered]) -> None:
    steps = re.findall(r"^\| `([^`]+)` \| (?:`([^`]+)`)? ?\|", table, re.MULTILINE)
    entered = walks[name]
    scripts = {path for path, function in steps if not function}
    assert scripts <= {f"scripts/{script}.lua" for script in entered.scripts}, f"Redis ran {entered.scripts}"
    calls = [step for step in steps if step[1]]
    missing = [step for step in calls if step not in entered.functions]
    assert missing == [], f"not entered; the page may name these:\n{rows(entered)}"
    in_order = sorted(calls, key=entered.functions.index)
    assert calls == in_order, "the order of the steps"
    files = {path for path, _ in steps}
    assert 3 <= len(files) <= 8


def rows(entered: Entered) -> str:
    """Every file with the first of its functions that was entered."""
    first = dict(reversed(entered.functions))
    return "\n".join(f"| `{path}` | `{first[path]}` | |" for path in entered.files)


def rooms() -> list[tuple[str, ...]]:
    """What each line of the tree names, by its path."""
    lines = []
    parents: list[str] = []
    for line in section("The house").split("```")[1].splitlines()[2:]:
        depth = (len(line) - len(line.lstrip())) // 2
        names = line.strip().partition("  ")[0].split()
        lines.append(tuple("".join([*parents[: depth - 1], name]) for name in names))
        parents = [*parents[: depth - 1], *(name for name in names[-1:] if name.endswith("/"))]
    return lines


def test_the_tree_has_every_folder_and_no_other() -> None:
    shown: set[str] = set()
    for path in (path for line in rooms() for path in line):
        assert (PACKAGE / path).is_dir() if path.endswith("/") else (PACKAGE / path).is_file(), path
        assert path not in shown, f"{path} is shown twice"
        shown.add(path)
    folders = {f"{path.parent.relative_to(PACKAGE).as_posix()}/" for path in PACKAGE.rglob("*.py")} - {"./"}
    # The inner folders of codecs, cli and the generated package are not shown.
    inner = ("_sync/", "codecs/", "cli/")
    assert [name for name in sorted(folders - shown) if not name.startswith(inner)] == []


def test_a_module_imports_from_its_own_line_of_the_tree_and_from_those_below() -> None:
    lines = {path: number for number, line in enumerate(rooms()) for path in line}

    def line_of(module: str) -> int:
        """Its folder's, or its own if it is beside folders. An inner folder counts as the one around it."""
        _, *parts = module.split(".")
        place = "/".join(parts[: 2 if parts[:1] == ["_async"] else 1]) or "__init__"
        return lines[f"{place}/" if f"{place}/" in lines else f"{place}.py"]

    modules = {name: path for name, path in modules_of(PACKAGE).items() if not re.search(r"\._(sync|_main__)\b", name)}
    upwards = {
        f"{name} imports {other}"
        for name, path in modules.items()
        for other in imports_of(path.read_text("utf-8"), modules)
        if line_of(other) < line_of(name)
    }
    assert len(modules) > 200
    assert sorted(upwards) == []


def test_rooms_for_new_parts_exist() -> None:
    table = section("The house").rpartition("| a new |")[2]
    rooms = {name for name in re.findall(r"`([\w/.]+)`", table) if name.endswith(("/", ".py"))}
    assert rooms >= {"scheduling/", "calls/", "wire/calls/", "java/", "codecs/", "cli/"}
    assert [room for room in rooms if not (PACKAGE / room).exists()] == []


def test_each_word_has_one_meaning() -> None:
    words = re.findall(r"^\| ([a-z ]+) \| ", WORDS, re.MULTILINE)[1:]
    assert 20 <= len(words) == len(set(words))


#: Rooms of decisions and of what carries them out. Their classes bear words of this project.
OF_DECISIONS = ("scheduling", "waiting", "working", "_async/moving", "_async/worker", "_concurrency")
#: Words that everybody knows, and sums of words that the page explains.
PLAIN = {
    *("channel", "client", "deadline", "event", "handler", "handler pool", "handling table", "hook", "kind", "limit"),
    *("order", "recurrence"),
    *("pause", "server clock", "task", "timer", "worker"),
}


def words_of_modules() -> dict[str, str]:
    """The words of the classes that modules are named after, by module. Of ``layers.py`` with ``Layer`` "layer"."""
    found = {}
    for path in (path for room in OF_DECISIONS for path in sorted((PACKAGE / room).glob("*.py"))):
        classes = (node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.ClassDef))
        names = {node.name.lower().removesuffix("s") for node in classes}
        word = path.stem.replace("_", " ").removesuffix("s")
        if word.replace(" ", "") in names:
            found[path.relative_to(PACKAGE).as_posix()] = word
    return found


def test_a_class_that_a_module_is_named_after_is_explained_among_the_words() -> None:
    rows = {row.removesuffix("s") for row in re.findall(r"^\| ([a-z ]+) \| ", WORDS, re.MULTILINE)}
    words = words_of_modules()
    assert len(words) >= 20
    missing = {module: word for module, word in words.items() if word not in rows | PLAIN}
    assert missing == {}, "give each a row in docs/words.md"
    assert {"hint", "pace", "probe", "intake", "layer"} <= set(words.values())
