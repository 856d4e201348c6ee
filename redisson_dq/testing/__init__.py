"""Tests of programs that use delayed queues: months in milliseconds, on a real Redis.

Nothing here is simulated except the clock: the server is real, and the scripts are the library's own. The test controls
the clock::

    with EmbeddedServer() as server, TestClock(server.url) as clock:
        client = redisson_dq.connect(server.url)
        client.delayed_queue("orders").offer("order-42", delay=timedelta(days=30))
        clock.advance(days=30)
        assert client.blocking_queue("orders").poll() == "order-42"

pytest loads the plugin in this package in every run, so everything is imported on first use.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redisson_dq.testing import faults, java
    from redisson_dq.testing._asserting import assert_dead, assert_not_offered, assert_offered, assert_settled, offered
    from redisson_dq.testing._claim import NotForTestsError
    from redisson_dq.testing._clock import AioClock, TestClock
    from redisson_dq.testing._leaks import LeakError, leak_free
    from redisson_dq.testing._server import ServerOfTests, server_of_tests
    from redisson_dq.testing._waits import NoRestError
    from redisson_dq.testing._working import MadeEvent, handle_one, make_event, run_until_idle
else:
    from redisson_dq._common.lazy import lazily

    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_asserting": ("assert_dead", "assert_not_offered", "assert_offered", "assert_settled", "offered"),
            "_claim": ("NotForTestsError",),
            "_clock": ("AioClock", "TestClock"),
            "_leaks": ("LeakError", "leak_free"),
            "_server": ("ServerOfTests", "server_of_tests"),
            "_waits": ("NoRestError",),
            "_working": ("MadeEvent", "handle_one", "make_event", "run_until_idle"),
            "faults": (),
            "java": (),
        },
    )

__all__ = [
    "AioClock",
    "LeakError",
    "MadeEvent",
    "NoRestError",
    "NotForTestsError",
    "ServerOfTests",
    "TestClock",
    "assert_dead",
    "assert_not_offered",
    "assert_offered",
    "assert_settled",
    "faults",
    "handle_one",
    "java",
    "leak_free",
    "make_event",
    "offered",
    "run_until_idle",
    "server_of_tests",
]
