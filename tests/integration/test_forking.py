"""A client in a process that was forked off: it refuses every call, and the one before the fork works on."""

from __future__ import annotations

import os
from typing import Any

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError


def test_a_client_does_not_work_in_a_forked_process(admin: Any, url: str) -> None:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        bounded = client.bounded_blocking_queue("bounded")
        parts = client.blocking_queue("parts", partitions=2)
        assert queue.poll(timeout=0.01) is None
        listener = bounded.subscribe_on_elements(print)
        refused: list[Any] = [
            queue.take,
            queue.poll,
            lambda: queue.poll(timeout=1),
            lambda: queue.poll_from_any("other"),
            lambda: queue.move("other", timeout=1),
            lambda: queue.subscribe_on_elements(print),
            queue.size,
            parts.take,
            parts.poll,
            lambda: bounded.put("a"),
            lambda: delayed.offer("a", delay=1),
            lambda: client.blocking_queue("new"),
            lambda: client.pipeline().execute(),
        ]
        child = os.fork()
        if child == 0:
            failed = 1
            try:
                for call in refused:
                    try:
                        call()
                    except ClosedError as error:
                        assert f"made in process {os.getppid()}" in str(error)  # noqa: PT017
                    else:
                        raise AssertionError(call)
                bounded.unsubscribe(listener)
                for handle in (queue, delayed, bounded, parts):
                    handle.destroy()
                client.close()
                failed = 0
            finally:
                os._exit(failed)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        delayed.offer("a", delay=0)
        assert queue.take() == "a"
