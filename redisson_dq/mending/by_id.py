"""Finds items by id: the id given to an offer, the id that an offer returned, or the hex id of an entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

import attrs

from redisson_dq._operations.shell import command_line
from redisson_dq.admin import AdminQueue
from redisson_dq.admin.entries import Met, unwrap
from redisson_dq.mending.queue import MendedQueue
from redisson_dq.mending.selection import Selection
from redisson_dq.mending.untouched import count_untouched
from redisson_dq.mending.walking import all_waiting
from redisson_dq.scheduling.times import from_ms

__all__ = ["IdProblem", "found_by_id"]

# Ids of a mirrored entry, a lean entry, or an entry that was leased.
_HEX = re.compile("[0-9a-f]{16}(?:[0-9a-f]{2}){0,2}")


@attrs.frozen(kw_only=True)
class IdProblem:
    """An id that names no waiting item. ``state`` is the state of its item instead. The text names the remedy.

    State "torn" means that the item is in only one of the two keys.
    """

    id: str
    state: str
    text: str

    def __str__(self) -> str:
        return f"{self.id}: {self.text}"


def found_by_id(
    queue: MendedQueue,
    ids: Sequence[str],
    *,
    stays: bool = False,
    told: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[Selection, list[IdProblem]]:
    """The waiting items with these ids, and a problem for each other id. A repeated id counts once.

    With ``stays``, for an action that keeps entries in their keys, an item that is only in the zset is selected, and is
    also a problem. Costs one round trip for each id. Bare hex ids of entries take one walk through all waiting items,
    which ``stop`` can end early.
    """
    selection, problems = Selection(queue, "waiting"), []
    with selection.unless_it_fails():
        bare: set[str] = set()
        met: dict[bytes, tuple[str, Met]] = {}
        for id in dict.fromkeys(ids):
            found = [(part, each) for part in queue.parts if (each := part.locate(id)).state != "unknown"]
            waiting = [(part, each.met) for part, each in found if each.met is not None]
            if len(waiting) == 1:
                part, entry = waiting[0]
                if entry.member not in met:
                    met[entry.member] = id, entry
                    selection.add(part, entry)
                    selection.met += 1
            elif waiting:
                problems.append(_problem(queue, id, "twice"))
            elif found:
                problems.append(_problem(queue, id, found[0][1].state, found[0][1].due_ms))
            elif _HEX.fullmatch(id):
                bare.add(id)
            else:
                problems.append(_problem(queue, id, "unknown"))
        if bare:
            problems += _walked(queue, selection, bare, met.keys(), told, stop)
        if stays:
            problems += _torn(queue, met, told, stop)
    return selection, problems


def _walked(
    queue: MendedQueue,
    selection: Selection,
    bare: set[str],
    met: Collection[bytes],
    told: Callable[[int, int], None] | None,
    stop: Callable[[], bool] | None,
) -> list[IdProblem]:
    found: dict[str, list[tuple[AdminQueue, Met]]] = {id: [] for id in bare}
    for part in queue.parts:
        for count, (row, entry) in enumerate(all_waiting(part), 1):
            if row.entry_id in found:
                found[row.entry_id].append((part, entry))
            if count % 1000 == 0:
                if told is not None:
                    told(count, selection.count)
                if stop is not None and stop():
                    break
    problems = []
    for id, entries in found.items():
        if len(entries) == 1:
            part, entry = entries[0]
            if entry.member not in met:
                selection.add(part, entry)
                selection.met += 1
        else:
            problems.append(_problem(queue, id, "twice" if entries else "unknown"))
    return problems


def _torn(
    queue: MendedQueue,
    met: Mapping[bytes, tuple[str, Met]],
    told: Callable[[int, int], None] | None,
    stop: Callable[[], bool] | None,
) -> list[IdProblem]:
    """A problem for each mirrored entry that is not in the list of envelopes. A walk skips such an entry."""
    # Leases, which have longer ids, are only in the zset.
    left = {member: id for member, (id, entry) in met.items() if len(unwrap(member)[0]) == 8 and not entry.deadline}
    if not left or not count_untouched(queue).torn:
        return []
    for part in queue.parts:
        for count, (_, entry) in enumerate(all_waiting(part), 1):
            left.pop(entry.member, None)
            if not left:
                return []
            if count % 1000 == 0:
                if told is not None:
                    told(count, len(met))
                if stop is not None and stop():
                    return []
    return [_problem(queue, id, "torn") for id in left.values()]


def _problem(queue: MendedQueue, id: str, state: str, due_ms: int = 0) -> IdProblem:
    return IdProblem(id=id, state=state, text=_advice(queue.name, id, state, due_ms))


def _advice(queue: str, id: str, state: str, due_ms: int) -> str:
    """Where the item is, and the command that helps."""
    if state == "dead":
        return f"it is a dead letter: {command_line('dead redrive', [queue, id], ['--yes'])}, or dead purge"
    if state == "ready":
        return f"it is ready, and the next consumer takes it: a call of the library, cancel({id!r}), takes it out"
    if state == "leased":
        until = from_ms(due_ms).isoformat(timespec="milliseconds") if due_ms else ""
        line = command_line("release", [queue, id], ["--yes"])
        return f"a receiver holds it until {until}: {line} gives a stuck one back"
    if state == "delivered":
        return "it was delivered and is done"
    if state == "expired":
        return (
            f"it was too late to be delivered: {command_line('list', [queue], ['--state', 'expired'])} shows the last"
        )
    if state == "torn":
        line = command_line("doctor", [queue], ["--only", "torn-entries"])
        return f"it is only in the timeout zset, and the list of envelopes still lacks it: {line}"
    shown = command_line("list", [queue])
    if state == "twice":
        return f"two items have this id: name one by its whole id, as {shown} shows it, or its partition as the queue"
    return f"no item with this id waits: {shown} shows those that do"
