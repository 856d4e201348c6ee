"""A signal handler raises during a call, as Ctrl+C does. The next call does not read the interrupted call's reply."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import redisson_dq
from redisson_dq._redis import own_connection
from redisson_dq._sync.connecting import batches, connections, pools
from redisson_dq.codecs import StringCodec

FILES = [batches.__file__, connections.__file__, pools.__file__, own_connection.__file__]


class Interrupted(BaseException):
    """What the handler raises."""


def interrupted_at(line: int, call: Callable[[], Any]) -> bool:
    """Runs the call, and raises at the line with this number in the modules that send requests. False if there are
    fewer."""
    seen = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal seen
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line" and frame.f_code.co_name.lstrip("_").startswith(("exchange", "send", "read", "put_away")):
            seen += 1
            if seen == line:
                raise Interrupted
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except Interrupted:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("kind", ["call", "pipeline"])
def test_the_next_call_gets_its_own_reply(admin: Any, url: str, kind: str) -> None:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders", transfer=False)
        queue.add_all(["a", "b"])

        def call() -> None:
            if kind == "call":
                queue.get(0)
            else:
                with client.pipeline() as pipe:
                    pipe.add(queue.requests.get(0))

        line = 1
        # The reply comes after the interruption, and after the next call began.
        admin.client_pause(50)
        while interrupted_at(line, call):
            assert queue.get(1) == "b"
            admin.client_pause(50)
            line += 1
        assert line > 2
