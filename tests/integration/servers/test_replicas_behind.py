"""A demoted server that is behind the new master: it is not asked what it does not know.

A failover turns a name, and connections that are open still lead to the old server. A script that finds nothing to
write is not refused there. So an ack of a lease that the new master gave would be LOST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer, ServerProgram
from redisson_dq.items import Outcome, SettleOutcome
from tests.conftest import PROGRAMS
from tests.faults.gate import Gate
from tests.flavours import Flavour
from tests.unit.test_scripts import REQUESTS

#: Scripts that change something, and answer a client of a replica that is behind. Looks, and what is asked again.
_ANSWER = {
    "advance": "the driver looks at its server by itself",
    "admit": "the wait that follows is refused",
    "peek": "the wait that follows is refused",
    "transfer": "the driver looks at its server by itself",
    "tidy": "nothing waits for it",
    "hand_over": "the next mover takes over by itself",
    "exchange": "it is told how many values were not there",
    "run_command": "the command says whether it writes",
    **dict.fromkeys(
        ("browse_dead", "dead_letters", "find_item", "items", "mend_find", "mend_walk", "unknown_commands"), "a look"
    ),
}


class Servers:
    """The name leads to a server. A second one has replaced it as master."""

    def __init__(self, stack: ExitStack, program: ServerProgram) -> None:
        made = [stack.enter_context(EmbeddedServer(program=program)) for _ in range(2)]
        self.old, self.new = [stack.enter_context(redis.Redis.from_url(each.url)) for each in made]
        self._ports = [each.port or 0 for each in made]
        self._at = 0
        self.gate = stack.enter_context(Gate(lambda: self._ports[self._at]))

    def begin(self) -> None:
        """The old server is the master."""
        self.old.execute_command("REPLICAOF", "NO", "ONE")
        self.new.flushall()
        self._at = 0

    def fail_over(self) -> None:
        """The new master has everything, the old one nothing. Open connections stay open."""
        for key in self.old.scan_iter():
            self.new.restore(key, 0, self.old.dump(key))
        self.old.flushall()
        self.old.execute_command("REPLICAOF", "127.0.0.1", 1)
        self._at = 1


@pytest.fixture
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack, PROGRAMS["redis"]())


def test_a_script_that_changes_something_is_refused_or_named(servers: Servers) -> None:
    servers.old.execute_command("REPLICAOF", "127.0.0.1", 1)
    answered = []
    for name, request in REQUESTS.items():
        assert request.script is not None
        if request.script.only_reads:
            continue
        try:
            servers.old.execute_command("EVAL", request.script.source, *request.words)
        except redis.exceptions.ReadOnlyError:
            continue
        answered.append(name)
    assert sorted(answered) == sorted(_ANSWER)


#: Calls, and their results. "a" to "e" are leased, "f" to "h" wait, "i" is ready.
_CALLS: dict[str, tuple[Callable[[Any, Any, Any, Any], Any], Any]] = {
    "ack": (lambda queue, delayed, held, items: held["a"].ack(), SettleOutcome.ACKED),
    "ack_all": (lambda queue, delayed, held, items: queue.ack_all([held["b"]]), [SettleOutcome.ACKED]),
    "nack": (lambda queue, delayed, held, items: held["c"].nack(), SettleOutcome.RETURNED),
    "reject": (lambda queue, delayed, held, items: held["d"].reject(), SettleOutcome.DEAD_LETTERED),
    "extend": (lambda queue, delayed, held, items: held["e"].extend(600), SettleOutcome.EXTENDED),
    "cancel": (lambda queue, delayed, held, items: items["f"].cancel(), Outcome.CANCELLED),
    "reschedule": (lambda queue, delayed, held, items: items["g"].reschedule(7200), Outcome.RESCHEDULED),
    "remove": (lambda queue, delayed, held, items: delayed.remove("h"), True),
    "receive": (lambda queue, delayed, held, items: queue.receive(timeout=0).value, "i"),
}


def test_calls_go_to_the_new_master(flavour: Flavour, servers: Servers) -> None:
    for name, (call, expected) in _CALLS.items():
        servers.begin()
        with flavour.client(servers.gate.url, codec=StringCodec()) as client:
            queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders", transfer=False)
            queue.add_all(list("abcde"))
            held = {each.value: each for each in queue.receive(5, visibility_timeout=600)}
            items = {value: delayed.offer(value, 3600) for value in "fgh"}
            queue.add("i")
            servers.fail_over()
            assert call(queue, delayed, held, items) == expected, name
