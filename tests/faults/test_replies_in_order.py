"""Replies reach their calls, even if a thread is held up, or if Redis refuses a pop that is about to end."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, eventually
from tests.faults.tracing import threads_traced
from tests.faults.world import World
from tests.flavours import Flavour
from tests.security.conftest import Certificates, certificates, tls_server

__all__ = ["certificates", "tls_server"]

_CONNECTION = "redisson_dq/_sync/connecting/dedicated.py"


def test_a_pop_is_sent_when_its_time_is_over() -> None:
    """The command that ends the pop is not sent before it."""
    was_held, is_ended = threading.Event(), threading.Event()

    def look(frame: FrameType, event: str) -> None:
        name = frame.f_code.co_name
        if (name, event) == ("block", "call") and frame.f_locals["words"][0] == "BLPOP" and not was_held.is_set():
            was_held.set()
            is_ended.wait(PATIENCE)
        elif name in ("send_aside", "unblock") and event == "return":
            is_ended.set()

    with World() as world, threads_traced(_CONNECTION, look), world.connect(Flavour()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        # On a busy machine a poll may be over before it has anything to send.
        eventually(lambda: queue.poll(timeout=0.05) is None and was_held.is_set())
        queue.add("a")
        assert queue.take() == "a"


def test_with_tls_nobody_waits_for_a_reply_to_what_was_not_sent(
    tls_server: tuple[EmbeddedServer, int], certificates: Certificates
) -> None:
    """TLS allows one thread at a time on a connection."""
    has_ended = threading.Event()

    def look(frame: FrameType, event: str) -> None:
        name = frame.f_code.co_name
        if (name, event) == ("send_aside", "call"):
            has_ended.wait(PATIENCE)
        elif (name, event) == ("read", "return"):
            has_ended.set()

    _, port = tls_server
    options = {
        "ssl_ca_certs": certificates.ca,
        "ssl_certfile": certificates.client,
        "ssl_keyfile": certificates.client_key,
    }
    with (
        threads_traced(_CONNECTION, look),
        Flavour().connect(f"rediss://localhost:{port}/0", codec=StringCodec(), **options) as client,
    ):
        queue = client.blocking_queue("orders", transfer=False)
        for _ in range(3):
            has_ended.clear()
            assert queue.poll(timeout=0.05) is None
        queue.add("a")
        assert queue.poll(timeout=PATIENCE) == "a"


def test_a_refused_pop_leaves_no_reply_behind(flavour: Flavour) -> None:
    with World() as world, world.connect(flavour) as client, ThreadPoolExecutor(2) as threads:
        queue = client.blocking_queue("orders", transfer=False)
        assert queue.receive(timeout=0.01) is None
        trap = world.gate.trap("BLMOVE", "command", "freeze")
        # Its time is over before the server has the pop. What ends the pop is on its way behind it then.
        assert queue.receive(timeout=0.3) is None
        assert trap.sprung.wait(PATIENCE)
        patient = threads.submit(queue.receive, timeout=PATIENCE)
        world.admin.config_set("maxmemory", 1)
        world.gate.clear()
        eventually(lambda: "errorstat_OOM" in world.admin.info("errorstats"))
        world.admin.config_set("maxmemory", 0)
        queue.add("a")
        assert patient.result(PATIENCE).value == "a"


def test_a_value_that_comes_when_its_caller_has_given_up_goes_back() -> None:
    """Even if the caller is held up between giving up and returning. No lease of 10 minutes is left without a
    holder."""
    given_up: list[Any] = []
    go_on = threading.Event()

    def look(frame: FrameType, event: str) -> None:
        if (frame.f_code.co_name, event) == ("receive", "return") and not given_up:
            given_up.append(frame.f_locals["waiter"])
            go_on.wait(PATIENCE)

    with (
        World() as world,
        threads_traced("redisson_dq/_sync/receiving/receiver.py", look),
        world.connect(Flavour()) as client,
        ThreadPoolExecutor(1) as thread,
    ):
        queue = client.blocking_queue("orders", transfer=False)
        world.gate.trap("BLMOVE", "command", "freeze")
        receiving = thread.submit(queue.receive, timeout=0.05, visibility_timeout=600)
        waiter = eventually(lambda: given_up)[0]
        world.admin.rpush("orders", "a")
        world.gate.clear()
        eventually(lambda: waiter.is_gone or waiter.answer.filled)
        go_on.set()
        assert receiving.result(PATIENCE) is None
        assert queue.receive(timeout=PATIENCE).value == "a"


def test_a_value_whose_reply_is_late_is_not_lost_where_its_pop_has_to_end(flavour: Flavour) -> None:
    """Redis has nothing to end any more. It says so to each ``CLIENT UNBLOCK``, while the value is on its way."""
    with World() as world, world.connect(flavour) as client, ThreadPoolExecutor(1) as thread:
        queue = client.blocking_queue("orders", transfer=False)
        late = world.gate.trap("BLPOP", "reply", "delay", seconds=1.0)
        polling = thread.submit(queue.poll, timeout=0.3)
        eventually(lambda: world.admin.info("clients")["blocked_clients"])
        world.admin.rpush("orders", "a")
        assert late.sprung.wait(PATIENCE)
        assert polling.result(PATIENCE) is None
        assert queue.poll(timeout=5.0) == "a"
