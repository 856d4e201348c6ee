"""Writes redisson-methods.md: every method of Redisson's queues beside the one of ours that answers to it.

    python docs/make_methods.py            writes the page
    python docs/make_methods.py --check    changes nothing, fails when the page is not up to date

Redisson's methods are those that Java's reflection found (tests/vectors/methods-*.jsonl), without the variants that
return futures. The field lists at the end of the public docstrings name the methods that ours answer to:

    :Redisson: ``RQueue.poll()``, ``RQueue.poll(int)``
    :Cost: O(limit); one round trip
    :Guarantee: at most once

A docstring without ``:Redisson:`` belongs to a call that Redisson does not have. One without ``:Guarantee:`` belongs
to a call that only reads. ``:Cost:`` is always there.

The script fails when one of Redisson's methods is neither answered nor left out, when one is both, and when a docstring
names a method that Redisson does not have.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import redisson_dq  # noqa: E402 - from this tree, installed or not
from tests.versions import NEWEST  # noqa: E402

PAGE = ROOT / "docs" / "redisson-methods.md"
METHODS = ROOT / "tests" / "vectors" / f"methods-{NEWEST}.jsonl"

#: Redisson's interface -> the class that answers to it.
ANSWERED_BY = {
    "RDelayedQueue": "DelayedQueue",
    "RQueue": "BlockingQueue",
    "RBlockingQueue": "BlockingQueue",
    "RDeque": "BlockingDeque",
    "RBlockingDeque": "BlockingDeque",
    "RBoundedBlockingQueue": "BoundedBlockingQueue",
}

#: The defaults of fields that a docstring leaves out.
DEFAULTS = {"Redisson": "none", "Guarantee": "reads only"}

#: Left-out method -> reason. A name means all overloads, in all interfaces unless one is named before it.
LEFT_OUT = {
    pattern: reason
    for reason, patterns in {
        "Python's own `for value in queue` and `list(queue)`": (
            "stream",
            "parallelStream",
            "spliterator",
            "forEach",
            "toArray",
        ),
        "Redis wants the other server's password in the clear: use redis-py's `migrate()` with `queue.keys`": (
            "migrate",
            "copy(String, int, int, long)",
        ),
        "a client stays in its database: use redis-py's `move()` and `copy()` with `queue.keys`": (
            "move(int)",
            "copy(String, int)",
            "copyAndReplace(String, int)",
        ),
        "keyspace notifications, which are off in Redis by default: use redis-py's `pubsub()`": (
            "addListener",
            "removeListener",
        ),
        "diagnostics of a single key: use redis-py's `object()` with `queue.keys`": (
            "getIdleTime",
            "getReferenceCount",
            "getAccessFrequency",
            "getInternalEncoding",
        ),
        "unsupported in Redisson too: an offer needs a delay, and `poll` goes by the order of offers": (
            "RDelayedQueue.add",
            "RDelayedQueue.addAll",
            "RDelayedQueue.offer(Object)",
            "RDelayedQueue.indexOf",
        ),
        "they need Redis 7: `poll_from_any_with_name()` tells the queue, `poll(limit)` has the rest": (
            "pollFirstFromAny(Duration, int, String[])",
            "pollLastFromAny(Duration, int, String[])",
        ),
        "it needs the `LMOVEM` of Redis 8.10: `poll_last_and_offer_first_to()` and a deque's `move()` take one value": (
            "move(QueueMoveElementsArgs)",
            "move(Duration, QueueMoveElementsArgs)",
        ),
        "always `Integer.MAX_VALUE`": ("RBlockingQueue.remainingCapacity", "RBlockingDeque.remainingCapacity"),
    }.items()
    for pattern in patterns
}

HEAD = """\
<!-- made by docs/make_methods.py: edit the docstrings of the methods, or LEFT_OUT in that file -->

# Redisson's methods, and ours

Every method of Redisson {version}'s queues, and the method that answers to it here.

A method that several interfaces have is listed in the first of them. Overloads with a limit, an index or a timeout are
arguments of one method. The twins that end with `Async` are the methods of `redisson_dq.aio`. [The API](api.md) has the
arguments, the cost and the guarantee of each method, and those that Redisson does not have.
"""

DIFFERENCES = """\
## Where the same call does something else

