"""A program imports what it uses: ``import redisson_dq`` brings neither codecs nor asyncio's flavour along."""

from __future__ import annotations

import ast
import functools
import importlib
import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
import redisson_dq.codecs
import redisson_dq.testing
from tests.conftest import environment

PACKAGE = Path(redisson_dq.__file__).parent


def loaded_by(code: str) -> set[str]:
    """The modules that a new process has after these lines."""
    lines = f"import json, sys\n{code}\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", lines], env=environment(), capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def below(modules: set[str], *packages: str) -> list[str]:
    return sorted(name for name in modules if name in packages or name.startswith(tuple(f"{one}." for one in packages)))


def test_the_package_brings_no_codec_no_java_type_no_asyncio_flavour_and_no_scheduler() -> None:
    modules = loaded_by("import redisson_dq\nredisson_dq.connect, redisson_dq.Client, redisson_dq.BlockingQueue")
    assert "redisson_dq._sync.client" in modules
    for absent in (
        "redisson_dq._async",
        "redisson_dq.aio",
        "redisson_dq.cli",
        "redisson_dq.embedded",
        "redisson_dq.java",
        "redisson_dq.worker",
        "redisson_dq._sync.queues.partitioned_blocking",
        "redisson_dq._sync.queues.partitioned_delayed",
        "redisson_dq._sync.receiving.round_robin",
        "redisson_dq._sync.worker",
        "redisson_dq.scheduling.recurrence",
        "redisson_dq.calls.partitioned",
        "apscheduler",
        "decimal",
        "zoneinfo",
    ):
        assert below(modules, absent) == []
    assert below(modules, "redisson_dq.codecs") == [
        "redisson_dq.codecs",
        "redisson_dq.codecs.base",
        "redisson_dq.codecs.marks",
    ]


def test_what_is_not_asked_for_is_not_there() -> None:
    assert below(loaded_by("import redisson_dq"), "attrs", "asyncio", "redis", "redisson_dq._sync") == []
    assert below(loaded_by("import redisson_dq.java"), "asyncio", "redis", "redisson_dq._sync") == []
    assert below(loaded_by("import redisson_dq.aio"), "redisson_dq._sync") == []
    # pytest imports it in the runs of every project, whether that uses this library or not.
    plugin = loaded_by("import pytest, redisson_dq.testing._plugin")
    assert below(plugin, "asyncio", "redis", "redisson_dq.errors", "redisson_dq.wire") == []


def test_a_codec_brings_no_other_one() -> None:
    modules = loaded_by("import redisson_dq\nredisson_dq.codecs.StringCodec()")
    assert below(modules, "redisson_dq.codecs.simple")
    others = [f"redisson_dq.codecs.{name}" for name in ("jackson", "kryo5", "protostuff", "serialization")]
    assert below(modules, *others) == []


@pytest.mark.parametrize("name", ["aio", "codecs", "java"])
def test_a_part_is_there_without_an_import_of_its_own(name: str) -> None:
    assert f"redisson_dq.{name}" in loaded_by(f"import redisson_dq\nredisson_dq.{name}.__all__")
    assert name in dir(redisson_dq)


@pytest.mark.parametrize("package", [redisson_dq, redisson_dq.codecs, redisson_dq.testing])
def test_every_public_name_can_be_had(package: types.ModuleType) -> None:
    shown = {name for name in dir(package) if not name.startswith("__")}
    assert set(package.__all__) <= shown <= {*package.__all__, "java"}
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'Kryo6Codec'"):
        _ = package.Kryo6Codec


def test_a_star_brings_all_of_them() -> None:
    code = (
        "from redisson_dq.codecs import *\nfrom redisson_dq import *\nKryo5Codec, connect, aio.connect, codecs.LZ4Codec"
    )
    assert "redisson_dq.codecs.kryo5" in loaded_by(code)


def test_a_name_is_looked_up_once() -> None:
    first = redisson_dq.codecs.LongCodec
    assert vars(redisson_dq.codecs)["LongCodec"] is first


