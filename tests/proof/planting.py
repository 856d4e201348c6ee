"""Plants a defect in a right history. A checker that does not find it is broken."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from tests.proof.making import AHEAD_US, MS, ORDERED, QUEUE, Lines, right
from tests.proof.making_bounds import BOUNDS, with_bounds

__all__ = ["PLANTS", "planted"]


def planted(kind: str, seed: int, steps: int = 300) -> Lines:
    """A history with a defect of this kind."""
    rng = random.Random(f"{kind}-{seed}")
    for attempt in range(100):
        lines = right(1000 * seed + attempt, steps)
        if PLANTS[kind](lines, rng):
            lines.sort(key=lambda line: line["time"])
            return lines
    raise AssertionError(f"no place to plant {kind}")


def _done(lines: Lines, f: str, queue: str = QUEUE) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Calls that were answered: their two lines."""
    begun = {line["op"]: line for line in lines if line["type"] == "invoke"}
    for line in lines:
        if line["type"] == "ok" and line["f"] == f and line["queue"] == queue:
            yield begun[line["op"]], line


def _one_of(rng: random.Random, found: Sequence[Any]) -> Any:
    return rng.choice(found) if found else None


def _more(lines: Lines, after: int, f: str, asked: Any, told: Any, **more: Any) -> None:
    """One more call, by a process of its own."""
    op = max(line.get("op", 0) for line in lines) + 1
    both = {"op": op, "process": f"planted-{op}", "f": f, "queue": QUEUE}
    lines.append({"type": "invoke", **both, "value": asked, **more, "time": after + 1000})
    lines.append({"type": "ok", **both, "value": told, "time": after + 2000})


def _offers(lines: Lines) -> dict[str, tuple[dict[str, Any], dict[str, Any], int]]:
    """By item: the lines of its answered offer, and its place in them."""
    return {
        item: (begin, end, number)
        for begin, end in _done(lines, "offer")
        for number, (item, _) in enumerate(begin["value"])
    }


def _only(lines: Lines, item: str, but: Sequence[str]) -> bool:
    """Whether no other call names the item, but these."""
    return not any(
        f'"{item}"' in str(line["value"]).replace("'", '"')
        for line in lines
        if line.get("f") not in (None, "look", *but) and line["type"] != "clock"
    )


def _only_taken(lines: Lines) -> list[tuple[Any, str]]:
    """The items that were offered and taken, each with the end of its take, and no other call names them."""
    offers = _offers(lines)
    return [
        (end, item)
        for _, end in _done(lines, "take")
        for item in end["value"]
        if item in offers and _only(lines, item, ("offer", "take"))
    ]


def _lost(lines: Lines, rng: random.Random) -> bool:
    """A value was taken, and the answer of the take has lost it."""
    chosen = _one_of(rng, _only_taken(lines))
    if chosen:
        chosen[0]["value"].remove(chosen[1])
    return chosen is not None


def _doubled(lines: Lines, rng: random.Random) -> bool:
    """A value that was taken or acked is taken again."""
    found = [(end, item) for _, end in _done(lines, "take") for item in end["value"]]
    found += [(end, begin["value"][0][0]) for begin, end in _done(lines, "ack") if end["value"] == ["acked"]]
    chosen = _one_of(rng, found)
    if chosen:
        _more(lines, chosen[0]["time"], "take", 1, [chosen[1]])
    return chosen is not None


