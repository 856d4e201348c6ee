"""Many requests in one round trip: their order, their errors, transactions, and a connection that ends in between."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from redisson_dq import Outcome
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import (
    ArgumentError,
    ClosedError,
    DecodeError,
    EncodeError,
    RedisConnectionError,
    RedisReplyError,
    WrongTypeError,
)
from redisson_dq.wire.request import Request
from tests.conftest import PATIENCE, eventually
from tests.faults.gate import Gate
from tests.flavours import Flavour
from tests.integration.calls import dump, opened
from tests.integration.conftest import KEYS


def test_a_pipeline_gives_results_in_its_order(client: Any, admin: Any) -> None:
    queue, delayed = opened(client, "queue"), opened(client, "delayed")
    requests, waiting = queue.requests, delayed.requests
    pipe = client.pipeline()
    for request in (requests.add("a"), waiting.offer("b", 60, id="42"), requests.poll(), requests.poll()):
        pipe.add(request)
    for request in (waiting.size(), waiting.cancel("42"), waiting.size(), requests.exists(), waiting.find("42")):
        pipe.add(request)
    assert len(pipe) == 9
    added, offered, *rest = pipe.execute()
    assert (added, offered.id) == (True, "42")
    assert rest == ["a", None, 1, Outcome.CANCELLED, 0, False, None]
    assert len(pipe) == 0


@pytest.mark.parametrize("transaction", [False, True])
def test_a_pipeline_is_used_again(client: Any, transaction: bool) -> None:
    queue = opened(client, "queue")
    pipe = client.pipeline(transaction=transaction)
    assert pipe.execute() == []
    for value in "ab":
        pipe.add(queue.requests.add(value))
        assert pipe.execute() == [True]
    late = pipe.add(queue.requests.read_all())
    with pytest.raises(ArgumentError, match="has not been executed yet"):
        _ = late.result
    assert pipe.execute() == [["a", "b"]]
    assert late.result == ["a", "b"]
    for no_request in (None, "add", queue.size):
        with pytest.raises(ArgumentError, match="requests"):
            pipe.add(no_request)


def test_a_block_that_raises_sends_nothing(client: Any, admin: Any) -> None:
    queue = opened(client, "queue")

    def adds() -> None:
        with client.pipeline() as pipe:
            for value in ("x", 5):
                pipe.add(queue.requests.add(value))

    with pytest.raises(EncodeError):
        adds()
    assert dump(admin) == {}


@pytest.mark.parametrize("transaction", [False, True])
def test_a_pipeline_of_a_thousand_with_unknown_scripts(client: Any, admin: Any, transaction: bool) -> None:
    delayed = opened(client, "delayed")
    admin.script_flush()
    admin.config_resetstat()
    pipe = client.pipeline(transaction=transaction)
    for number in range(500):
        pipe.add(delayed.requests.offer(f"v{number}", 60 + number))
        pipe.add(delayed.requests.cancel("nobody's"))
    results = pipe.execute()
    assert [offered.value for offered in results[::2]] == [f"v{number}" for number in range(500)]
    assert results[1::2] == [Outcome.UNKNOWN] * 500
    stats = admin.info("commandstats")
    assert delayed.size() == 500
    assert stats["cmdstat_eval"]["calls"] == 2, "the text of each script goes once"
    assert stats["cmdstat_evalsha"]["calls"] == 998


@pytest.mark.parametrize("transaction", [False, True])
def test_a_pipeline_is_one_round_trip(
    flavour: Flavour, server: EmbeddedServer, admin: Any, threads: ThreadPoolExecutor, transaction: bool
) -> None:
    with Gate(lambda: server.port or 0) as proxy, flavour.connect(proxy.url, codec=StringCodec()) as client:
        queue = opened(client, "queue")
        # A client's first transaction asks whether it may begin one.
        with client.pipeline(transaction=transaction) as first:
            first.add(queue.requests.size())
        pipe = client.pipeline(transaction=transaction)
        replies = [pipe.add(queue.requests.add(str(number))) for number in range(100)]
        proxy.silence(replies_only=True)
        executing = threads.submit(pipe.execute)
        # No reply has come, and the server has them all.
        eventually(lambda: admin.llen("orders") == 100)
        proxy.cut()
        with pytest.raises(RedisConnectionError) as caught:
            executing.result(PATIENCE)
        assert caught.value.maybe_done
        if not transaction:
            for reply in replies:
                with pytest.raises(RedisConnectionError, match="may have been carried out"):
                    _ = reply.result


def test_a_connection_that_ends_in_the_middle(client: Any) -> None:
    queue = opened(client, "queue")
    pipe = client.pipeline()
    first = pipe.add(queue.requests.add("a"))
    pipe.add(Request(words=("QUIT",), types={"orders": ""}, parse=bytes.decode))
    last = pipe.add(queue.requests.add("b"))
    with pytest.raises(RedisConnectionError) as caught:
        pipe.execute()
    assert caught.value.maybe_done
    assert first.result is True
    with pytest.raises(RedisConnectionError, match="may have been carried out"):
        _ = last.result
    assert queue.read_all() == ["a"], "and it was not sent again"


@pytest.mark.parametrize("transaction", [False, True])
def test_an_error_in_the_middle(client: Any, admin: Any, transaction: bool) -> None:
    queue, delayed = opened(client, "queue"), opened(client, "delayed")
    admin.set(KEYS.envelopes, "text")
    pipe = client.pipeline(transaction=transaction)
    replies = [
        pipe.add(queue.requests.add("a")),
        pipe.add(delayed.requests.offer("b", 60)),
        pipe.add(delayed.requests.peek()),
        pipe.add(queue.requests.restore(b"junk", replace=True)),
        pipe.add(queue.requests.read_all()),
    ]
    with pytest.raises(WrongTypeError) as caught:
        pipe.execute()
    assert caught.value.key == KEYS.envelopes
    assert (replies[0].result, replies[4].result) == (True, ["a"])
    for reply in replies[1:3]:
        with pytest.raises(WrongTypeError, match=re.escape(KEYS.envelopes)):
            _ = reply.result
    with pytest.raises(RedisReplyError, match="restore"):
        _ = replies[3].result


@pytest.mark.parametrize("transaction", [False, True])
def test_values_that_cannot_be_read_are_kept(client: Any, admin: Any, transaction: bool) -> None:
    queue, delayed = opened(client, "queue"), opened(client, "delayed")
    admin.rpush("orders", b"\xff", "a", b"\xfe", "b")
    pipe = client.pipeline(transaction=transaction)
    one, three, offered = (
        pipe.add(request)
        for request in (queue.requests.poll(), queue.requests.poll(3), delayed.requests.offer("c", 60))
    )
    with pytest.raises(DecodeError):
        pipe.execute()
    for reply, lost in ((one, [b"\xff"]), (three, [b"\xfe"])):
        with pytest.raises(DecodeError) as caught:
            _ = reply.result
        assert (caught.value.kept_in, caught.value.undecodable) == (KEYS.undecodable, lost)
    assert caught.value.decoded == ["a", "b"]
    assert offered.result.value == "c"
    assert queue.read_undecodable() == [b"\xff", b"\xfe"]


def test_a_transaction_that_is_refused_does_nothing(flavour: Flavour, server: EmbeddedServer, admin: Any) -> None:
    admin.acl_setuser(
        "unscripted", enabled=True, nopass=True, channels=["*"], keys=["*"], commands=["+@all", "-@scripting"]
    )
    try:
        with flavour.connect(server.url.replace("redis://", "redis://unscripted:x@"), codec=StringCodec()) as client:
            queue, delayed = opened(client, "queue"), opened(client, "delayed")
            pipe = client.pipeline(transaction=True)
            replies = [
                pipe.add(queue.requests.add("a")),
                pipe.add(delayed.requests.offer("b", 60)),
                pipe.add(queue.requests.size()),
            ]
            with pytest.raises(RedisReplyError):
                pipe.execute()
            assert dump(admin) == {}
            for reply in replies:
                with pytest.raises(RedisReplyError, match="permission"):
                    _ = reply.result
    finally:
        admin.acl_deluser("unscripted")


def test_a_pipeline_of_a_closed_client(flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as client:
        pipe = client.pipeline()
        pipe.add(opened(client, "queue").requests.size())
    with pytest.raises(ClosedError):
        pipe.execute()


@pytest.mark.parametrize("destination", ["bills", "orders"])
def test_a_move_out_of_a_bounded_queue_makes_room(client: Any, admin: Any, destination: str) -> None:
    queue = client.bounded_blocking_queue("orders", transfer=False)
    assert queue.try_set_capacity(3)
    assert queue.add_all(["a", "b"])
    with client.pipeline() as pipe:
        moved = pipe.add(queue.requests.move(destination, from_end="last", to_end="first"))
        room = pipe.add(queue.requests.remaining_capacity())
    assert moved.result == "b"
    assert room.result == (2 if destination == "bills" else 1)
