"""Queues that are refused for one cause share their pauses. Time is an argument."""

from __future__ import annotations

from redisson_dq.working.shared_pauses import ACCEPTED, PAUSES, SharedPauses

QUEUES = [f"queue-{number}" for number in range(13)]


def until_tried(refused: SharedPauses[str]) -> tuple[float, list[str]]:
    """When the next tries come, and those that try."""
    moment = refused.next_moment
    assert moment is not None
    return moment, refused.due(moment)


def test_many_queues_that_are_refused_for_long_try_a_few_times_a_second_in_turn() -> None:
    refused: SharedPauses[str] = SharedPauses()
    for queue in QUEUES:
        refused.failed(queue, "no right", 0.0)
    now, tries, last = 0.0, 0, dict.fromkeys(QUEUES, 0.0)
    while now < 120:
        now, tried = until_tried(refused)
        for queue in tried:
            tries += 1
            last[queue] = now
            refused.failed(queue, "no right", now + 0.01)
    assert tries / now < 1.5
    # None is left out.
    assert min(last.values()) > now - 30


def test_when_those_that_try_are_not_refused_all_go_on() -> None:
    refused: SharedPauses[str] = SharedPauses()
    for queue in QUEUES:
        refused.failed(queue, "no right", 0.0)
    now, tried = until_tried(refused)
    assert 0 < now <= PAUSES[0]
    assert 0 < len(tried) < len(QUEUES)
    assert refused.due(now + ACCEPTED / 2) == []
    later, others = until_tried(refused)
    assert later - now <= ACCEPTED
    assert sorted([*tried, *others]) == sorted(QUEUES)
    assert refused.next_moment is None


def test_a_value_lets_the_others_go_on_at_once() -> None:
    refused: SharedPauses[str] = SharedPauses()
    for queue in QUEUES:
        refused.failed(queue, "no right", 0.0)
    _, tried = until_tried(refused)
    assert sorted([*tried, *refused.went_well(tried[0])]) == sorted(QUEUES)
    assert refused.went_well(tried[0]) == []


def test_each_cause_has_a_pause_of_its_own() -> None:
    refused: SharedPauses[str] = SharedPauses()
    refused.failed("a", "no right", 0.0)
    refused.failed("b", "no memory", 100.0)
    assert refused.due(50.0) == ["a"]
    assert refused.went_well("a") == []
    assert refused.due(100.0) == []
    # It is refused for another cause now, and shares that pause.
    refused.failed("a", "no memory", 100.0)
    assert sorted(refused.due(200.0) + refused.due(300.0)) == ["a", "b"]


def test_the_pauses_of_one_queue_grow_until_it_has_waited() -> None:
    refused: SharedPauses[str] = SharedPauses()
    now, pauses = 0.0, []
    for _ in range(5):
        refused.failed("a", "no right", now)
        then, tried = until_tried(refused)
        assert tried == ["a"]
        pauses.append(then - now)
        now = then + 0.01
    assert pauses[0] <= PAUSES[0] < pauses[-1] <= PAUSES[1]
    # Nobody has asked meanwhile what is due.
    refused.failed("a", "no right", now + 10 * ACCEPTED)
    moment = refused.next_moment
    assert moment is not None
    assert moment - now - 10 * ACCEPTED <= PAUSES[0]


def test_a_queue_that_is_left_tries_no_more() -> None:
    refused: SharedPauses[str] = SharedPauses()
    refused.failed("a", "no right", 0.0)
    refused.failed("b", "no right", 0.0)
    refused.forget("a")
    assert until_tried(refused)[1] == ["b"]
    refused.forget("b")
    assert refused.next_moment is None
