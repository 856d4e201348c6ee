"""Real servers for every test, both flavours for most. A missing server or JVM fails the run."""

from __future__ import annotations

import functools
import gc
import itertools
import os
import signal
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Set
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import redis
import redis.utils

from redisson_dq.embedded import EmbeddedServer, ServerProgram, find_server
from tests.flavours import AsyncioFlavour, Flavour
from tests.peer import VERSIONS, JavaPeer

# For searches without their own numbers: pytest --hypothesis-profile=nightly. No search depends on timing, because the
# machine may be busy.
_UNTIMED: dict[str, Any] = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("nightly", max_examples=3000, **_UNTIMED)
# A machine of states that fails would be shortened for five minutes. The ordinary run shows the failure at once, with
# what repeats it; --hypothesis-profile=nightly on that test shortens it.
_AT_ONCE = [phase for phase in hypothesis.Phase if phase not in (hypothesis.Phase.shrink, hypothesis.Phase.explain)]
hypothesis.settings.register_profile("ordinary", phases=_AT_ONCE, print_blob=True, **_UNTIMED)
hypothesis.settings.load_profile("ordinary")

# redis-py looks its own version up in its metadata for each connection, which takes longer than to connect.
redis.utils.get_lib_version = functools.cache(redis.utils.get_lib_version)

# A forked process that a test left behind would block the end of the run, because it holds its parent's pipes.
os.register_at_fork(after_in_child=lambda: signal.alarm(240))

