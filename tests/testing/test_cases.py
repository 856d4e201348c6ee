"""The kit as context managers, in the test cases of unittest and of Django."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

UNITTEST = """
import contextlib
import unittest
from datetime import timedelta

import redisson_dq
import redisson_dq.aio
from redisson_dq.testing import TestClock, assert_offered, assert_settled, leak_free, server_of_tests


def setUpModule():
    global server
    stack = contextlib.ExitStack()
    unittest.addModuleCleanup(stack.close)
    server = stack.enter_context(server_of_tests())


class Threads(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        stack.enter_context(leak_free(server))
        self.clock = stack.enter_context(TestClock(server.url))
        self.client = stack.enter_context(redisson_dq.connect(server.url))

    def test_an_order_falls_due(self):
        delayed, queue = self.client.delayed_queue("orders"), self.client.blocking_queue("orders")
        delayed.offer("a", delay=timedelta(days=30))
        assert_offered(delayed, "a", delay=timedelta(days=30))
        self.clock.advance(days=30)
        self.assertEqual(queue.poll(), "a")
        assert_settled(queue)

    def test_each_test_begins_with_nothing(self):
        self.assertEqual(self.client.delayed_queue("orders").size(), 0)
        self.client.delayed_queue("orders").offer("left", delay=60)


class Coroutines(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        stack = contextlib.AsyncExitStack()
        self.addAsyncCleanup(stack.aclose)
        stack.enter_context(leak_free(server))
        self.clock = stack.enter_context(TestClock(server.url))
        self.client = await stack.enter_async_context(redisson_dq.aio.connect(server.url))

    async def test_an_order_falls_due(self):
        delayed, queue = self.client.delayed_queue("orders"), self.client.blocking_queue("orders")
        self.assertEqual(await delayed.size(), 0)
        await delayed.offer("a", delay=timedelta(days=30))
        await self.clock.aio.advance(days=30)
        self.assertEqual(await queue.poll(), "a")
        await assert_settled(queue)
"""

DJANGO = """
import contextlib
from datetime import timedelta

import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, USE_TZ=True
)
django.setup()

from django.db import transaction
from django.test import TestCase

import redisson_dq
from redisson_dq.testing import TestClock, assert_not_offered, assert_offered, leak_free, server_of_tests


class Orders(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.server = stack.enter_context(server_of_tests())

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        stack.enter_context(leak_free(self.server))
        self.clock = stack.enter_context(TestClock(self.server.url))
        self.client_of_queues = stack.enter_context(redisson_dq.connect(self.server.url))

    def test_an_order_is_offered_when_the_transaction_is_in(self):
        delayed = self.client_of_queues.delayed_queue("unpaid")
        with self.captureOnCommitCallbacks(execute=True):
            with transaction.atomic():
                transaction.on_commit(lambda: delayed.offer(42, delay=timedelta(minutes=30)))
            assert_not_offered(delayed)
        assert_offered(delayed, 42, delay=timedelta(minutes=30))
        self.clock.advance(minutes=30)
        self.assertEqual(self.client_of_queues.blocking_queue("unpaid").poll(), 42)
"""


LEAVES_A_LEASE = """
    def test_that_leaves_a_lease(self):
        queue = self.queues.blocking_queue("orders")
        queue.add("a")
        queue.receive()
"""


def run(folder: Path, text: str, *, fails: bool = False) -> str:
    (folder / "test_orders.py").write_text(text)
    command = [sys.executable, "-m", "unittest", "test_orders"]
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, encoding="utf-8", timeout=60)
    assert done.returncode == int(fails), done.stderr
    return done.stderr


def test_unittest_in_threads_and_on_asyncio(tmp_path: Path) -> None:
    assert "Ran 3 tests" in run(tmp_path, UNITTEST)


def test_a_leak_fails_the_test_that_made_it(tmp_path: Path) -> None:
    leaking = LEAVES_A_LEASE.replace("queues", "client")
    told = run(tmp_path, UNITTEST.replace("class Coroutines", f"{leaking}\n\nclass Coroutines"), fails=True)
    assert "FAIL: test_that_leaves_a_lease (test_orders.Threads" in told
    assert "LeakError: the test has left behind: 1 leases in hand (key 'redisson_dq_leases:{orders}')" in told
    assert "Ran 4 tests" in told
    assert "FAILED (failures=1)" in told
    told = run(tmp_path, DJANGO + LEAVES_A_LEASE.replace("queues", "client_of_queues"), fails=True)
    assert "LeakError: the test has left behind: 1 leases in hand" in told
    assert "FAILED (failures=1)" in told


def test_django(tmp_path: Path) -> None:
    assert "Ran 1 test" in run(tmp_path, DJANGO)
