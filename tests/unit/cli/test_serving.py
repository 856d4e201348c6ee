"""The port of a command, as all kinds of clients meet it."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus
from importlib import import_module

import click
import pytest

from redisson_dq.cli import serving
from redisson_dq.cli._main import COMMANDS
from redisson_dq.cli.serving import HttpAnswer, Port
from redisson_dq.errors import RedissonDQError

PATIENCE = 30.0


async def well(headers: Mapping[str, str]) -> HttpAnswer:
    return HttpAnswer(HTTPStatus.OK, b'{"well": true}\n')


async def page(headers: Mapping[str, str]) -> HttpAnswer:
    return HttpAnswer(HTTPStatus.OK, b"<p>", "text/html; charset=utf-8")


async def fails(headers: Mapping[str, str]) -> HttpAnswer:
    raise KeyError("defect")


@pytest.fixture
def port() -> Iterator[int]:
    made = Port("test", "127.0.0.1", 0, {"/well": well, "/page": page, "/fails": fails})
    yield made.number
    made.close()


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as made:
        yield made


def rest(connection: socket.socket) -> bytes:
    """All that comes until the port closes the connection."""
    data = b""
    while more := connection.recv(4096):
        data += more
    return data


def said(port: int, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the answer."""
    with connected(port) as connection:
        connection.sendall(request)
        return parsed(rest(connection))