# Hypothesis and the JVM are sometimes slow on a busy machine. An event that has not happened within this time never
# will.
PATIENCE = 30.0

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background processes with Ctrl-C ignored, and the processes of the tests would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def wheel_program() -> ServerProgram:
    """The server of the extra ``embedded``, whatever else is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "")
        patch.delenv("REDISSON_DQ_SERVER", raising=False)
        return find_server()


#: Else a master waits 5 s for more replicas before it sends its data to the first one.
REPLICATES_AT_ONCE = {"repl-diskless-sync-delay": "0"}

PROGRAMS: dict[str, Callable[[], ServerProgram]] = {
    "redis": lambda: find_server("redis-server"),
    "valkey": wheel_program,
}


def _version(*command: str | Path) -> str:
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return (run.stdout or run.stderr).splitlines()[0]


#: The program that a fixture needs, and the line that reports its version.
_NEEDS: dict[str, Callable[[], str]] = {
    "servers": lambda: "; ".join(f"{name}: {_version(find().path, '--version')}" for name, find in PROGRAMS.items()),
    "peers": lambda: f"java: {_version('java', '-version')}; redisson: {', '.join(VERSIONS)}",
}


def pytest_report_header() -> str:
    return f"redis-py {redis.__version__}"


# A run of one file finds out versions only of what its tests need.
def pytest_report_collectionfinish(items: list[pytest.Item]) -> list[str]:
    wanted = {name for item in items for name in getattr(item, "fixturenames", ())}
    return [line() for name, line in _NEEDS.items() if name in wanted]


# Under nohup SIGHUP is ignored, and the commands that tests start would inherit that.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


#: Tests that mostly wait, the longest files first.
_WAITING = ("faults", "interop", "integration")
#: This share of the other files comes after those that wait: short files, so that no process ends with a long one.
_AT_THE_END = 0.25


#: What takes turns by day, and how a case names its own.
_TURNS: dict[str, Callable[[Any], str]] = {
    "flavour": lambda value: value if value in ("sync", "asyncio") else "",
    "server": lambda value: value if value in ("redis", "valkey") else "",
    "naming": lambda value: getattr(value, "id", ""),
}

#: The flavour, the server and the naming of a case. Each is empty if it has none.
_Turn = tuple[str, ...]


def by_day(number: int, turns: Set[_Turn]) -> _Turn:
    """The flavour, server and naming that a case runs with by day. The cases of a file take turns by ``number``."""
    return sorted(turns)[number % len(turns)]


_CASES = pytest.StashKey[int]()


def by_night_alone(metafunc: pytest.Metafunc) -> list[Any]:
    """The parameters of a test whose flavour, server or naming is not the one of their case by day."""
    cases: dict[Any, dict[_Turn, Any]] = {}
    for call in metafunc._calls:
        turn = tuple(named(call.params[name]) if name in call.params else "" for name, named in _TURNS.items())
        if any(turn) and all(mark.name != "nightly" for mark in call.marks):
            own = dict(zip(_TURNS, turn, strict=True))
            # By identity: each turn has the same objects.
            case = tuple((name, id(value)) for name, value in sorted(call.params.items()) if not own.get(name))
            cases.setdefault(case, {})[turn] = call
    file = metafunc.definition.getparent(pytest.Module)
    assert file is not None
    # Files of one or two cases begin with different turns.
    first = file.stash.setdefault(_CASES, zlib.crc32(file.path.name.encode()))
    file.stash[_CASES] += len(cases)
    found = []
    for number, turns in enumerate(cases.values(), start=first):
        today = by_day(number, set(turns))
        found += [call for turn, call in turns.items() if turn != today]
    return found


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, Any, Any]:
    """Marks what is for the night. By day no test is made of it, which takes as long as the rest of the collection."""
    result = yield
    if not metafunc.definition.get_closest_marker("nightly"):
        for call in by_night_alone(metafunc):
            call.marks.append(pytest.mark.nightly.mark)
    if metafunc.config.option.markexpr == "not nightly":
        today = [call for call in metafunc._calls if all(mark.name != "nightly" for mark in call.marks)]
        metafunc._calls = today or metafunc._calls[:1]
    return result


def places(files: list[Path]) -> dict[Path, float]:
    """An order that mixes waiting files with computing files, so that a run keeps every core busy."""
    waiting = [file for folder in _WAITING for file in files if folder in file.parts[-3:]]
    computing = [file for file in files if file not in waiting]
    placed = {file: number / len(waiting) for number, file in enumerate(waiting)}
    return placed | {file: number / len(computing) / (1 - _AT_THE_END) for number, file in enumerate(computing)}


# This runs before pytest selects tests by their marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    placed = places(list(dict.fromkeys(item.path for item in items)))
    items.sort(key=lambda item: placed[item.path])


# Collected tests are not garbage, and scanning them repeatedly takes a tenth of the collection.
@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    # The collected tests stay for the whole run. A test that collects garbage need not look through them.
    gc.collect()
    gc.freeze()
    # Tests that decode, parse or walk make so many objects that looking for cycles takes a third of their time.
    gc.set_threshold(20_000)


# pytest-timeout removes its alarm when a test has failed, for a debugger. The teardown of such a test may hang too.
_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> Generator[None, Any, Any]:
    node.stash[_FAILED] = not node.config.getoption("usepdb")
    try:
        return (yield)
    finally:
        del node.stash[_FAILED]


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> bool | None:
    return item.stash.get(_FAILED, False) or None


@pytest.fixture(scope="session")
def servers() -> Iterator[Callable[[str], EmbeddedServer]]:
    """Starts each kind of server once a run, when the first test wants it."""
    with ExitStack() as stack:
        running: dict[str, EmbeddedServer] = {}

        def start(kind: str) -> EmbeddedServer:
            if kind not in running:
                made = EmbeddedServer(program=PROGRAMS[kind](), config=REPLICATES_AT_ONCE)
                running[kind] = stack.enter_context(made)
            return running[kind]

        yield start


def emptied(server: EmbeddedServer) -> EmbeddedServer:
    """The same server for another test, without data and without connections."""
    with redis.Redis.from_url(server.url) as admin, admin.pipeline(transaction=False) as pipeline:
        # A test that interrupts its client leaves connections behind until Python frees them.
        for kind in ("normal", "pubsub"):
            pipeline.client_kill_filter(_type=kind, skipme=True)
        pipeline.flushall()
        pipeline.config_resetstat()
        pipeline.execute()
    return server


@pytest.fixture(params=["redis", "valkey"])
def server(request: pytest.FixtureRequest, servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    """An empty Redis, then an empty Valkey, shared by the run. Only the test uses its memory and its connections."""
    return emptied(servers(request.param))


@pytest.fixture
def own_server(tmp_path: Any) -> Iterator[EmbeddedServer]:
    """A Redis that the test may restart or kill; it appends to a file and syncs it at every write."""
    with EmbeddedServer(program=PROGRAMS["redis"](), appendonly=True, data_dir=tmp_path / "data") as server:
        with redis.Redis.from_url(server.url) as admin:
            admin.config_set("appendfsync", "always")
        yield server


@pytest.fixture
def url(server: EmbeddedServer) -> str:
    return server.url


@pytest.fixture
def admin(server: EmbeddedServer) -> Iterator[redis.Redis]:
    """A plain redis-py client to inspect the server."""
    with redis.Redis.from_url(server.url) as client:
        yield client


@pytest.fixture(params=["sync", "asyncio"])
def flavour(request: pytest.FixtureRequest) -> Iterator[Flavour]:
    made = Flavour() if request.param == "sync" else AsyncioFlavour()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _no_thread_left_behind() -> Iterator[None]:
    """Every test closes its clients, and a closed client has no thread."""
    # The leftovers of a failed test are not reported for the next ones.
    before = set(threading.enumerate())
    yield
    ours = [each for each in threading.enumerate() if each.name.startswith("redisson_dq-") and each not in before]
    for thread in ours:
        thread.join(PATIENCE)
    assert not [thread for thread in ours if thread.is_alive()]


@pytest.fixture(scope="session")
def peers() -> Iterator[Callable[[str], JavaPeer]]:
    """Starts a JVM for each Redisson version once a run. Clients inside it are opened per test."""
    with ExitStack() as stack:
        running: dict[str, JavaPeer] = {}

        def start(version: str) -> JavaPeer:
            if version not in running:
                running[version] = stack.enter_context(JavaPeer(version))
            return running[version]

        yield start


def by_night(value: Any) -> Any:
    """Marks a parameter's value that differs too little from the others to run each time. tests/nightly.sh runs it."""
    return pytest.param(value, marks=pytest.mark.nightly)


