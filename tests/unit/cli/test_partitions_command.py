"""``redisson-dq partitions``: the names that the library uses, one a line."""

from __future__ import annotations

import json

import pytest

from redisson_dq import partition_names
from redisson_dq.cli import main


@pytest.mark.parametrize("prefix", [None, "shop:"])
def test_the_names(prefix: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    options = [] if prefix is None else ["--prefix", prefix]
    assert main(["partitions", "orders", "16", *options]) == 0
    assert capsys.readouterr().out.splitlines() == partition_names("orders", 16, prefix)


def test_the_names_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partitions", "orders", "4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"schema": 1, "queue": "orders", "partitions": partition_names("orders", 4)}


@pytest.mark.parametrize("arguments", [["{shop}orders", "16"], ["orders", "0"], ["orders", "1025"]])
def test_what_cannot_be_partitioned(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partitions", *arguments]) == 64
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("redisson-dq: error: queue ")


def test_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partitions", "orders", "many"]) == 64
    assert "COUNT" in capsys.readouterr().err
