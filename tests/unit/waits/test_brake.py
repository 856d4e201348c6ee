"""The brake of a lookout: it acts in a storm, and in nothing that looks alike."""

from __future__ import annotations

from redisson_dq.waits.brake import Brake


def test_a_storm_is_slowed_down_until_it_is_over() -> None:
    brake = Brake()
    for _ in range(40):
        brake.told(50, 10.0)
    assert brake.pause(sources=500, now=10.1) > 0
    assert brake.pause(sources=500, now=10.9) > 0
    assert brake.pause(sources=500, now=11.0) == 0


def test_the_first_look_at_all_and_a_flush_are_no_storm() -> None:
    brake = Brake()
    brake.told(1000, 10.0)
    brake.told(1000, 10.5)
    assert brake.pause(sources=1000, now=10.6) == 0


def test_values_of_which_many_processes_are_told_are_no_storm() -> None:
    brake = Brake()
    for _ in range(100):
        brake.told(64, 10.0)
        brake.came(1)
    assert brake.pause(sources=1, now=10.5) == 0