| call | Redisson | here |
|---|---|---|
| `RDelayedQueue`: `isExists`, `unlink`, `touch`, `remainTimeToLive`, `getExpireTime`, `rename`, `renamenx`, `dump`, \
`restore` | act on the ready list | act on what waits, as `delete` and `expire` do in both |
| `RDelayedQueue.copy` | copies the entries to the new queue's ready name, where they cannot be read | to its waiting \
keys |
| `RDelayedQueue.retainAll` | leaves the zset, so what was removed is delivered all the same | it is gone |
| `RDelayedQueue`: `size`, `contains`, `remove`, `readAll`, `poll` and the like | look at the list alone, not at lean \
offers nor at what `retainAll` left | look at both keys |
| `RDelayedQueue.pollLastAndOfferFirstTo`, `RDeque.move` | do not map the other name | map it, as all other calls do |
| `RQueue.removeAll`; `RBoundedBlockingQueue.remove`, `removeAll` | false when a value was there more than once; of a \
bounded queue it also makes no room then | true when any was removed |
| `poll(limit=)` below 1 | an empty list | `ArgumentError`: it is a mistake of the caller |
| timeouts | whole seconds | milliseconds |
| `RBoundedBlockingQueue`: `retainAll`, `trim` | make no room | what is removed makes room |
| `RExpirable.expireIfSet` and the like, `getExpireTime` | need Redis 7 | Redis 6.2 will do |