def thinned(*lists: Iterable[Any], of: int) -> list[Any]:
    """All combinations of these values for ``parametrize``. By day, only one of N combinations runs."""
    counted = itertools.product(*(enumerate(values) for values in lists))
    return [
        pytest.param(
            *(value for _, value in each), marks=pytest.mark.nightly if sum(place for place, _ in each) % of else ()
        )
        for each in counted
    ]


def as_many(by_day: int, by_night: int) -> int:
    """The number or the size of a search's examples: the second one in the longer searches of tests/nightly.sh."""
    return by_night if hypothesis.settings.get_current_profile_name() == "nightly" else by_day


#: For tests that take long in both flavours: one flavour by day.
ONE_FLAVOUR_BY_DAY = pytest.mark.parametrize("flavour", ["sync", by_night("asyncio")], indirect=True)


def moving(handle: Any) -> Any:
    """The handle, whose client moves the queue's due items from now on."""
    handle.start_moving()
    return handle


def eventually(
    condition: Callable[[], Any], *, within: float = PATIENCE, told: Callable[[], object] | None = None
) -> Any:
    """Waits for an event and returns the condition's result. Fails if the event does not come in time.

    ``told`` returns the actual state for the message.
    """
    began = time.monotonic()
    while True:
        result = condition()
        if result:
            return result
        waited = time.monotonic() - began
        assert waited < within, f"the event did not come{f': {told()}' if told else ''}"
        # Whoever waits longer looks less often, and leaves the cores to the tests that compute.
        time.sleep(min(0.005 + waited / 20, 0.03))


def environment() -> dict[str, str]:
    """The environment for a Python process that imports this library, without what ``tests/lacking`` stands for."""
    tests = os.path.dirname(os.path.abspath(__file__))
    return {**os.environ, "PYTHONPATH": os.pathsep.join((os.path.dirname(tests), os.path.join(tests, "lacking")))}
