"""Bytes that no client of ours sends, through the faults of the kit: Redis judges them, as it does without a proxy."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq.testing import ServerOfTests, server_of_tests
from redisson_dq.testing.faults import Faults
from redisson_dq.testing.faults._frames import CommandFrames, Frames, ReplyFrames, words
from redisson_dq.testing.faults._proxy import Proxy
from tests.conftest import PATIENCE, as_many, eventually

Address = tuple[str, int]


@pytest.fixture(scope="module")
def server() -> Iterator[ServerOfTests]:
    with server_of_tests() as made:
        yield made


@pytest.fixture
def errors_of_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The errors that ended a thread."""
    found: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", found.append)
    yield found
    assert found == []


def address_of(url: str) -> Address:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 0


def connected(address: Address) -> socket.socket:
    made = socket.create_connection(address, timeout=PATIENCE)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def received(sock: socket.socket, end: bytes = b"") -> bytes:
    """All that comes until these bytes, or until the other side ends."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while not (end and found.endswith(end)) and (more := sock.recv(65536)):
            found += more
    return found


# -- whole connections -----------------------------------------------------------------------------------------------

#: What a client sends, and the last bytes of the answer. Redis ends the connection where there are none.
STRANGERS = {
    "a line": (b"PING\r\n", b"+PONG\r\n"),
    "a line of telnet": (b"  ping  \n", b"+PONG\r\n"),
    "lines and commands": (b"\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$1\r\na\r\nECHO b\r\n", b"$1\r\nb\r\n"),
    "no words": (b"*0\r\n*-1\r\n\r\nPING\r\n", b"+PONG\r\n"),
    "a name that is no text": (b"*1\r\n$2\r\n\xff\xfe\r\nPING\r\n", b"+PONG\r\n"),
    "a script without a text": (b"EVAL\r\nEVALSHA\r\nPING\r\n", b"+PONG\r\n"),
    "a command in parts": (b"*1\r\n$4\r\nPI", b""),
    "an open quote": (b'ECHO "a\r\n', b""),
    "HTTP": (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b""),
    "a POST": (b"POST / HTTP/1.1\r\n\r\n", b""),
    "no number of words": (b"*many\r\n$4\r\nPING\r\n", b""),
    "too many words": (b"*99999999999\r\n", b""),
    "a number without an end": (b"*1" + b"0" * 70_000, b""),
    "no size of a word": (b"*1\r\n$x\r\n", b""),
    "a word without a size": (b"*1\r\n$-1\r\n", b""),
    "too large a word": (b"*1\r\n$99999999999\r\n", b""),
    "a number with an underscore": (b"*1\r\n$1_0\r\n0123456789\r\n", b""),
    "a number in a command": (b"*1\r\n:1\r\n", b""),
    "a list in a command": (b"*1\r\n" * 2000, b""),
    "a line without an end": (b"\x16\x03\x01" * 30_000, b""),
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_gets_the_answer_of_redis(
    server: ServerOfTests, stranger: str, errors_of_threads: list[Any]
) -> None:
    sent, end = STRANGERS[stranger]
    is_half = stranger == "a command in parts"
    with Faults(server) as faults:
        answers = []
        for url in (server.url, faults.url):
            with connected(address_of(url)) as sock:
                with contextlib.suppress(ConnectionError):
                    sock.sendall(sent)
                if is_half:
                    sock.sendall(b"NG\r\n")
                answers.append(received(sock, b"+PONG\r\n" if is_half else end))
        # Redis throws away the answers before a word of HTTP.
        assert answers[1].startswith(answers[0]) if stranger == "HTTP" else answers[1] == answers[0]
        assert faults._proxy.came or not answers[0].endswith(b"+PONG\r\n")
        # Others are served as before.
        with connected(address_of(faults.url)) as sock:
            sock.sendall(b"PING\r\n")
            assert received(sock, b"+PONG\r\n") == b"+PONG\r\n"
        eventually(lambda: not faults._proxy.links())


def test_the_log_tells_once_of_bytes_that_are_no_command(
    server: ServerOfTests, caplog: pytest.LogCaptureFixture, errors_of_threads: list[Any]
) -> None:
    with Faults(server) as faults, connected(address_of(faults.url)) as sock:
        sock.sendall(b"PING\r\n*many\r\n")
        assert received(sock).startswith(b"+PONG\r\n-ERR Protocol error")
    assert [record.getMessage() for record in caplog.records] == [
        "a connection through the faults of a test carries bytes of its client that are not Redis's protocol "
        "(b'*many\\r\\n'); from here on they are passed on, and meet no fault at a command"
    ]


def test_a_line_meets_a_fault(server: ServerOfTests, errors_of_threads: list[Any]) -> None:
    with Faults(server) as faults, connected(address_of(faults.url)) as sock:
        with faults.refused("PING", "ERR no"):
            sock.sendall(b"PING\r\nECHO a\r\n")
            assert received(sock, b"$1\r\na\r\n") == b"-ERR no\r\n$1\r\na\r\n"


def test_a_client_that_has_left_before_it_is_served(server: ServerOfTests, errors_of_threads: list[Any]) -> None:
    with Faults(server) as faults:
        address = address_of(faults.url)
        for _ in range(20):
            # Its end is a reset.
            gone = connected(address)
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            gone.close()
        with connected(address) as sock:
            sock.sendall(b"PING\r\n")
            assert received(sock, b"+PONG\r\n") == b"+PONG\r\n"


def test_messages_between_replies_of_resp3(server: ServerOfTests, errors_of_threads: list[Any]) -> None:
    """A message is no reply, so the faults count on with the right command."""
    with Faults(server) as faults, connected(address_of(faults.url)) as sock:
        sock.sendall(b"HELLO 3\r\nCLIENT TRACKING ON\r\nGET a\r\n")
        assert received(sock, b"+OK\r\n_\r\n").endswith(b"+OK\r\n_\r\n")
        with faults.lost_reply("ECHO"):
            sock.sendall(b"SET a 1\r\nECHO b\r\n")
            reply, message = b"+OK\r\n", b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n"
            assert received(sock) in (reply + message, message + reply)
    server.empty()


@settings(max_examples=as_many(25, 500))
@given(asked=st.lists(st.binary(max_size=200), max_size=4), answered=st.lists(st.binary(max_size=200), max_size=4))
def test_any_bytes_of_both_sides_end_no_thread(asked: list[bytes], answered: list[bytes]) -> None:
    errors: list[Any] = []
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(threading, "excepthook", errors.append)
        with socket.create_server(("127.0.0.1", 0)) as listener, Proxy(lambda: listener.getsockname()[1]) as proxy:
            with connected(("127.0.0.1", proxy.port)) as client, listener.accept()[0] as server:
                came = [pool.submit(received, each) for each in (server, client)]
                for sock, parts in ((client, asked), (server, answered)):
                    for part in parts:
                        sock.sendall(part)
                client.shutdown(socket.SHUT_WR)
                server.shutdown(socket.SHUT_WR)
                for each, sent in zip(came, (asked, answered), strict=True):
                    # Half a message is kept back, and what comes after the end of a side.
                    assert b"".join(sent).startswith(each.result(PATIENCE))
            eventually(lambda: not proxy.links())
    assert errors == []


# -- their messages --------------------------------------------------------------------------------------------------


def cut(frames: Frames, parts: list[bytes]) -> tuple[list[bytes], bytes]:
    """The messages of a stream that comes in parts, and the bytes that are none."""
    found, strays = [], b""
    for part in parts:
        messages = frames.feed(part)
        assert not (messages and strays), "no message comes behind bytes that are none"
        found += messages
        strays += frames.strays()
    return found, strays


#: Bytes that are nearly RESP.
NEARLY = st.lists(
    st.one_of(
        st.sampled_from([b"*", b"$", b"%", b"|", b">", b"~", b"+", b"-", b":", b"_", b"\r\n", b"\r", b"\n", b"PING"]),
        st.integers(-3, 20).map(lambda number: b"%d\r\n" % number),
        st.integers().map(lambda number: b"%d" % number),
        st.binary(max_size=5),
    ),
    max_size=30,
)


@pytest.mark.parametrize("kind", [CommandFrames, ReplyFrames])
@settings(max_examples=as_many(100, 3000))
@given(parts=NEARLY)
def test_any_bytes_are_cut_in_one_way(kind: type[Frames], parts: list[bytes]) -> None:
    whole = b"".join(parts)
    messages, strays = cut(kind(), [whole])
    assert cut(kind(), parts) == cut(kind(), [whole[at : at + 1] for at in range(len(whole))]) == (messages, strays)
    # Nothing gets lost, and nothing is twice there.
    assert whole.startswith(b"".join(messages) + strays)
    assert all(messages)
    if kind is CommandFrames:
        for message in messages:
            assert all(isinstance(word, bytes) for word in words(message))


def packed(command: list[bytes]) -> bytes:
    return b"*%d\r\n" % len(command) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in command)


@given(commands=st.lists(st.lists(st.binary(max_size=8), min_size=1, max_size=4), max_size=4))
def test_each_command_is_one_message(commands: list[list[bytes]]) -> None:
    messages, strays = cut(CommandFrames(), [b"".join(map(packed, commands))])
    assert [words(each) for each in messages] == commands
    assert strays == b""


def collected(parts: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    def listed(kind: bytes, parts: list[bytes], each: int = 1) -> bytes:
        return b"%s%d\r\n" % (kind, len(parts) // each) + b"".join(parts)

    several, pairs = st.lists(parts, max_size=4), st.lists(st.tuples(parts, parts), max_size=2)
    return st.one_of(
        st.builds(listed, st.sampled_from([b"*", b"~", b">"]), several),
        pairs.map(lambda found: listed(b"%", [each for pair in found for each in pair], 2)),
        st.tuples(pairs, parts).map(
            lambda found: listed(b"|", [each for pair in found[0] for each in pair], 2) + found[1]
        ),
    )


#: Each reply of RESP2 and RESP3.
REPLIES = st.recursive(
    st.one_of(
        st.sampled_from([b"+OK\r\n", b"-ERR no\r\n", b":1\r\n", b"_\r\n", b",1.5\r\n", b",inf\r\n", b"#t\r\n"]),
        st.sampled_from([b"(3492890328409238509324850943850943825024385\r\n", b"$-1\r\n", b"*-1\r\n", b"$0\r\n\r\n"]),
        st.binary(max_size=10).map(lambda text: b"$%d\r\n%s\r\n" % (len(text), text)),
        st.binary(max_size=10).map(lambda text: b"=%d\r\ntxt:%s\r\n" % (len(text) + 4, text)),
    ),
    collected,
    max_leaves=10,
)


@settings(max_examples=as_many(60, 2000))
@given(replies=st.lists(REPLIES, max_size=4), at=st.integers(0, 60))
def test_each_reply_is_one_message(replies: list[bytes], at: int) -> None:
    whole = b"".join(replies)
    assert cut(ReplyFrames(), [whole[:at], whole[at:]]) == (replies, b"")


def test_a_reply_of_many_levels_and_many_parts() -> None:
    deep = b"*1\r\n" * 100_000 + b":1\r\n"
    assert cut(ReplyFrames(), [deep[at : at + 65_536] for at in range(0, len(deep), 65_536)]) == ([deep], b"")
