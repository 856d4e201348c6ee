"""Several lines at two lookouts keep their promises, whatever happens in whatever order. No server is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from redis.exceptions import ReadOnlyError

from redisson_dq.waits.steps import StepRefused
from redisson_dq.waits.watched import Commands, State
from tests.conftest import by_night
from tests.unit.waits.shared import World


class Anything(RuleBasedStateMachine):
    """Callers of two lines, whose sources live on two nodes and move between them."""

    world: World

    @initialize(leases=st.booleans())
    def begin(self, leases: bool) -> None:
        self.world = World(leases=leases)

    @rule(choice=st.integers(0, 1_000_000))
    def anything_happens(self, choice: int) -> None:
        events = list(self.world.events())
        self.world.happen(events[choice % len(events)])

    @rule(choice=st.integers(0, 1_000_000), count=st.integers(1, 12))
    def work_goes_on(self, choice: int, count: int) -> None:
        for _ in range(count):
            events = list(self.world.own_events())
            if events:
                self.world.happen(events[choice % len(events)])

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.come_to_rest()


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("examples", [30, by_night(3000)])
def test_lines_whose_keys_move_between_nodes_lose_nothing_and_wait_for_no_ready_value(examples: int) -> None:
    run_state_machine_as_test(Anything, settings=settings(max_examples=examples, stateful_step_count=60, deadline=None))


def goes_on(world: World, *, until: Callable[[], object]) -> None:
    """Work goes on, and no lookout asks for the slots meanwhile."""
    while not until():
        world.happen(next(event for event in world.own_events() if event[0] != "ticks"))


def test_a_lookout_that_breaks_takes_no_reply_from_the_lookout_that_a_key_has_moved_to() -> None:
    world = World(leases=False)
    before, after = world.lookouts
    world.happen(("enters", 1, 1))
    goes_on(world, until=lambda: "d" in before.watched)
    # Its node does not tell of an empty list that has moved. A command finds out.
    world.happen(("moves", "d"))
    world.happen(("is over", world.callers[0]))
    goes_on(world, until=lambda: before.round)
    world.happen(("enters", 1, 1))
    goes_on(world, until=lambda: after.round)
    world.happen(("push", "d"))
    world.happen(("carries out", after))
    world.happen(("is cut", before, True))
    world.happen(("reads", after))
    world.come_to_rest()
    assert world.callers[1].values == [b"0"]


def test_a_caller_whose_time_is_over_gets_the_value_that_the_round_under_way_tells_of() -> None:
    """The round only asks for the sizes. Its reply says that a value is there, and the next round takes it."""
    world = World(leases=False)
    world.happen(("push", "a"))
    world.happen(("enters", 0, 1))
    goes_on(world, until=lambda: world.lookouts[0].round)
    world.happen(("is over", world.callers[0]))
    world.come_to_rest()
    assert world.callers[0].values == [b"0"]


def test_a_source_that_comes_to_a_node_and_goes_back_between_two_looks_at_the_slots_is_found_again() -> None:
    world = World(leases=False)
    before, after = world.lookouts
    # Both lookouts have looked at the slots.
    world.happen(("enters", 0, 1))
    world.happen(("enters", 1, 1))
    goes_on(world, until=lambda: "d" in before.watched and "b" in after.watched)
    world.happen(("moves", "d"))
    world.happen(("is over", world.callers[1]))
    goes_on(world, until=lambda: world.callers[1].answer.filled)
    world.happen(("enters", 1, 1))
    goes_on(world, until=lambda: "d" in after.watched)
    world.happen(("moves", "d"))
    world.happen(("push", "d"))
    world.come_to_rest()
    assert world.callers[2].values == [b"0"]


def test_a_repeated_request_that_was_refused_for_a_while_is_owed_when_the_rest_of_its_round_is_lost() -> None:
    """It may have taken values before, which otherwise come back at the deadline of their leases."""
    world = World(leases=True)
    pump: Any = world.receivers[0].pump
    request, refusal = pump.source.at_once(1), StepRefused(ReadOnlyError("READONLY"), passes=True)
    pump.lookout, pump.state = world.lookouts[0], State.ASKED
    pump.commands = Commands(request, is_repeated=True, is_read=True, refusal=refusal)
    pump.lose_at(world.lookouts[0])
    assert pump.debts.requests == [request]
