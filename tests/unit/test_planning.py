"""The plan of a load: formulas against values that were measured, edges, and the spread of partitions simulated."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from redis.crc import key_slot

from redisson_dq import partition_names
from redisson_dq.cli import main
from redisson_dq.errors import ArgumentError
from redisson_dq.planning import Load, Machine, entry_bytes, plan

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"


@pytest.mark.parametrize(
    ("waiting", "size", "lean", "measured"),
    [
        (1_000_000, 5, False, 150.2),
        (1_000_000, 5, True, 125.8),
        (10_000, 100, False, 354.3),
        (10_000, 1_000, True, 1132.3),
        (10_000, 10_000, False, 20_660.3),
        (1_000_000, 16, False, 177.2),
        (10_000_000, 16, False, 188.9),
        (10_000_000, 16, True, 153.5),
    ],
)
def test_memory_is_that_of_runs(waiting: int, size: int, lean: bool, measured: float) -> None:
    assert entry_bytes(size, waiting, lean=lean) == pytest.approx(measured, rel=0.05)


@pytest.mark.parametrize("masters", [2, 3, 5, 16, 31, 32])
def test_no_master_has_more_than_the_plan_says(masters: int) -> None:
    partitions = 1 << (4 * masters - 1).bit_length()
    owners = Counter(key_slot(name.encode()) * masters // 16384 for name in partition_names("orders", partitions))
    assert len(owners) == masters
    # The points of the slots are spread as evenly as whole numbers allow, and one more where a point is at a border.
    assert max(owners.values()) <= -(-partitions // masters) + 1


def test_beyond_32_masters_the_spread_is_uneven() -> None:
    owners = Counter(key_slot(name.encode()) // 64 for name in partition_names("orders", 1024))
    assert max(owners.values()) == 9
    assert "spread evenly over 32 masters" in plan(Load(rate=1e6, delay=1000, size=200, batch=100)).problems[0]


def test_more_masters_lower_the_load_of_each_to_what_it_may_be() -> None:
    for rate in (100, 10_000, 50_000):
        found = plan(Load(rate=rate, delay=60, size=100))
        assert 0 < found.cpu_of_master <= found.machine.busy
        assert found.memory.total / found.masters <= found.machine.memory
        assert found.problems == ()


def test_lean_offers_and_larger_calls_lower_the_first_wall() -> None:
    plain = plan(Load(rate=5000, delay=3600, size=200))
    lean = plan(Load(rate=5000, delay=3600, size=200, envelope="lean", batch=100))
    assert plain.first_wall.name == "CPU of one thread"
    assert lean.first_wall.name == "memory"
    assert (plain.masters, lean.masters) == (4, 1)


def test_a_history_takes_memory_up_to_its_bound_in_each_partition() -> None:
    def bytes_of(history: int, partitions: int = 1) -> int:
        return plan(Load(rate=1, delay=1, size=1, history=history, partitions=partitions)).memory.history

    assert (bytes_of(0), bytes_of(1000), bytes_of(1000, partitions=4)) == (0, 1_200_000, 4_800_000)
    assert bytes_of(6250) == bytes_of(10**9) == 7_500_000


def test_too_few_partitions_and_consumers_are_problems() -> None:
    found = plan(Load(rate=20_000, delay=60, size=100, partitions=2, consumers=1))
    assert len(found.problems) == 2
    assert "2 partitions do not carry the load" in found.problems[0]
    assert "processes of consumers are needed" in found.problems[1]


def test_the_largest_load_has_a_plan() -> None:
    found = plan(Load(rate=1e9, delay=90 * 86400, size=10_000_000, items=10**13), Machine(memory=1))
    assert found.first_wall.name == "memory"
    assert "split the load over" in found.problems[0]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"rate": -1}, "rate"),
        ({"rate": 2e9}, "rate"),
        ({"delay": 1e12}, "delay"),
        ({"size": 2**30}, "size"),
        ({"codec": "LZ4Codec"}, "no costs of the codec 'LZ4Codec' are known"),
        ({"visibility_timeout": 0.0}, "visibility timeout"),
    ],
)
def test_a_load_out_of_bounds(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(ArgumentError, match=text):
        Load(**{"rate": 1, "delay": 1, "size": 1, **wrong})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("--rate many --delay 1h --size 1", "5k, 10MB or 4GiB, not 'many'"),
        ("--rate 1 --delay 1h30 --size 1", "not '1h30'"),
        ("--rate 1 --delay 1h --size 1GB", "size is 0 to 536,870,848 bytes"),
        ("--rate 2G --delay 1h --size 1", "rate is 0 to 1,000,000,000"),
        ("--rate 1 --delay 1h --size 1 --codec nope", "'nope'"),
        ("--rate 1 --delay 1h --size 1 --partitions 0", "from 1 to 1024"),
        ("--rate 1 --delay 1h", "--size"),
        ("--rate 1 --delay 1h --size 1 --memory 0", "memory is 1 to"),
    ],
)
def test_what_cannot_be_planned(arguments: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *arguments.split()]) == 64
    assert text in capsys.readouterr().err


def test_a_plan_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--rate", "5k", "--delay", "1h30m", "--size", "0.2kB", "--codec", "json", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["waiting"], found["load"]["codec"]) == (1, 27_000_000, "JsonJacksonCodec")
    assert found["memory"]["total"] > found["memory"]["used"] > found["memory"]["entries"] > 0
    assert found["first_wall"] == found["walls"][0]["name"]


def test_the_page_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    sessions = re.findall(r"```console\n\$ redisson-dq (.*?)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(sessions) == 3
    for line, told in sessions:
        main(line.split())
        assert capsys.readouterr().out.strip() == told.strip()
