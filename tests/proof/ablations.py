"""Removes one safeguard of the library at a time, and requires that a trial fails.

Each is one line that is broken in a copy of the tree, as ``tests/mutations.py`` does. The trials find nothing with the
tree as it is (``test_trials.py``).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs

from tests.mutations import Mutation, broken_tree

__all__ = ["ABLATIONS", "FOUND", "Ablation", "Betrayed", "ablated", "table"]

_INCLUDE = "redisson_dq/scripts/include"
_SCRIPTS = "redisson_dq/scripts"
#: The exit code of a trial with a finding. A trial that crashed has another one.
FOUND = 3
# Seconds, far more than a trial takes on a quiet machine.
_PATIENCE = 240
# How a line with a finding begins.
_KINDS = tuple(
    f"{kind}:"
    for kind in [
        "walk",
        "lost",
        "twice",
        "early",
        "overlap",
        "stale",
        "outcome",
        "late",
        "renewal",
        "stuck",
        "limit",
        "rate",
        "order",
    ]
)


@attrs.frozen
class Ablation:
    """``line`` of the file at ``path`` is the safeguard. Without it (``broken``) the trial finds something."""

    safeguard: str
    path: str
    line: str
    broken: str
    trial: str


@attrs.frozen
class Betrayed:
    """The result of removing a safeguard: the finding, or "" if there was none."""

    ablation: Ablation
    finding: str

    @property
    def told(self) -> str:
        """The finding in one line."""
        lines = [line.strip() for line in self.finding.splitlines() if line.strip()]
        found = next((line for line in lines if line.startswith(_KINDS)), lines[0] if lines else "NOT FOUND")
        found = re.sub(r"(item:\S+ of \S+: )|(?<=\w)--+", "", found)
        if found.startswith("walk: "):
            way, _, rest = found.removeprefix("walk: ").partition(": ")
            calls = (call.split() for call in way.split(" / "))
            found = "`" + ",".join(f"{f}({','.join(of)})" if of else f for f, *of in calls) + f"`: {rest}"
        return found.replace("|", "/")[:240]


ABLATIONS = [
    Ablation(
        "A receipt counts until its deadline",
        f"{_INCLUDE}/held.lua",
        "found[start + i - 1] = deadline and tonumber(deadline) > now_ms and deadline",
        "found[start + i - 1] = deadline",
        "walk",
    ),
    Ablation(
        "An offer under an id is made once",
        f"{_SCRIPTS}/offer_item.lua",
        "if is_duplicate and on_duplicate ~= 'replace' then",
        "if false then",
        "walk",
    ),
    Ablation(
        "A receive that is sent again gives the leases of the first one",
        f"{_SCRIPTS}/receive.lua",
        "if again and granted_before(nonce, now_ms) then",
        "if false then",
        "walk",
    ),
    Ablation(
        "What is not due is not moved",
        f"{_SCRIPTS}/transfer.lua",
        "redis.call('ZCOUNT', keys.timeout, '-inf', now_ms)",
        "redis.call('ZCARD', keys.timeout)",
        "walk",
    ),
    Ablation(
        "An item that was cancelled while it was leased comes no more",
        f"{_SCRIPTS}/receive.lua",
        "  if was_cancelled(d) then",
        "  if was_cancelled(d) and false then",
        "walk",
    ),
    Ablation(
        "A value that crashes its receivers becomes a dead letter",
        f"{_SCRIPTS}/receive.lua",
        "elseif d and limit > 0 and d.attempt >= limit then",
        "elseif false then",
        "walk",
    ),
    Ablation(
        "A new time that was given to a leased item is for that lease",
        f"{_INCLUDE}/settle.lua",
        "return lease == id and math.max(tonumber(due), now_ms) or nil",
        "return math.max(tonumber(due), now_ms)",
        "walk",
    ),
    Ablation(
        "An entry leaves in the script that delivers it",
        f"{_INCLUDE}/deliver.lua",
        "redis.call('ZREMRANGEBYRANK', keys.timeout, 0, count - 1)",
        "redis.call('ZCARD', keys.timeout)",
        "walk",
    ),
    Ablation(
        "The server's clock alone decides what is due",
        f"{_SCRIPTS}/transfer.lua",
        "local now_us, now_ms = server_time()",
        "local now_us, now_ms = server_time()\nnow_ms = now_ms + 100",
        "faults/nothing/threads",
    ),
    Ablation(
        "A value goes back whose caller has left",
        "redisson_dq/waits/steps.py",
        "self.surplus += values",
        "pass",
        "departures",
    ),
    Ablation(
        "A value goes back once, however often that is sent",
        f"{_INCLUDE}/once.lua",
        "redis.call('ZADD', keys.returned, 'NX', now_ms, nonce) == 0",
        "redis.call('ZADD', keys.returned, 'NX', now_ms, nonce) == 2",
        "departures",
    ),
    Ablation(
        "A confirmed subscription leads to a transfer",
        "redisson_dq/scheduling/engine.py",
        "(State.RESTING, Trigger.SUBSCRIBED): _MOVE,",
        "(State.RESTING, Trigger.SUBSCRIBED): (State.RESTING, ()),",
        "subscriptions",
    ),
    Ablation(
        "A reserve takes over from a mover that stands still",
        f"{_INCLUDE}/mover.lua",
        "return overdue and moved_us + 0 < now_us - GRACE_US and 'mover' or 'reserve', tonumber(announced_us)",
        "return 'reserve', tonumber(announced_us)",
        "movers",
    ),
    Ablation(
        "A lease is renewed while its receiver works",
        "redisson_dq/_async/leases/renewal.py",
        "if await self._renew(settling, deliveries):",
        "if True:",
        "renewals",
    ),
    Ablation(
        "What is no entry is set aside",
        f"{_INCLUDE}/envelope.lua",
        "  return nil\n",
        "  error('bad data format')\n",
        "foreign",
    ),
    Ablation(
        "A key has its slots, and no more",
        f"{_SCRIPTS}/admit.lua",
        "first and not in_order and not v.returns or slots.taken(limit, now_ms) >= limit.slots) then",
        "first and not in_order and not v.returns) then",
        "keys",
    ),
    Ablation(
        "Each value of a key takes a token",
        f"{_SCRIPTS}/admit.lua",
        "buckets.write(limit, bucket.from, bucket.level - 1, bucket.booked, now_us)",
        "buckets.write(limit, bucket.from, bucket.level, bucket.booked, now_us)",
        "keys",
    ),
]


def ablated(ablation: Ablation, seed: int, tries: int = 4) -> Betrayed:
    """Runs the trial in a tree without the safeguard, with a limited number of seeds."""
    for number in range(tries):
        found = _tried(ablation, seed + number)
        if found.finding:
            break
    return found


def _tried(ablation: Ablation, seed: int) -> Betrayed:
    mutation = Mutation(ablation.safeguard, ablation.path, ablation.line, ablation.broken, ablation.trial)
    with tempfile.TemporaryDirectory() as place:
        tree = broken_tree(Path(place), mutation)
        command = [sys.executable, "-m", "tests.proof", "trial", ablation.trial, "--seed", str(seed)]
        environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            return Betrayed(ablation, f"stuck: the trial did not end in {_PATIENCE} s")
    if done.returncode not in (0, FOUND):
        raise RuntimeError(f"{ablation.safeguard}: the trial broke: {done.stdout}{done.stderr}")
    return Betrayed(ablation, done.stdout if done.returncode else "")


def table(found: list[Betrayed]) -> Iterator[str]:
    """The lines of a table: each safeguard, and what goes wrong without it. The steps of a walk are left out."""
    yield "| safeguard | trial | without it |"
    yield "|---|---|---|"
    for each in found:
        told = each.told.rpartition(": ")[2] if " / " in each.told else each.told
        yield f"| {each.ablation.safeguard} | `{each.ablation.trial}` | {told} |"