`RBoundedBlockingQueue.take` is the same in both: a pop, then a second command that makes room. A process that dies
between the two leaves the queue one smaller.
"""

_FIELD = re.compile(r"^:(?P<name>Redisson|Cost|Guarantee):(?P<text>.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_NAMED = re.compile(r"``(\w+)\.(\w+\([^)]*\))``")


class JavaMethod(NamedTuple):
    """A method as a caller of the interface sees it. ``declared_in`` is where it comes from."""

    interface: str
    signature: str
    declared_in: str

    @property
    def name(self) -> str:
        return self.signature.partition("(")[0]

    @property
    def patterns(self) -> set[str]:
        """How LEFT_OUT may name it."""
        return {prefix + form for prefix in ("", f"{self.interface}.") for form in (self.name, self.signature)}


class Ours(NamedTuple):
    """A public method with what its docstring says. ``answers_to`` holds pairs of interface and signature."""

    name: str
    answers_to: tuple[tuple[str, str], ...]
    cost: str
    guarantee: str


def java_methods(lines: Iterable[str]) -> list[JavaMethod]:
    """The rows of the committed file. Its first line says how it was made."""
    rows = [json.loads(line) for line in lines][1:]
    return [
        JavaMethod(row["interface"], signature(row["method"], row["parameters"]), row["declaredIn"]) for row in rows
    ]


def signature(name: str, parameters: Iterable[str]) -> str:
    """``pollFromAny(long, TimeUnit, String[])``: short names, and ``String...`` is ``String[]``."""
    short = (re.sub(r"^.*[.$](?=\w)", "", parameter.strip().replace("...", "[]")) for parameter in parameters)
    return f"{name}({', '.join(short)})"


def our_methods(public: type) -> tuple[list[Ours], list[str]]:
    """The methods of a class with the ones that they answer to, and the complaints about their field lists."""
    found, wrong = [], []
    for name, member in inspect.getmembers(public):
        fields = {field["name"]: " ".join(field["text"].split()) for field in _FIELD.finditer(_doc(member))}
        if not fields and name.startswith("_"):
            continue
        if not fields.get("Cost"):
            wrong.append(f"{public.__name__}.{name}: no :Cost:")
            continue
        fields = {**DEFAULTS, **fields}
        named = tuple((interface, _written(method)) for interface, method in _NAMED.findall(fields["Redisson"]))
        if bool(named) is fields["Redisson"].startswith("none"):
            wrong.append(f"{public.__name__}.{name}: :Redisson: names ``Interface.method(types)``, or says none")
        cost = _markdown(fields["Cost"]).removesuffix("; one round trip")
        guarantee = _markdown(fields["Guarantee"])
        found.append(Ours(name, named, cost, "" if guarantee == DEFAULTS["Guarantee"] else guarantee))
    return found, wrong


def _doc(member: object) -> str:
    return (inspect.getdoc(member) or "") if callable(member) or isinstance(member, property) else ""


def _written(method: str) -> str:
    """A typed signature, in the form of :func:`signature`."""
    name, _, parameters = method.removesuffix(")").partition("(")
    return signature(name, parameters.split(",") if parameters.strip() else [])


def _markdown(text: str) -> str:
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text.replace("``", "`"))
    return text.replace("|", "\\|")


def complaints(
    java: list[JavaMethod], ours: Mapping[str, list[Ours]], left_out: Mapping[str, str] = LEFT_OUT
) -> list[str]:
    """The inconsistencies: methods that are unanswered, both answered and left out, or named but missing."""
    wrong: dict[str, list[str]] = {}
    for method in java:
        answered = [own.name for own in ours[method.interface] if method.signature in _signatures(own)]
        excused = not method.patterns.isdisjoint(left_out)
        if excused and answered:
            wrong.setdefault(f"{method.signature}: left out, but here is {answered[0]}", []).append(method.interface)
        elif not excused and not answered:
            wrong.setdefault(f"{method.signature}: neither answered nor left out", []).append(method.interface)
    there = {(owner, method.signature) for method in java for owner in (method.interface, method.declared_in)}
    for interface, methods in ours.items():
        for own in methods:
            for owner, signed in own.answers_to:
                if (owner, signed) not in there:
                    wrong[f"{ANSWERED_BY[interface]}.{own.name}: Redisson has no {owner}.{signed}"] = []
    for pattern in left_out.keys() - {pattern for method in java for pattern in method.patterns}:
        wrong[f"{pattern}: left out, but Redisson has no such method"] = []
    return sorted(f"{what} ({', '.join(where)})" if where else what for what, where in wrong.items())


def _signatures(own: Ours) -> set[str]:
    return {signed for _, signed in own.answers_to}


def page(java: list[JavaMethod], ours: Mapping[str, list[Ours]]) -> str:
    shown: set[tuple[str, str]] = set()
    sections = [
        _section(interface, [m for m in java if m.interface == interface], ours[interface], shown) for interface in ours
    ]
    return "\n".join((HEAD.format(version=NEWEST), DIFFERENCES, *sections))


def _section(interface: str, java: list[JavaMethod], ours: list[Ours], shown: set[tuple[str, str]]) -> str:
    """One row for each method of ours; the overloads that it answers to share it. Adds to ``shown`` what it lists."""
    rows = []
    of_java = {method.signature for method in java}
    for own in ours:
        names = [signed for signed in sorted(_signatures(own) & of_java) if (signed, own.name) not in shown]
        shown.update((signed, own.name) for signed in names)
        if names:
            rows.append(f"| {_code(names)} | `{own.name}` |")
    left_out: dict[str, list[str]] = {}
    for method in sorted(java):
        for pattern, reason in LEFT_OUT.items():
            if pattern in method.patterns and (method.signature, reason) not in shown:
                shown.add((method.signature, reason))
                left_out.setdefault(reason, []).append(method.signature)
    heading = f"## {interface}, here {ANSWERED_BY[interface]}"
    table = (heading, "", "| Redisson | here |", "|---|---|", *sorted(rows), "")
    left = [f"- {_code(names)}: {reason}." for reason, names in left_out.items()]
    return "\n".join((*table, *(["Left out:", "", *left, ""] if left else [])))


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only, change nothing")
    check = parser.parse_args().check
    java = java_methods(METHODS.read_text("utf-8").splitlines())
    ours, wrong = {}, []
    for interface, name in ANSWERED_BY.items():
        ours[interface], complained = our_methods(getattr(redisson_dq, name))
        wrong += complained
    wrong = [*sorted(set(wrong)), *complaints(java, ours)]
    made = page(java, ours)
    stale = made != PAGE.read_text("utf-8")
    if stale and not check:
        PAGE.write_text(made, "utf-8")
        print(f"wrote {PAGE.relative_to(ROOT)}")
    if stale and check:
        wrong.append("run python docs/make_methods.py; docs/redisson-methods.md is not up to date")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
