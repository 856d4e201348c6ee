"""Values that came while their handler had no free slot: when they come again."""

from __future__ import annotations

from redisson_dq.working.parking import Parking


def open_for(seconds: float) -> tuple[Parking, float]:
    """A handler that has been full for so long, and the time."""
    parking = Parking()
    parking.begin(100.0)
    assert parking.moment is not None
    assert not parking.is_open
    assert parking.reach(parking.moment)
    assert parking.is_open
    return parking, 100.0 + seconds


def test_a_handler_that_is_full_for_a_moment_holds_up_the_others() -> None:
    parking = Parking()
    assert not parking.is_open
    parking.begin(100.0)
    assert not parking.reach(100.04)
    # What comes for it meanwhile goes back to the head, and nobody passes.
    assert parking.park(3, 100.04) == 0
    parking.end()
    assert not parking.is_open
    assert parking.moment is None
    assert not parking.reach(200.0)


def test_the_moment_is_told_once_and_counts_from_the_first_time_it_was_full() -> None:
    parking = Parking()
    parking.begin(100.0)
    parking.begin(100.04)
    assert parking.reach(100.051)
    assert not parking.reach(100.06)
    parking.begin(100.07)
    assert parking.is_open


def test_the_pause_grows_with_the_time_for_which_it_has_been_full() -> None:
    pauses = []
    for seconds in (0.1, 2.0, 60.0):
        parking, now = open_for(seconds)
        pauses.append(parking.park(1, now))
    assert [round(pause, 6) for pause in pauses] == [0.11, 0.51, 1.01]


def test_parked_values_come_again_in_their_order_and_at_most_100_a_second() -> None:
    parking, now = open_for(60)
    comes = []
    for _ in range(100):
        comes.append(now + parking.park(8, now))
        now += 0.001
    assert comes == sorted(comes)
    assert comes[-1] - comes[0] > 99 * 8 * 0.01 - 1


def test_who_stands_behind_a_thousand_of_them_is_held_up_again() -> None:
    parking, now = open_for(60)
    parking.park(900, now)
    assert parking.is_open
    parking.park(400, now)
    assert not parking.is_open
    assert parking.moment is not None
    # Until the last one comes within ten seconds.
    assert not parking.reach(now + 3.9)
    assert parking.reach(now + 4.1)
    assert parking.is_open
    # A handler that was free meanwhile is no exception.
    parking.park(400, now + 4.1)
    parking.end()
    parking.begin(now + 4.2)
    assert not parking.reach(now + 4.3)


def test_ten_values_of_a_handler_that_never_ends_are_parked_once_a_second_each() -> None:
    parking, now = open_for(0.05)
    due = sorted(now + parking.park(1, now) for _ in range(10))
    count = 10
    while due[0] < 1000:
        now = due.pop(0)
        count += 1
        due = sorted([*due, now + parking.park(1, now)])
    assert count <= 10 * (1000 - 100) + 100
