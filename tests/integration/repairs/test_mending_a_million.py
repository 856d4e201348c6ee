"""Actions beside 1,000,000 waiting items: how many entries each script looks at, and how many calls they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.mending import Acting, MendedQueue, UndoFile, UndoWriter, mend_waiting, select_waiting, undo
from redisson_dq.wire.keys import QueueKeys
from tests.benchmarks import entries

pytestmark = pytest.mark.nightly

COUNT = 1_000_000
KEYS = QueueKeys.of("orders")
KINDS: dict[str, Callable[[str, str, int], None]] = {
    "mirrored": entries.mirrored,
    "java": entries.java,
    "lean": entries.lean,
}
#: A walk looks at so many entries in one call, which takes Redis some 3 ms.
MOST_MET = 1600


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, servers: Callable[[str], EmbeddedServer]) -> Iterator[str]:
    made = servers("redis").url
    with redis.Redis.from_url(made) as admin:
        admin.flushall()
        KINDS[request.param](made, "orders", COUNT)
        yield made
        admin.flushall()


def test_each_script_looks_at_few_and_an_action_takes_few_calls(url: str, tmp_path: Path) -> None:
    with redis.Redis.from_url(url) as admin, redisson_dq.connect(url) as client:
        mended = MendedQueue(client, "orders")
        met: list[int] = []
        run = mended.admin.run

        def counted(request: Any, node: Any = None) -> Any:
            reply = run(request)
            if request.name == "mend_walk":
                met.append(len(reply.met))
            return reply

        mended.admin.run = counted  # type: ignore[method-assign]
        listed = admin.llen(KEYS.envelopes)
        numbers = iter(range(COUNT))
        path = tmp_path / "undo"
        with (
            select_waiting(mended, lambda row: next(numbers) % 1000 == 500) as chosen,
            UndoWriter.new(path, mended, "cancel", "", "") as file,
        ):
            assert (chosen.met, chosen.count) == (COUNT, 1000)
            assert max(met) <= MOST_MET
            assert mend_waiting(chosen, "cancel", 0, Acting(undo=file)).done == 1000
        assert admin.zcard(KEYS.timeout) == COUNT - 1000
        assert admin.llen(KEYS.envelopes) == (listed - 1000 if listed else 0)
        found = UndoFile.read(path)
        # One goes along the list once for many entries, whatever made their ids.
        assert len(found.batches) <= 20
        assert undo(mended, found).done == 1000
        assert admin.zcard(KEYS.timeout) == COUNT
        assert admin.llen(KEYS.envelopes) == listed
