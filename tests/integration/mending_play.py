"""Every command that changes items, played on any server: a Sentinel's master, a cluster, one behind TLS."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.codecs import StringCodec

__all__ = ["play"]

HOUR = 3600


def play(url: str, capsys: pytest.CaptureFixture[str], partitions: int | None = None) -> None:
    """Plays the commands in the working directory."""
    options: dict[str, Any] = {} if partitions is None else {"partitions": partitions}
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("played", transfer=False, **options)
        queue = client.blocking_queue("played", transfer=False, **options)
        for number in range(12):
            delayed.offer(f"value {number}", HOUR, id=f"id {number}")
        dues = {item.id: item.due for item in delayed.items()}

        def told(line: str) -> dict[str, Any]:
            capsys.readouterr()
            assert main([*shlex.split(line), "--url", url, "--json"]) == 0, line
            found: dict[str, Any] = json.loads(capsys.readouterr().out)
            return found

        def ids() -> list[str]:
            return sorted(item.id for item in delayed.items())

        assert told("cancel played --all --dry-run")["wanted"] == 12
        assert told("cancel played 'id 1' 'id 2' --yes --undo-file one")["done"] == 2
        assert told("cancel played --filter 'id = \"id 3\"' --yes --undo-file two")["done"] == 1
        assert "id 3" not in ids()
        assert told("undo two --yes")["done"] == 1
        assert told("undo one --yes")["done"] == 2
        again = told("undo one --yes")
        assert (again["done"], again["before"]) == (0, 2)
        assert told("reschedule played --all --by 5m --yes --undo-file later")["done"] == 12
        assert all(item.due > dues[item.id] for item in delayed.items())
        assert told("undo later --yes")["done"] == 12
        assert {item.id: item.due for item in delayed.items()} == dues
        told("pause played --yes --undo-file paused")
        assert all(part.is_paused() for part in getattr(delayed, "partitions", [delayed]))
        told("undo paused --yes")
        told("pause played --yes --no-undo")
        told("resume played --yes --no-undo")
        assert told("run-now played 'id 4' 'id 5' --yes --undo-file now")["done"] == 2
        mover = client.delayed_queue("played", **options)
        mover.start_moving()
        held = [queue.receive(timeout=30, visibility_timeout=HOUR) for _ in range(2)]
        held[0].reject("no stock")
        letters = told("dead list played")["items"]
        assert [each["reason"] for each in letters] == ["no stock"]
        assert told(f"dead show played {shlex.quote(letters[0]['id'])}")["items"][0]["value"] == held[0].value
        assert told("dead redrive played --all --yes --undo-file dead")["done"] == 1
        assert told("undo dead --yes")["done"] == 1
        assert told("dead purge played --all --yes --no-undo")["done"] == 1
        assert told("release played --all --yes")["done"] == 1
        assert queue.receive(timeout=30, visibility_timeout=HOUR).ack()
        for kind in ("quarantine", "undecodable"):
            assert told(f"{kind} list played")["items"] == []
            assert told(f"{kind} purge played --all --yes")["done"] == 0
        assert sorted(ids()) == sorted(f"id {number}" for number in range(12) if number not in (4, 5))
        mover.destroy()
