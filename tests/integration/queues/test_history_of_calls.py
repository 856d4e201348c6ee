"""Each public call that moves an item has an event in the history, or the page says that it has none."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.wire.keys import DeadKeys
from tests.conftest import by_night
from tests.integration.calls import CALLS, Call, fill, queue_for, subject
from tests.integration.conftest import KEYS

PAGE = Path(__file__).parents[3] / "docs/how-to/history.md"
_PLACES = (KEYS.ready, KEYS.arrivals, KEYS.timeout, KEYS.envelopes, KEYS.leases, DeadKeys.belonging_to("orders").dead)
#: A lease goes on, the keys go to another name together with the history, or an earlier state comes.
_NO_EVENT = {
    *("delivery.extend", "delivery.save"),
    *("delayed.delete", "delayed.unlink", "delayed.rename", "delayed.rename_if_free", "delayed.restore_and_replace"),
}
_KINDS = ("queue", "deque", "bounded", "delayed", "lean", "item", "delivery")


def unnoted() -> list[str]:
    """The patterns of the calls of a ready queue that the page names."""
    text = PAGE.read_text().partition("On the ready queue these are")[2].partition("`receive()`")[0]
    return re.findall(r"`([a-z_*]+)\(\)`", text)


def is_silent(client: Any, admin: Any, call: Call) -> bool | None:
    """Whether the call changes places and notes nothing; None if it changes none."""
    admin.flushall()
    delayed = queue_for(client, "delayed")
    delayed.set_history(1000)
    fill(client, admin, KEYS)
    admin.rpush("other", "a")
    handle = subject(queue_for(client, call.kind), call.kind)

    def places() -> list[bytes]:
        with admin.pipeline() as pipe:
            for key in _PLACES:
                pipe.dump(key)
            return list(pipe.execute())

    before, last = places(), admin.xrevrange(KEYS.events, count=1)
    call.run(handle)
    if places() == before:
        return None
    return last == admin.xrevrange(KEYS.events, count=1) or not admin.exists(KEYS.events)


@pytest.mark.parametrize(
    "kind", [kind if kind in ("queue", "delayed", "delivery") else by_night(kind) for kind in _KINDS]
)
def test_each_call_is_noted_or_named(client: Any, admin: Any, kind: str) -> None:
    found = {
        str(call): (call.name, is_silent(client, admin, call)) for call in CALLS if call.kind == kind and not call.local
    }
    silent = {call: told for call, (_, told) in found.items() if told is not None}
    assert silent
    patterns = unnoted() if kind in ("queue", "deque", "bounded") else []
    kind = "delayed" if kind == "lean" else kind
    assert silent == {
        call: f"{kind}.{name}" in _NO_EVENT or any(fnmatch(name, pattern) for pattern in patterns)
        for call, (name, told) in found.items()
        if told is not None
    }


def test_the_page_names_only_calls() -> None:
    names = {call.name for call in CALLS if call.kind in ("queue", "deque")}
    assert [each for each in unnoted() if not any(fnmatch(name, each) for name in names)] == []
