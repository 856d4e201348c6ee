"""The plugin for pytest: a server, clients, a clock and a fresh queue for each test. No import is needed.

pytest loads this module in every run, so the library itself is imported by the fixtures.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from redisson_dq.testing._clock import TestClock
    from redisson_dq.testing._server import ServerOfTests
    from redisson_dq.testing.faults import Faults

__all__ = [
    "pytest_addoption",
    "pytest_configure",
    "pytest_report_header",
    "redisson_aio_client",
    "redisson_client",
    "redisson_clock",
    "redisson_faults",
    "redisson_queue",
    "redisson_server",
    "redisson_url",
]

_VARIABLE = "REDISSON_DQ_TEST_URL"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("redisson-dq")
    group.addoption(
        "--redisson-url",
        # An empty value counts as not set, as CI systems write it.
        default=os.environ.get(_VARIABLE) or None,
        help=f"a Redis only for tests, such as redis://localhost:6379/0 (default: ${_VARIABLE}, or one is started)",
    )
    group.addoption(
        "--redisson-leaks",
        choices=["error", "off"],
        default="error",
        help="whether leases in hand, undecodable values, open clients and warnings of the log fail their test",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", 'redisson_leaks("off"): lets a test leave things behind in its queues')


def _number_of_worker() -> int:
    """The number of this process among those of pytest-xdist."""
    found = re.fullmatch(r"gw(\d+)", os.environ.get("PYTEST_XDIST_WORKER", ""))
    return int(found[1]) if found else 0


@pytest.fixture(scope="session")
def redisson_server(request: pytest.FixtureRequest) -> Iterator[ServerOfTests]:
    """A Redis for the run: that of ``--redisson-url``, or one that is started, and ends with this process.

    ``redisson_server.url`` has a database for each process of pytest-xdist.
    """
    from redisson_dq.testing._server import server_of_tests

    with server_of_tests(request.config.getoption("--redisson-url"), _number_of_worker()) as server:
        yield server


@pytest.fixture(scope="session")
def _redisson_server_with_faults() -> Iterator[ServerOfTests]:
    from redisson_dq.testing._server import server_of_tests

    with server_of_tests() as server:
        yield server


@pytest.fixture
def _redisson_place(request: pytest.FixtureRequest) -> Any:
    """The server of this test. A test with faults has its own server, which no other process uses."""
    has_faults = "redisson_faults" in request.fixturenames
    return request.getfixturevalue("_redisson_server_with_faults" if has_faults else "redisson_server")


@pytest.fixture
def _redisson_database(_redisson_place: ServerOfTests, request: pytest.FixtureRequest) -> Iterator[None]:
    """Empties the database after each test, and fails a test that has leaked something."""
    from redisson_dq.testing._leaks import LeakError, leak_free

    mark = request.node.get_closest_marker("redisson_leaks")
    wanted = mark.args[0] if mark is not None else request.config.getoption("--redisson-leaks")
    told = ""
    try:
        # A test that requests the log checks it itself, and faults cause warnings.
        log = not {"caplog", "redisson_faults"}.intersection(request.fixturenames)
        with leak_free(_redisson_place, log=log):
            yield
    except LeakError as error:
        told = str(error)
    if told and wanted == "error":
        pytest.fail(told, pytrace=False)


@pytest.fixture
def redisson_faults(_redisson_place: ServerOfTests, _redisson_database: None) -> Iterator[Faults]:
    """Faults that the test makes. The test has its own server, and the faults affect all its clients."""
    from redisson_dq.testing.faults import Faults

    with Faults(_redisson_place) as faults:
        yield faults


@pytest.fixture
def redisson_clock(_redisson_place: ServerOfTests, _redisson_database: None) -> Iterator[TestClock]:
    """The time of the test, which passes when the test says so. All clients of the test follow it."""
    from redisson_dq.testing._clock import TestClock

    with TestClock(_redisson_place.url) as clock:
        yield clock


@pytest.fixture
def redisson_url(_redisson_place: ServerOfTests, _redisson_database: None, request: pytest.FixtureRequest) -> str:
    """The URL for clients that the test creates itself. They follow its clock and are affected by its faults."""
    # A client follows the clock that runs when the client is made.
    if "redisson_clock" in request.fixturenames:
        request.getfixturevalue("redisson_clock")
    if "redisson_faults" in request.fixturenames:
        faults: Faults = request.getfixturevalue("redisson_faults")
        return faults.url
    return _redisson_place.url


@pytest.fixture
def redisson_client(redisson_url: str) -> Iterator[Any]:
    """A client for threads, with the codec of Redisson."""
    import redisson_dq

    with redisson_dq.connect(redisson_url) as client:
        yield client


@pytest.fixture
def redisson_aio_client(redisson_url: str) -> Any:
    """A client for asyncio. The test enters it in its own loop: ``async with redisson_aio_client as client:``."""
    import redisson_dq.aio

    return redisson_dq.aio.connect(redisson_url)


@pytest.fixture
def redisson_queue(_redisson_database: None) -> str:
    """A new queue name."""
    return f"test-{secrets.token_hex(4)}"


@pytest.hookimpl(tryfirst=True)
def pytest_report_header(config: pytest.Config) -> list[str]:
    with contextlib.suppress(ValueError):
        url = config.getoption("--redisson-url")
        # A password may be before the host, or among the options.
        shown = re.sub("//.*@", "//***@", url or "").partition("?")[0]
        return [f"redisson-dq: tests use {shown}"] if url else []
    return []
