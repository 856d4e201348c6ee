"""The engine's decisions, row by row, with time as a number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redisson_dq.scheduling.engine import RESERVE_US, TRANSITIONS, Action, Do, Engine, Role, State, Trigger
from redisson_dq.scheduling.server_clock import ServerClock

SECOND = 1_000_000
# The server's clock is this far ahead of the engine's: epoch time against a clock that starts at zero.
EPOCH_US = 1_700_000_000 * SECOND
EPOCH_MS = EPOCH_US // 1000

TRANSFER = (Action(Do.TRANSFER),)
DISARM = (Action(Do.DISARM),)


def arm(delay_us: int) -> tuple[Action, ...]:
    return (Action(Do.ARM, delay_us),)


def transferred(engine: Engine, next_ms: int | None, now_us: int, role: Role = Role.ALONE) -> tuple[Action, ...]:
    """A transfer that took no time at all, so the two clocks are EPOCH_US apart exactly."""
    return engine.transferred(next_ms, role, EPOCH_US + now_us, now_us, now_us)


def resting() -> Engine:
    engine = Engine()
    engine.subscribed()
    transferred(engine, None, 0)
    return engine


def armed(due_in_us: int, role: Role = Role.ALONE) -> Engine:
    engine = Engine()
    engine.subscribed()
    transferred(engine, EPOCH_MS + due_in_us // 1000, 0, role)
    return engine


def test_a_confirmed_subscription_leads_to_a_transfer() -> None:
    engine = Engine()
    assert engine.subscribed() == TRANSFER
    assert engine.state is State.MOVING


def test_a_head_that_the_probe_sees_is_enough_where_no_subscription_is_to_be_had() -> None:
    engine = Engine()
    assert engine.announced(EPOCH_MS + 99_000, 0) == TRANSFER
    assert transferred(engine, EPOCH_MS + 99_000, 0) == arm(99_000_000 - 99_000_000 // 1024)


def test_the_timer_is_armed_for_the_time_that_remains_on_the_servers_clock() -> None:
    engine = Engine()
    engine.subscribed()
    # It was EPOCH on the server when a script ran that was sent at 1.0 s. One that is sent at 3.0 s runs 2 s later.
    assert engine.transferred(EPOCH_MS + 2000, Role.ALONE, EPOCH_US, SECOND, 1_400_000) == arm(1_600_000)
    assert engine.state is State.ARMED


def test_what_is_due_already_is_transferred_at_once() -> None:
    engine = Engine()
    engine.subscribed()
    assert transferred(engine, EPOCH_MS, 0) == TRANSFER
    assert transferred(engine, EPOCH_MS - 5, 0) == TRANSFER


def test_an_empty_queue_rests() -> None:
    engine = Engine()
    engine.subscribed()
    assert transferred(engine, None, 0) == DISARM
    assert engine.state is State.RESTING


def test_a_sooner_announcement_re_arms() -> None:
    engine = armed(5 * SECOND)
    assert engine.announced(EPOCH_MS + 2000, SECOND) == arm(SECOND)


def test_a_later_announcement_leaves_the_timer_alone() -> None:
    engine = armed(5 * SECOND)
    assert engine.announced(EPOCH_MS + 9000, SECOND) == ()
    assert engine.announced(EPOCH_MS + 5000, SECOND) == ()
    assert engine.announced(EPOCH_MS + 4999, SECOND) == arm(3_999_000)


def test_an_announcement_that_is_due_is_transferred_at_once() -> None:
    assert armed(5 * SECOND).announced(EPOCH_MS + 1000, SECOND) == TRANSFER
    assert resting().announced(EPOCH_MS, SECOND) == TRANSFER


def test_an_announcement_wakes_a_resting_queue() -> None:
    engine = resting()
    assert engine.announced(EPOCH_MS + 3000, SECOND) == arm(2 * SECOND)
    assert engine.state is State.ARMED


def test_an_announcement_during_a_transfer_is_weighed_against_its_answer() -> None:
    engine = armed(5 * SECOND)
    engine.fired(0)
    assert engine.announced(EPOCH_MS + 7000, 5 * SECOND) == ()
    assert transferred(engine, EPOCH_MS + 9000, 5 * SECOND) == arm(2 * SECOND)
    engine.fired(0)
    engine.announced(EPOCH_MS + 20_000, 7 * SECOND)
    assert transferred(engine, EPOCH_MS + 9000, 7 * SECOND) == arm(2 * SECOND)
    engine.fired(0)
    engine.announced(EPOCH_MS + 9000, 9 * SECOND)
    assert transferred(engine, None, 9 * SECOND) == TRANSFER


def test_the_earliest_of_many_announcements_during_a_transfer_counts() -> None:
    for first, second in ((9000, 7000), (7000, 9000)):
        engine = armed(5 * SECOND)
        engine.fired(0)
        engine.announced(EPOCH_MS + first, 5 * SECOND)
        engine.announced(EPOCH_MS + second, 5 * SECOND)
        assert transferred(engine, None, 5 * SECOND) == arm(2 * SECOND)


def test_a_noted_announcement_counts_once() -> None:
    engine = armed(SECOND)
    engine.fired(0)
    engine.announced(EPOCH_MS + 1000, SECOND)
    assert transferred(engine, None, SECOND) == TRANSFER
    assert transferred(engine, None, SECOND) == DISARM


def test_a_subscription_confirmed_during_a_transfer_leads_to_another_one() -> None:
    engine = armed(SECOND)
    engine.fired(0)
    assert engine.subscribed() == ()
    assert engine.state is State.MOVING_AGAIN
    assert transferred(engine, EPOCH_MS + 60_000, SECOND) == TRANSFER
    assert transferred(engine, EPOCH_MS + 6000, SECOND) == arm(5 * SECOND)


def test_the_timer_leads_to_a_transfer() -> None:
    engine = armed(SECOND)
    assert engine.fired(0) == TRANSFER
    assert engine.state is State.MOVING


def test_a_stale_timer_is_ignored() -> None:
    assert resting().fired(0) == ()
    moving = armed(SECOND)
    moving.fired(0)
    assert moving.fired(0) == ()


def test_a_failed_transfer_is_tried_again_after_a_growing_pause() -> None:
    engine = Engine()
    engine.subscribed()
    pauses = []
    for _ in range(9):
        (action,) = engine.failed(0)
        pauses.append(action.delay_us)
        assert engine.state is State.PAUSING
        assert engine.fired(0) == TRANSFER
    assert pauses == [100_000, 200_000, 400_000, 800_000, 1_600_000, 3_200_000, 5_000_000, 5_000_000, 5_000_000]
    transferred(engine, EPOCH_MS + 1000, 0)
    engine.fired(0)
    assert engine.failed(0) == arm(100_000), "an answer ends the growth"


def test_announcements_do_not_cut_a_pause_short_and_a_new_subscription_does() -> None:
    engine = armed(SECOND)
    engine.fired(0)
    engine.failed(SECOND)
    for due_ms in (EPOCH_MS, EPOCH_MS + 1050, EPOCH_MS + 99_000):
        assert engine.announced(due_ms, SECOND) == ()
        assert engine.state is State.PAUSING
    assert engine.subscribed() == TRANSFER


def test_a_failure_before_the_first_answer_keeps_announcements_out() -> None:
    engine = Engine()
    engine.subscribed()
    engine.failed(0)
    assert engine.announced(EPOCH_MS + 1, 0) == ()


@pytest.mark.parametrize("days", [1 / 8640, 1 / 24, 1, 30, 40_000])
def test_a_long_wait_ends_early_and_is_armed_again_for_the_rest(days: float) -> None:
    engine = Engine()
    engine.subscribed()
    due_us = int(days * 86_400 * SECOND) // 1000 * 1000
    now_us, rounds = 0, 0
    (action,) = transferred(engine, EPOCH_MS + due_us // 1000, now_us)
    while now_us + action.delay_us < due_us:
        assert action.delay_us <= 86_400 * SECOND, "a datetime or a lock could not hold more"
        now_us += action.delay_us
        rounds += 1
        engine.fired(0)
        (action,) = transferred(engine, EPOCH_MS + due_us // 1000, now_us)
    assert now_us + action.delay_us == due_us
    assert rounds <= 4 + days * 1.01, "a wait ends early a few times, not for ever"


@pytest.mark.parametrize("role", [Role.ALONE, Role.MOVER])
def test_whoever_moves_is_exact(role: Role) -> None:
    assert armed(5 * SECOND, role).announced(EPOCH_MS + 2000, SECOND) == arm(SECOND)
    assert armed(5 * SECOND, role).announced(EPOCH_MS, SECOND) == TRANSFER


def test_a_reserve_waits_longer_than_the_due_time() -> None:
    engine = armed(5 * SECOND, Role.RESERVE)
    assert engine.announced(EPOCH_MS + 2000, SECOND) == arm(SECOND + RESERVE_US)
    assert engine.fired(2 * SECOND + RESERVE_US) == TRANSFER


def test_a_reserve_leaves_what_is_due_to_the_mover_for_a_while() -> None:
    engine = armed(5 * SECOND, Role.RESERVE)
    assert engine.announced(0, SECOND) == arm(RESERVE_US)
    engine.fired(SECOND + RESERVE_US)
    assert transferred(engine, EPOCH_MS, 2 * SECOND, Role.RESERVE) == arm(RESERVE_US)
    assert engine.state is State.ARMED


def test_a_reserve_that_was_told_of_a_later_head_fires_for_that_one() -> None:
    engine = armed(SECOND, Role.RESERVE)
    assert engine.announced(EPOCH_MS + 5000, SECOND) == ()
    assert engine.announced(EPOCH_MS + 4000, SECOND) == (), "the last one counts"
    assert engine.fired(SECOND + RESERVE_US) == arm(3 * SECOND)
    assert engine.fired(4 * SECOND + RESERVE_US) == TRANSFER


def test_a_reserve_that_was_told_of_a_later_and_then_of_a_sooner_head_takes_the_sooner() -> None:
    engine = armed(2 * SECOND, Role.RESERVE)
    engine.announced(EPOCH_MS + 5000, 0)
    assert engine.announced(EPOCH_MS + 1000, 0) == arm(SECOND + RESERVE_US)
    assert engine.fired(SECOND + RESERVE_US) == TRANSFER


def test_a_reserve_waits_a_round_trip_longer_as_the_movers_message_takes_one_too() -> None:
    engine = Engine()
    engine.subscribed()
    answer = engine.transferred(EPOCH_MS + 1000, Role.RESERVE, EPOCH_US, 0, 80_000)
    assert answer == arm(SECOND - 80_000 + RESERVE_US + 80_000)


def test_a_reserve_that_finds_something_overdue_is_the_mover_from_then_on() -> None:
    engine = armed(SECOND, Role.RESERVE)
    engine.fired(SECOND + RESERVE_US)
    assert transferred(engine, EPOCH_MS + 3000, 2 * SECOND, Role.MOVER) == arm(SECOND)
    engine.fired(3 * SECOND)
    assert transferred(engine, EPOCH_MS + 3000, 3 * SECOND, Role.MOVER) == TRANSFER


def test_a_long_wait_of_a_reserve_ends_early_too() -> None:
    wait_us = 3600 * SECOND + RESERVE_US
    engine = Engine()
    engine.subscribed()
    assert transferred(engine, EPOCH_MS + 3_600_000, 0, Role.RESERVE) == arm(wait_us - wait_us // 1024)


def test_a_reserve_that_others_spare_measures_the_clock_anew_all_the_same() -> None:
    """Otherwise it would step in late by the drift of the clocks since its last transfer."""
    engine = armed(SECOND, Role.RESERVE)
    fired: list[Action] = []
    for second in range(1, 700):
        engine.announced(EPOCH_MS + 1000 * (second + 1), second * SECOND)
        fired += engine.fired(second * SECOND + RESERVE_US)
        if fired[-1] == TRANSFER[0]:
            break
    assert fired == [*(arm(SECOND) * (second - 1)), *TRANSFER]
    assert second == 600
    # The server's clock is half a second further than it was.
    now_us = second * SECOND + RESERVE_US
    answer = engine.transferred(EPOCH_MS + 601_000, Role.RESERVE, EPOCH_US + now_us + 500_000, now_us, now_us)
    assert answer == arm(SECOND - 500_000)


@pytest.mark.parametrize("role", [Role.ALONE, Role.MOVER])
def test_an_announcement_after_a_long_rest_is_measured_by_a_transfer(role: Role) -> None:
    for head in (None, EPOCH_MS + 7_200_000):
        engine = Engine()
        engine.subscribed()
        transferred(engine, head, 0, role)
        assert engine.announced(EPOCH_MS + 3_605_000, 3600 * SECOND) == TRANSFER
        assert engine.announced(EPOCH_MS + 3_605_000, 3600 * SECOND) == ()


def test_an_announcement_after_a_long_rest_costs_a_reserve_nothing() -> None:
    """Or each item of a queue that rests now and then would cost as many calls as there are processes."""
    engine = Engine()
    engine.subscribed()
    transferred(engine, None, 0, Role.RESERVE)
    assert engine.announced(EPOCH_MS + 3_605_000, 3600 * SECOND) == arm(5 * SECOND + RESERVE_US)


def test_closing_disarms_and_whatever_still_arrives_is_ignored() -> None:
    for engine in (Engine(), resting(), armed(SECOND)):
        assert engine.close() == DISARM
        assert engine.subscribed() == ()
        assert engine.announced(EPOCH_MS, 0) == ()
        assert transferred(engine, EPOCH_MS + 5, 0) == ()
        assert engine.failed(0) == ()
        assert engine.fired(0) == ()
        assert engine.close() == ()
        assert engine.state is State.CLOSED


def test_every_state_can_be_closed_and_reached() -> None:
    assert {state for state, event in TRANSITIONS if event is Trigger.CLOSE} == set(State)
    reached = {next_state for next_state, _ in TRANSITIONS.values()}
    assert reached | {Engine().state} == set(State)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["subscribed", "announced", "fired", "answered", "failed"]),
        st.integers(-2_000, 20_000),
        st.integers(0, 3_000_000),
        st.sampled_from(Role),
    ),
    max_size=60,
)


@given(STEPS)
def test_no_sequence_of_events_leaves_waiting_items_without_a_timer_or_a_transfer(
    steps: list[tuple[str, int, int, Role]],
) -> None:
    engine = Engine()
    now_us = 0
    in_flight = False
    known: set[int] = set()
    armed_for: int | None = None
    for kind, offset_ms, later_us, role in [("subscribed", 0, 0, Role.ALONE), *steps]:
        now_us += later_us
        due_ms = (EPOCH_US + now_us) // 1000 + offset_ms
        if kind == "subscribed":
            actions = engine.subscribed()
        elif kind == "announced":
            if engine.role is Role.RESERVE:
                # The head is announced: earlier entries have been moved.
                known = {due for due in known if due >= due_ms}
            known.add(due_ms)
            actions = engine.announced(due_ms, now_us)
        elif kind == "fired":
            armed_for = None
            actions = engine.fired(now_us)
        elif in_flight:
            in_flight = False
            if kind == "failed":
                actions = engine.failed(now_us)
            else:
                if role is not Role.RESERVE:
                    known = {due for due in known if due * 1000 > EPOCH_US + now_us}
                actions = transferred(engine, min(known, default=None), now_us, role)
        else:
            continue
        for action in actions:
            if action.do is Do.TRANSFER:
                assert not in_flight, "two transfers of one queue at once"
                in_flight = True
            elif action.do is Do.ARM:
                armed_for = now_us + action.delay_us
            else:
                armed_for = None
        if known and engine.state not in (State.DETACHED, State.PAUSING) and not in_flight and kind != "fired":
            assert armed_for is not None
            patience_us = RESERVE_US if engine.role is Role.RESERVE else 0
            assert armed_for <= max(now_us, min(known) * 1000 - EPOCH_US) + patience_us


def test_a_clock_that_was_set_forward_leads_to_a_timer_that_fires_sooner() -> None:
    engine = armed(9 * SECOND)
    # At 1.0 s the probe reads that the server is 5 s ahead of what it was.
    engine.measured(EPOCH_US + 6 * SECOND, SECOND, SECOND)
    assert engine.announced(EPOCH_MS + 9000, SECOND) == arm(3 * SECOND)
    assert engine.announced(EPOCH_MS + 6000, SECOND) == TRANSFER


@pytest.mark.parametrize("role", list(Role))
def test_a_clock_that_was_set_forward_beyond_the_due_time(role: Role) -> None:
    engine = armed(600 * SECOND, role)
    engine.measured(EPOCH_US + 700 * SECOND, SECOND, SECOND)
    waits = engine.announced(EPOCH_MS + 600_000, SECOND)
    assert waits == (arm(RESERVE_US) if role is Role.RESERVE else TRANSFER)


def test_a_slow_answer_does_not_count_as_a_clock_that_was_set() -> None:
    engine = armed(9 * SECOND)
    # Asked at 1 s, read by the server at 1 s, and answered at 5 s.
    engine.measured(EPOCH_US + SECOND, SECOND, 5 * SECOND)
    assert engine.announced(EPOCH_MS + 8000, 5 * SECOND) == arm(3 * SECOND)


def test_a_clock_that_was_set_back_leaves_the_timer_and_the_transfer_finds_nothing_due() -> None:
    engine = armed(9 * SECOND)
    engine.measured(EPOCH_US - 4 * SECOND, SECOND, SECOND)
    assert engine.announced(EPOCH_MS + 9000, SECOND) == ()
    assert engine.fired(9 * SECOND) == TRANSFER


def test_a_clock_that_drifts_leaves_the_timer_of_an_idle_queue() -> None:
    """Or each probe would cost a transfer."""
    engine = armed(9 * SECOND)
    for second in range(1, 9):
        engine.measured(EPOCH_US + second * SECOND + 40 * second, second * SECOND, second * SECOND)
        assert engine.announced(EPOCH_MS + 9000, second * SECOND) == ()
    assert engine.announced(EPOCH_MS + 8999, 8 * SECOND) == arm(SECOND - 1000 - 320), "another head is another matter"


def test_queues_of_one_server_learn_together() -> None:
    clock = ServerClock()
    clock.learn(EPOCH_US, 0, 50)
    engine = Engine(clock=clock)
    assert engine.announced(EPOCH_MS + 5000, 100) == TRANSFER, "where nothing is subscribed to yet, it looks"
    assert engine.transferred(EPOCH_MS + 1000, Role.ALONE, EPOCH_US + 700, 0, 900) == arm(SECOND - 900)


def test_a_transfer_that_was_early_is_told_and_the_next_one_is_not() -> None:
    engine = armed(SECOND)
    engine.fired(0)
    # Sent at 1 s, it ran 80 us before its time. The answer comes 300 us after it was sent.
    answer = engine.transferred(EPOCH_MS + 1000, Role.ALONE, EPOCH_US + SECOND - 80, SECOND, SECOND + 300)
    assert engine.was_early
    assert answer == arm(80), "after that time on this machine it is due on the server, whatever the ways are"
    engine.fired(SECOND + 380)
    assert engine.transferred(None, Role.ALONE, EPOCH_US + SECOND + 300, SECOND + 380, SECOND + 700) == DISARM
    assert not engine.was_early


@pytest.mark.parametrize("role", [Role.ALONE, Role.MOVER])
def test_a_transfer_that_finds_another_head_was_not_early(role: Role) -> None:
    """The item was cancelled, or moved by another client."""
    for head in (None, EPOCH_MS + 1001):
        engine = armed(SECOND, role)
        engine.fired(0)
        engine.transferred(head, role, EPOCH_US + SECOND - 80, SECOND, SECOND + 300)
        assert not engine.was_early


def test_a_transfer_that_no_due_time_led_to_is_never_early() -> None:
    for lead in (
        lambda engine: engine.subscribed(),
        lambda engine: (engine.fired(0), engine.failed(0), engine.fired(100_000)),
    ):
        engine = armed(SECOND)
        lead(engine)
        transferred(engine, EPOCH_MS + 1000, 200_000)
        assert not engine.was_early
    shortened = armed(60 * SECOND)
    shortened.fired(59 * SECOND)
    assert transferred(shortened, EPOCH_MS + 60_000, 59 * SECOND) == arm(SECOND)
    assert not shortened.was_early


def test_a_transfer_is_late_by_the_time_since_the_due_time_that_it_was_sent_for() -> None:
    engine = armed(SECOND)
    engine.fired(SECOND)
    assert engine.transferred(None, Role.ALONE, EPOCH_US + SECOND + 700, SECOND, SECOND + 900) == DISARM
    assert engine.late_us == 700
    engine.subscribed()
    transferred(engine, None, 2 * SECOND)
    assert engine.late_us is None, "no due time led to it"


WAYS = st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 2_000)), min_size=2, max_size=80)


@given(WAYS, st.integers(-1_000_000_000, 1_000_000_000))
def test_an_item_costs_one_transfer_more_at_most(ways: list[tuple[int, int]], ahead_us: int) -> None:
    """Whatever the ways there and back are, in microseconds."""
    engine = Engine()
    now_us, due_ms, tries = 0, (EPOCH_US + ahead_us) // 1000 + 5, 0
    actions = engine.subscribed()
    for there_us, back_us in ways:
        assert actions == TRANSFER
        script_us = EPOCH_US + ahead_us + now_us + there_us
        sent_us, now_us = now_us, now_us + there_us + back_us
        if script_us // 1000 >= due_ms:
            due_ms, tries = script_us // 1000 + 7, 0
        else:
            tries += engine.state is State.MOVING and sent_us > 0
            assert tries <= 1, "early twice for the same item"
        (action,) = engine.transferred(due_ms, Role.ALONE, script_us, sent_us, now_us)
        assert action.do is Do.ARM or action == TRANSFER[0]
        if action.do is Do.ARM:
            now_us += action.delay_us
            actions = engine.fired(now_us)
        else:
            actions = (action,)