def _early(lines: Lines, rng: random.Random) -> bool:
    """A value came before its time."""
    chosen = _one_of(rng, _only_taken(lines))
    if chosen:
        taken, item = chosen
        begin, end, number = _offers(lines)[item]
        due = (taken["time"] // 1000 + AHEAD_US) // 1000 + rng.randint(3, 200)
        end["value"][number][1] = due
        begin["value"][number][1] = due - (begin["time"] // 1000 + AHEAD_US) // 1000
    return chosen is not None


def _wrong_outcome(lines: Lines, rng: random.Random) -> bool:
    """CANCELLED of an item that comes all the same, or that has come."""
    offers = _offers(lines)
    found = [(end["time"], item) for _, end in _done(lines, "take") for item in end["value"]]
    found += [
        (offers[item][1]["time"], item)
        for _, end in _done(lines, "take")
        for item in end["value"]
        if item in offers and offers[item][1]["time"] + 3000 < end["time"] and _only(lines, item, ("offer", "take"))
    ]
    chosen = _one_of(rng, found)
    if chosen:
        _more(lines, chosen[0], "cancel", [chosen[1]], ["cancelled"])
    return chosen is not None


def _live(lines: Lines) -> list[tuple[int, str, str, int]]:
    """Leases for some ms after which no other call names the item: when, which, until when."""
    found = []
    for _, end in _done(lines, "receive"):
        for item, lease, _, deadline in end["value"]:
            until = 1000 * (1000 * deadline - AHEAD_US)
            others = [
                line["time"]
                for line in lines
                if line["type"] != "clock" and line.get("f") != "look" and item in str(line["value"])
            ]
            if not any(end["time"] - 20 * MS < at < until and at != end["time"] for at in others):
                found.append((end["time"], item, lease, until))
    return found


def _overlap(lines: Lines, rng: random.Random) -> bool:
    """A value is leased while another lease of it lasts."""
    chosen = _one_of(rng, [each for each in _live(lines) if each[3] - each[0] > 10 * MS])
    if chosen:
        at, item, _, _ = chosen
        received = (at // 1000 + AHEAD_US) // 1000 + 2
        _more(lines, at + 2 * MS, "receive", 1, [[item, f"planted-{at}", received, received + 5]])
    return chosen is not None


def _stale(lines: Lines, rng: random.Random) -> bool:
    """A receipt whose lease is over ends the item, or gives it back."""
    f, outcome = rng.choice((("ack", "acked"), ("nack", "returned"), ("reject", "dead"), ("extend", "extended")))
    # When each receipt was certainly over: when another one of its item was given, or when it ended the item.
    over: dict[str, int] = {}
    given: dict[str, list[tuple[int, int, str]]] = {}
    for begin, end in _done(lines, "receive"):
        for item, lease, *_ in end["value"]:
            given.setdefault(item, []).append((begin["time"], end["time"], lease))
    for leases in given.values():
        for began, _, lease in leases:
            for later, ended, other in leases:
                if later > began and other != lease:
                    over[lease] = ended
    for end_of in ("ack", "nack", "reject"):
        for begin, end in _done(lines, end_of):
            if end["value"] != ["lost"]:
                over[begin["value"][0][1]] = end["time"]
    found = []
    for begin, end in _done(lines, f):
        told, (_, lease) = end["value"][0], begin["value"][0]
        if (told[0] if f == "extend" else told) == "lost" and over.get(lease, begin["time"]) < begin["time"]:
            found.append((begin, end))
    chosen = _one_of(rng, found)
    if chosen:
        begin, end = chosen
        end["value"] = [[outcome, (end["time"] // 1000 + AHEAD_US) // 1000 + 50]] if f == "extend" else [outcome]
        begin["delay"] = 0
    return chosen is not None


def _wrong_order(lines: Lines, rng: random.Random) -> bool:
    """Two values of the ordered queue left in the wrong order."""
    dues = {begin["value"][0][0]: (end["value"][0][1], end["time"]) for begin, end in _done(lines, "offer", ORDERED)}
    taken = [
        (begin, end, end["value"][0], *dues[end["value"][0]])
        for begin, end in _done(lines, "take", ORDERED)
        if end["value"]
    ]
    found = [
        (a, b)
        for a in taken
        for b in taken
        # Both were in before either was due, and the first take had ended when the second one began.
        if a[3] < b[3] and a[1]["time"] < b[0]["time"] and max(a[4], b[4]) // 1000 + AHEAD_US + 2000 < 1000 * a[3]
    ]
    # Not before its own time, which would be another defect.
    found = [(a, b) for a, b in found if a[1]["time"] // 1000 + AHEAD_US > 1000 * b[3] + 2000]
    chosen = _one_of(rng, found)
    if chosen:
        a, b = chosen
        a[1]["value"], b[1]["value"] = b[1]["value"], a[1]["value"]
    return chosen is not None


def _handed_out(lines: Lines, rng: random.Random, after: int, item: str, *, leased: bool = False) -> None:
    """The item is delivered to one more process: taken, or leased and acked."""
    if rng.random() < 0.5 and not leased:
        _more(lines, after, "take", 1, [item])
        return
    received = (after // 1000 + AHEAD_US) // 1000 + 1
    row = [item, f"planted-{after}", received, received + 500]
    _more(lines, after + MS, "receive", 1, [row])
    _more(lines, after + 4 * MS, "ack", [row[:2]], ["acked"])


def _after_cancelled(lines: Lines, rng: random.Random) -> bool:
    """Another client is given what was CANCELLED, and ends it properly."""
    found = [(end["time"], begin["value"][0]) for begin, end in _done(lines, "cancel") if end["value"] == ["cancelled"]]
    # Somebody may take one that was cancelled under a lease, once that is over.
    held = {item for _, end in _done(lines, "receive") for item, *_ in end["value"]}
    chosen = _one_of(rng, found)
    if chosen:
        _handed_out(lines, rng, chosen[0] + rng.randint(0, 200 * MS), chosen[1], leased=chosen[1] in held)
    return chosen is not None


def _old_time(lines: Lines, rng: random.Random) -> bool:
    """RESCHEDULED, and delivered at the time that it had before."""
    offers = _offers(lines)
    found = [
        (offers[item][1]["time"], end["time"], item)
        for _, end in _done(lines, "take")
        for item in end["value"]
        if item in offers and _only(lines, item, ("offer", "take")) and offers[item][1]["time"] + 3 * MS < end["time"]
    ]
    chosen = _one_of(rng, found)
    if chosen:
        offered, taken, item = chosen
        until = (taken // 1000 + AHEAD_US) // 1000 + rng.randint(3, 300)
        _more(lines, offered, "reschedule", [item], ["rescheduled", until], delay=until - offered / MS)
    return chosen is not None


def _acked_twice(lines: Lines, rng: random.Random) -> bool:
    """A second ack with the same receipt answers that it was done."""
    found = [(begin, end) for begin, end in _done(lines, "ack") if end["value"] == ["acked"]]
    chosen = _one_of(rng, found)
    if chosen:
        begin, end = chosen
        _more(lines, end["time"] + rng.randint(0, 5 * MS), "ack", [list(begin["value"][0])], ["acked"])
    return chosen is not None


def _other_queue(lines: Lines, rng: random.Random) -> bool:
    """A value comes out of a queue that it was not offered to."""
    found = [(end, item) for _, end in _done(lines, "take") for item in end["value"]]
    chosen = _one_of(rng, found)
    if chosen:
        end, item = chosen
        end["value"].remove(item)
        _more(lines, end["time"], "take", 1, [item])
        for line in lines[-2:]:
            line["queue"] = ORDERED
    return chosen is not None


#: Calls after which a value may be a dead letter.
_ENDING = ("reject", "nack")


def _dead_again(lines: Lines, rng: random.Random) -> bool:
    """A dead letter is delivered, and nobody has redriven any; or somebody tried, and there was none."""
    (look,) = (end for _, end in _done(lines, "look"))
    died = {
        begin["value"][0][0]: (begin["time"], end["time"])
        for begin, end in _done(lines, "reject")
        if end["value"] == ["dead"]
    }
    redrives = [end["time"] for _, end in _done(lines, "redrive")]
    found = [
        (died[item][1], item)
        for item, places in look["value"].items()
        if places == ["dead"] and item in died and not any(at > died[item][0] for at in redrives)
        # An earlier death that nobody was told of could have been met by a redrive, whose effect may come late.
        if sum(item in str(line["value"]) for line in lines if line["type"] == "invoke" and line["f"] in _ENDING) == 1
    ]
    chosen = _one_of(rng, found)
    if chosen:
        died_at, item = chosen
        if rng.random() < 0.5:
            _more(lines, died_at + MS, "redrive", None, 0)
        _handed_out(lines, rng, died_at + 3 * MS, item)
        del look["value"][item]
    return chosen is not None


PLANTS: dict[str, Callable[[Lines, random.Random], bool]] = {
    "lost": _lost,
    "doubled": _doubled,
    "early": _early,
    "wrong outcome": _wrong_outcome,
    "overlapping leases": _overlap,
    "stale receipt": _stale,
    "wrong order": _wrong_order,
    "delivered after CANCELLED": _after_cancelled,
    "delivered at the old time": _old_time,
    "acked twice": _acked_twice,
    "from another queue": _other_queue,
    "dead letter without redrive": _dead_again,
    **{bound: partial(with_bounds, broken=bound) for bound in BOUNDS},
}
