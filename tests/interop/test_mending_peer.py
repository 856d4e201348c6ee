"""Actions on entries that a running Redisson has written. Java delivers what is left and what was put back."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from redisson_dq.browsing import Filter
from redisson_dq.cli import main
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.mending import (
    Acting,
    MendedQueue,
    UndoFile,
    UndoWriter,
    filtered,
    mend_waiting,
    select_waiting,
    undo,
)
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import QueueKeys
from tests.interop.conftest import OpenJava
from tests.peer import VERSIONS, from_json

HOUR_MS = 3_600_000


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_entries_of_java_are_cancelled_put_off_and_put_back(
    redis7: EmbeddedServer,
    look: Any,
    java: OpenJava,
    queue: str,
    version: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    peer = java(redis7.url, version=version)
    values = [f"value-{i}" for i in range(60)]
    peer.offer_all([(value, HOUR_MS) for value in values])
    keys = QueueKeys.of(queue)
    with redisson_dq.connect(redis7.url) as client:
        mended = MendedQueue(client, queue)
        path = tmp_path / "f"
        wanted = filtered(Filter("value ~ '7'"))
        with select_waiting(mended, wanted) as chosen, UndoWriter.new(path, mended, "cancel", "", "") as file:
            assert mend_waiting(chosen, "cancel", 0, Acting(undo=file)).done == 6
        assert Counter(peer.invoke("delayed", "readAll")) == Counter(each for each in values if "7" not in each)

        # By the hex id of its entry alone, which is all that Java gives it.
        monkeypatch.setenv("REDISSON_DQ_URL", redis7.url)
        monkeypatch.chdir(tmp_path)
        entry, _ = unwrap(look.zrange(keys.timeout, 0, 0)[0])
        assert main(["cancel", queue, entry.hex(), "--yes", "--json", "--undo-file", "g"]) == 0
        assert json.loads(capsys.readouterr().out)["done"] == 1
        assert peer.invoke("delayed", "size") == 53

        assert undo(mended, UndoFile.read(path)).done == 6
        assert main(["undo", "g", "--yes"]) == 0
        assert Counter(peer.invoke("delayed", "readAll")) == Counter(values)
        assert look.zcard(keys.timeout) == look.llen(keys.envelopes) == 60

        # Java, which listens, is told of the new head and delivers all of them.
        peer.call("open_delayed")
        taking = peer.taking(60)
        with select_waiting(mended) as chosen:
            assert mend_waiting(chosen, "to", mended.now_ms()).done == 60
    taken = [from_json(item["value"]) for item in taking.result(60)]
    assert Counter(taken) == Counter(values)
