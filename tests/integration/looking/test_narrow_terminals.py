"""The commands that look, at terminals of several widths: no line is wider, and no name is cut."""

from __future__ import annotations

import os
import re
import shlex
import sys
import threading
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.codecs import JsonJacksonCodec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import emptied

WIDTHS = (40, 60, 80, 120)
#: Names of queues: a short one, one of many words, one without a blank, a wide one.
NAMES = (
    "bills",
    "orders:notifications-of-customers-in-the-north",
    "parcels of the depot by the river",
    "\N{CJK UNIFIED IDEOGRAPH-8BA2}\N{CJK UNIFIED IDEOGRAPH-5355}" * 6,
)
LONG = NAMES[1]
#: Each command that looks, and names that its output has to show whole.
LOOKS = {
    "queues": NAMES,
    f"queues {LONG}": (LONG,),
    f"stats {LONG} bills nowhere": (LONG, "bills", "nowhere"),
    # It cuts a long name, with dots.
    f"watch bills {LONG} --count 1": ("bills", "orders:notifications-"),
    f"list {LONG}": ("order-1",),
    "list bills --state ready": ("ready@0",),
    "list bills --state in-flight": (),
    f"show {LONG} order-1": (LONG, "order-1"),
    f"peek {LONG} --count 3": (),
    "dead list bills": (),
    "dead show bills LETTER": ("LETTER",),
    "quarantine list bills": (),
    "undecodable list bills": (),
    "doctor": NAMES[:2],
    f"doctor {LONG}": (LONG,),
    "doctor --list-checks": ("mixed-envelopes",),
    "plan --rate 5000 --delay 1h --size 200": ("fragmentation",),
    "plan --rate 500k --delay 1d --size 2000 --partitions 1 --consumers 1": ("partitions",),
}

Show = Callable[[str, int], str]


@pytest.fixture(scope="module")
def filled(servers: Any) -> tuple[str, str]:
    """The URL of a server with queues, and the id of a dead letter."""
    server: EmbeddedServer = emptied(servers("redis"))
    with redisson_dq.connect(server.url) as client:
        for name in NAMES:
            orders = client.delayed_queue(name, JsonJacksonCodec(), transfer=False)
            for i, delay in enumerate((0, 3600, 7200), 1):
                orders.offer({"id": i, "note": "a long note of some words " * 12}, delay=delay, id=f"order-{i}")
        bills = client.blocking_queue("bills", StringCodec(), transfer=False)
        bills.add_all(["x" * 90, "two words", "three of these words"])
        bills.receive(timeout=5, visibility_timeout=600)
        delivery = bills.receive(timeout=5, visibility_timeout=600)
        assert delivery is not None
        delivery.reject("no stock of this article in any of the depots")
        (letter,) = bills.dead_letters()
    keys = QueueKeys.of("bills")
    with redis.Redis.from_url(server.url) as admin:
        admin.rpush(keys.quarantine, b"1 " + b"\xff" * 40)
        admin.rpush(keys.undecodable, b"\xff\xfe\x00" * 40)
    return server.url, letter.id


@pytest.fixture
def show(filled: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> Show:
    """Runs a command whose standard output is a terminal. Gives its output."""
    monkeypatch.setenv("REDISSON_DQ_URL", filled[0])
    monkeypatch.setenv("TERM", "xterm")

    def show(line: str, width: int) -> str:
        monkeypatch.setenv("COLUMNS", str(width))
        near, far = os.openpty()
        got: list[bytes] = []

        def read() -> None:
            # Linux tells the end of a terminal by an error.
            while some := _read(near):
                got.append(some)

        reader = threading.Thread(target=read)
        reader.start()
        with os.fdopen(far, "w", encoding="utf-8") as terminal:
            monkeypatch.setattr(sys, "stdout", terminal)
            main(shlex.split(line.replace("LETTER", filled[1])))
        reader.join()
        os.close(near)
        return b"".join(got).decode().replace("\r\n", "\n")

    return show


def _read(near: int) -> bytes:
    try:
        return os.read(near, 65536)
    except OSError:
        return b""


def columns(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", text)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("line", LOOKS)
def test_no_line_is_wider_and_no_name_is_lost(show: Show, filled: tuple[str, str], line: str, width: int) -> None:
    text = without_colours(show(line, width))
    wide = [each for each in re.split(r"[\r\n]+", text) if columns(each) > width]
    # A word of a command line stays whole, as it could not be pasted otherwise.
    assert [each for each in wide if len(shlex.split(each.removesuffix(" \\"))) > 1] == []
    for name in LOOKS[line]:
        # Between such parts a long name may be folded.
        for part in re.findall("[^-: ]+[-: ]?", name.replace("LETTER", filled[1])):
            assert part.strip() in text


def test_a_word_that_fits_is_not_broken(show: Show) -> None:
    """Of sentences, and of cells with several words."""
    words = set(re.findall(r"[a-z]{4,}", without_colours(show("doctor", 400))))
    for width in WIDTHS:
        told = set(re.findall(r"[a-z]{4,}", without_colours(show("doctor bills", width))))
        assert told - words == set()


def test_a_command_that_is_folded_is_one_for_a_shell(show: Show) -> None:
    def commands(text: str) -> set[str]:
        joined = re.sub(r" \\\n +", " ", without_colours(text))
        return set(re.findall(r"(?:redis-cli|redisson-dq) .*", joined))

    whole = {re.sub(r"\d{13}", "MS", each) for each in commands(show("doctor bills", 4000))}
    assert len(whole) > 3
    narrow = show("doctor bills", 60)
    assert " \\\n" in narrow
    assert {re.sub(r"\d{13}", "MS", each) for each in commands(narrow)} == whole


def test_without_a_terminal_lines_stay_whole(
    filled: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REDISSON_DQ_URL", filled[0])
    monkeypatch.setenv("COLUMNS", "40")
    main(["doctor", "bills"])
    out = capsys.readouterr().out
    assert any(line.startswith("  shown by  redis-cli ") and len(line) > 60 for line in out.splitlines())
    assert " \\\n" not in out