@pytest.mark.parametrize("package", [redisson_dq, redisson_dq.codecs, redisson_dq.testing])
def test_what_checkers_see_is_what_there_is(package: types.ModuleType) -> None:
    """A package lists its names twice: as imports for checkers, and by the modules that define them."""
    tree = ast.parse(Path(str(package.__file__)).read_text("utf-8"))
    homes = ast.literal_eval(next(node for node in ast.walk(tree) if isinstance(node, ast.Dict)))
    given = {name: f"{package.__name__}.{module}" for module, names in homes.items() for name in names}
    given |= {module: package.__name__ for module, names in homes.items() if not names and module in package.__all__}
    seen = {
        alias.name: str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(package.__name__)
        for alias in node.names
        if alias.name not in ("guard_loggers", "lazily", "__version__")
    }
    assert given == seen
    assert sorted(seen) == sorted(package.__all__)


@functools.cache
def modules_of_others() -> int:
    """How many modules a command has in any case."""
    return len(loaded_by("import redis, hiredis, click, attrs"))


@pytest.mark.parametrize("words", ["queues", "stats q", "watch q --count 1", "move q", "pause q --yes --no-undo"])
def test_a_command_brings_no_codec_that_it_has_no_use_for(words: str, servers: Any) -> None:
    """Its first answer would wait for them. asyncio comes with redis-py, whose package imports it."""
    arguments = [*words.split(), "--url", servers("redis").url]
    lines = "import contextlib, io\nfrom redisson_dq.cli import main\n"
    modules = loaded_by(f"{lines}with contextlib.redirect_stdout(io.StringIO()): assert main({arguments}) == 0")
    others = ("apscheduler", "prometheus_client", "rich", "decimal", "zoneinfo")
    rooms = [f"redisson_dq.{name}" for name in ("aio", "_async", "java", "worker", "web", "migrating", "doctor")]
    assert below(modules, *others, *rooms) == []
    assert set(below(modules, "redisson_dq.codecs")) <= {
        "redisson_dq.codecs",
        "redisson_dq.codecs.base",
        "redisson_dq.codecs.marks",
    }
    assert len(modules) < modules_of_others() + 260


FAMILIES = ("jackson", "kryo5", "serialization", "protostuff", "protobuf", "composite", "compression", "simple")


@pytest.mark.parametrize(
    ("words", "value", "needed"),
    [
        ("list looked --state ready", b"", set()),
        ("list looked --state ready", b"order", {"simple"}),
        ("show looked ready@0", b"order", {"simple"}),
        ("list looked --state ready", b'{"@class":"com.acme.Order","id":1}', {"jackson"}),
        # Kryo's bytes may hold an object that Java's serialization wrote.
        ("show looked ready@0", b"\x03orde\xf2", {"kryo5", "serialization"}),
        ("doctor looked", b'{"@class":"com.acme.Order","id":1}', {"jackson"}),
    ],
)
def test_only_the_codec_that_the_bytes_need_is_imported(words: str, value: bytes, needed: set[str], url: str) -> None:
    """Types of Java come with the codec that makes them."""
    if value:
        with redis.Redis.from_url(url) as admin:
            admin.rpush("looked", value)
    arguments = [*words.split(), "--url", url]
    quiet = (
        "import contextlib, io, sys\nfrom redisson_dq.cli import main\nwith contextlib.redirect_stdout(io.StringIO())"
    )
    modules = loaded_by(f"{quiet}, contextlib.redirect_stderr(sys.stdout): main({arguments})")
    found = {name for name in FAMILIES if below(modules, f"redisson_dq.codecs.{name}")}
    assert found == needed
    assert bool(below(modules, "redisson_dq.java")) is bool(found - {"simple"})


def test_no_name_of_a_lazy_package_is_a_module_of_it() -> None:
    """Importing the module would put it in the place of the name."""
    found = []
    for path in PACKAGE.rglob("__init__.py"):
        if "lazily(" in path.read_text("utf-8"):
            name = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
            package, modules = importlib.import_module(name), {each.stem for each in path.parent.iterdir()}
            shared = set(package.__all__) & modules
            found += [f"{name}.{each}" for each in shared if not isinstance(getattr(package, each), types.ModuleType)]
    assert found == []


def test_a_first_use_at_the_end_of_the_interpreter_says_so() -> None:
    code = "import atexit, redisson_dq\natexit.register(lambda: redisson_dq.connect('redis://127.0.0.1:1'))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    # Python 3.12 and newer have their pools by then, and refuse a thread later.
    assert "the interpreter is shutting down" in told or "cannot connect" in told, told