def parsed(answer: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    line, *headers = head.decode().split("\r\n")
    return int(line.split()[1]), dict(each.split(": ", 1) for each in headers), body


GET = b"GET /well HTTP/1.1\r\nHost: localhost\r\n\r\n"


class TestRequests:
    @pytest.mark.parametrize(
        "request_bytes",
        [
            GET,
            b"GET /well HTTP/1.0\r\n\r\n",
            b"GET /well?now=1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET http://127.0.0.1:1/well HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /well HTTP/1.1\nHost: localhost\n\n",
            b"\r\n\r\n" + GET,
            b"GET /well HTTP/1.1\r\nX: " + b"x" * (serving.LONGEST_HEAD - 100) + b"\r\n\r\n",
        ],
        ids=["1.1", "1.0", "query", "whole URL", "bare line ends", "empty lines first", "long"],
    )
    def test_answered(self, port: int, request_bytes: bytes) -> None:
        status, headers, body = said(port, request_bytes)
        assert (status, body) == (200, b'{"well": true}\n')
        assert headers["Content-Type"] == "application/json"
        assert headers["Content-Length"] == str(len(body))
        assert headers["Connection"] == "close"

    def test_another_type(self, port: int) -> None:
        status, headers, body = said(port, b"GET /page HTTP/1.1\r\n\r\n")
        assert (status, headers["Content-Type"], body) == (200, "text/html; charset=utf-8", b"<p>")

    def test_head_has_no_body(self, port: int) -> None:
        status, headers, body = said(port, b"HEAD /well HTTP/1.1\r\n\r\n")
        assert (status, headers["Content-Length"], body) == (200, "15", b"")

    @pytest.mark.parametrize(
        ("request_bytes", "status", "text"),
        [
            (b"GET / HTTP/1.1\r\n\r\n", 404, "there are /well and /page and /fails"),
            (b"GET /well/ HTTP/1.1\r\n\r\n", 404, "there are"),
            (b"GET http://[/well HTTP/1.1\r\n\r\n", 404, "there are"),
            (b"POST /well HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 405, "GET and HEAD"),
            (b"GET /well HTTP/2.0\r\n\r\n", 400, "not a request"),
            (b"GET /well\r\n\r\n", 400, "not a request"),
            (b"\x16\x03\x01\x02\x00\xff\r\n\r\n", 400, "not a request"),
            (b"GET /" + b"x" * serving.LONGEST_HEAD + b" HTTP/1.1\r\n\r\n", 431, "8192 bytes"),
            (b"GET /well HTTP/1.1\r\n" + b"A: b\r\n" * 5000, 431, "8192 bytes"),
            (b"GET /fails HTTP/1.1\r\n\r\n", 500, "see the log"),
        ],
    )
    def test_errors(self, port: int, request_bytes: bytes, status: int, text: str) -> None:
        found, headers, body = said(port, request_bytes)
        assert found == status
        assert text in json.loads(body)["error"]
        assert headers.get("Allow") == ("GET, HEAD" if status == 405 else None)

    def test_a_request_in_pieces(self, port: int) -> None:
        with connected(port) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in GET:
                connection.send(bytes([byte]))
            assert parsed(rest(connection))[0] == 200

    def test_of_requests_in_one_go_the_first_is_answered(self, port: int) -> None:
        """The answer says that the connection is closed, so a client sends the others again."""
        with connected(port) as connection:
            connection.sendall(GET * 20)
            assert rest(connection).count(b"HTTP/1.1 200") == 1

    def test_one_that_sends_no_more_is_answered(self, port: int) -> None:
        with connected(port) as connection:
            connection.sendall(GET)
            connection.shutdown(socket.SHUT_WR)
            assert parsed(rest(connection))[0] == 200

    def test_one_that_leaves_without_a_word(self, port: int) -> None:
        for _ in range(3):
            with connected(port) as connection:
                connection.shutdown(socket.SHUT_WR)
                assert rest(connection) == b""
        assert said(port, GET)[0] == 200


class TestHolding:
    def test_a_connection_has_its_time_in_all(self, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """A byte now and then does not prolong it."""
        monkeypatch.setattr(serving, "SECONDS", 0.5)
        ended = threading.Event()
        with connected(port) as connection:

            def sends() -> None:
                while not ended.wait(0.05):
                    try:
                        connection.sendall(b"G")
                    except OSError:
                        return

            thread = threading.Thread(target=sends)
            thread.start()
            try:
                # A byte that came after the end resets the connection.
                with suppress(ConnectionError):
                    assert connection.recv(1) == b""
            finally:
                ended.set()
                thread.join()

    @pytest.mark.parametrize("begun", [b"", b"GET /well HT", GET])
    def test_one_that_stays_is_closed(self, port: int, monkeypatch: pytest.MonkeyPatch, begun: bytes) -> None:
        monkeypatch.setattr(serving, "SECONDS", 0.2)
        with connected(port) as connection:
            connection.sendall(begun)
            assert rest(connection).startswith(b"HTTP/1.1 200" if begun == GET else b"")

    def test_a_newer_connection_replaces_the_oldest(self, port: int) -> None:
        with ExitStack() as stack:
            held = [stack.enter_context(connected(port)) for _ in range(serving.MOST + 5)]
            # The port has accepted all of them when it answers one more.
            assert said(port, GET)[0] == 200
            for connection in held[:6]:
                assert rest(connection) == b""
            for connection in held[6:]:
                connection.sendall(GET)
                assert parsed(rest(connection))[0] == 200

    def test_one_that_is_answered_is_kept(self) -> None:
        goes_on = threading.Event()

        async def slow(headers: Mapping[str, str]) -> HttpAnswer:
            while not goes_on.is_set():
                await asyncio.sleep(0.01)
            return await well(headers)

        made = Port("test", "127.0.0.1", 0, {"/slow": slow, "/well": well})
        try:
            with ExitStack() as stack:
                first = stack.enter_context(connected(made.number))
                first.sendall(b"GET /slow HTTP/1.1\r\n\r\n")
                for _ in range(serving.MOST * 3):
                    stack.enter_context(connected(made.number))
                assert said(made.number, GET)[0] == 200
                goes_on.set()
                assert parsed(rest(first))[0] == 200
        finally:
            made.close()

    def test_without_descriptors(self, port: int) -> None:
        """One client after the other is answered, beside others that hold what they have."""
        with ExitStack() as stack:
            clients = [stack.enter_context(socket.socket()) for _ in range(4)]
            with no_descriptors():
                for client in clients:
                    client.settimeout(PATIENCE)
                    client.connect(("127.0.0.1", port))
                    client.sendall(b"GET /we" if client is clients[0] else GET)
                    if client is not clients[0]:
                        assert parsed(rest(client))[0] == 200
        assert said(port, GET)[0] == 200

    def test_the_last_descriptors_are_left_to_others(self, port: int) -> None:
        with ExitStack() as stack:
            before = resource.getrlimit(resource.RLIMIT_NOFILE)
            highest = max(int(name) for name in os.listdir("/proc/self/fd"))
            # Beside the descriptors of these clients there is room for a few of the port's.
            held = [stack.enter_context(connected(port)) for _ in range(4)]
            assert said(port, GET)[0] == 200
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 20, before[1]))
            try:
                assert said(port, GET)[0] == 200
                for connection in held:
                    assert rest(connection) == b""
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def no_descriptors() -> Iterator[None]:
    """This process can open nothing more."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The system gives the lowest number that is free.
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            os.dup(0)
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


# -- the header Host: a page of another site reaches a port here by a name that it points here -----------------------


@pytest.mark.parametrize(
    ("bound", "host", "status"),
    [
        ("127.0.0.1", "127.0.0.1:8080", 200),
        ("127.0.0.1", "LOCALHOST", 200),
        ("127.0.0.1", "[::1]:8080", 200),
        ("127.0.0.1", "named.example:1", 200),
        ("127.0.0.1", "evil.example", 403),
        ("127.0.0.1", "10.1.2.3", 403),
        ("127.0.0.1", "worker", 403),
        ("127.0.0.1", "", 403),
        ("127.0.0.1", "127.0.0.1.evil.example", 403),
        ("127.0.0.1", "localhost@evil.example", 403),
        ("127.0.0.1", "localhost, evil.example", 403),
        ("0.0.0.0", "10.1.2.3:8080", 200),
        ("0.0.0.0", "[fd00::1]:8080", 200),
        ("0.0.0.0", "worker:9100", 200),
        ("0.0.0.0", "named.example", 200),
        ("0.0.0.0", "evil.example:9100", 403),
        ("0.0.0.0", "10.1.2.3.evil.example", 403),
        ("0.0.0.0", "evil.", 403),
        ("0.0.0.0", "", 403),
    ],
)
def test_the_host_of_a_request_decides_who_is_answered(bound: str, host: str, status: int) -> None:
    made = Port("test", bound, 0, {"/well": well}, ["named.example"])
    try:
        assert said(made.number, f"GET /well HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())[0] == status
    finally:
        made.close()


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /well HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /well HTTP/1.1\r\nHOST : evil.example\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example/well HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET //evil.example/well HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"HEAD /well HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET /nothing HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    ],
)
def test_any_other_host_in_the_request_is_refused(port: int, request_bytes: bytes) -> None:
    status, _, body = said(port, request_bytes)
    assert status == 403
    assert b"--allow-host" in body or request_bytes.startswith(b"HEAD")


def test_any_host_that_is_asked_for() -> None:
    made = Port("test", "127.0.0.1", 0, {"/well": well}, ["*"])
    try:
        assert said(made.number, b"GET /well HTTP/1.1\r\nHost: evil.example\r\n\r\n")[0] == 200
    finally:
        made.close()


@pytest.mark.parametrize("name", ["worker", "move", "exporter"])
def test_every_port_of_a_command_is_this_machines_unless_asked(name: str) -> None:
    command: click.Command = import_module(COMMANDS[name]).command
    hosts = [each.default for each in command.params if (each.name or "").endswith("host")]
    assert hosts
    assert set(hosts) == {"127.0.0.1"}


class TestAddresses:
    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "localhost", "", "0.0.0.0", "::ffff:127.0.0.1", "[::ffff:127.0.0.1]"]
    )
    def test_hosts(self, host: str) -> None:
        made = Port("test", host, 0, {"/well": well})
        try:
            assert said(made.number, GET)[0] == 200
        finally:
            made.close()

    @pytest.mark.parametrize("host", ["nowhere.invalid", "192.0.2.1", "a" * 70, "a b"])
    def test_hosts_that_are_none(self, host: str) -> None:
        with pytest.raises(RedissonDQError, match=r"the test port .* cannot be opened: "):
            Port("test", host, 0, {})

    def test_a_port_that_is_taken(self, port: int) -> None:
        with pytest.raises(RedissonDQError, match=f"the test port 127.0.0.1:{port} cannot be opened: .*in use"):
            Port("test", "127.0.0.1", port, {})

    def test_it_is_free_after_the_end(self) -> None:
        made = Port("test", "127.0.0.1", 0, {"/well": well})
        number = made.number
        with connected(number) as held:
            held.sendall(b"GET")
            assert said(number, GET)[0] == 200
            made.close()
            with pytest.raises(ConnectionRefusedError):
                said(number, GET)
        Port("test", "127.0.0.1", number, {}).close()
