"""A signal handler closes the client at each line of the call that starts its mover."""

from __future__ import annotations

import sys
import threading
from typing import Any

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError
from tests.conftest import eventually


def test_a_close_at_any_line_of_a_start(url: str) -> None:
    """The trace function stands for a signal handler: it runs in the caller's thread, between two of its lines."""
    before = threading.active_count()
    for line in range(1000):
        with redisson_dq.connect(url, codec=StringCodec()) as client:
            queue = client.blocking_queue("orders")
            left = line

            def traced(frame: Any, event: str, argument: object, client: Any = client) -> Any:
                nonlocal left
                if not frame.f_code.co_filename.endswith(("_sync/runtime.py", "_sync/moving/transfer_driver.py")):
                    return None
                if event == "line" and threading.current_thread() is threading.main_thread():
                    left -= 1
                    if left < 0:
                        sys.settrace(None)
                        client.close()
                return traced

            sys.settrace(traced)
            try:
                if queue.poll(timeout=0) is None and left >= 0:
                    break
            except ClosedError:
                assert left < 0
            finally:
                sys.settrace(None)
    assert line > 20
    # No background task is left.
    eventually(lambda: threading.active_count() <= before)
