"""How many functions of the library one call runs, and in how many files: ``python -m tests.python_calls``.

The calls are those of the synchronous flavour, warm, against a server on this machine. What counts is each call of a
function in a file of ``redisson_dq`` by the calling thread. Functions that attrs makes, redis-py and Python are left
out.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import attrs

import redisson_dq
from redisson_dq.embedded import EmbeddedServer

__all__ = ["Cost", "costs", "walk_of"]

PACKAGE = str(Path(redisson_dq.__file__).parent)


@attrs.frozen
class Cost:
    """The functions that one call ran, in their order: file and name of each."""

    functions: tuple[tuple[str, str], ...]

    @property
    def calls(self) -> int:
        """How many there were."""
        return len(self.functions)

    @property
    def files(self) -> int:
        """In how many files."""
        return len({file for file, _ in self.functions})

    @property
    def moves(self) -> int:
        """How often the next one was in another file."""
        return sum(one != other for (one, _), (other, _) in itertools.pairwise(self.functions))


def walk_of(call: Callable[[], object]) -> Cost:
    """The cost of a call."""
    functions: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            functions.append((frame.f_code.co_filename[len(PACKAGE) + 1 :], frame.f_code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return Cost(tuple(functions))


@contextmanager
def _calls(url: str) -> Iterator[dict[str, Callable[[], object]]]:
    """Each call by its name, ready to be made several times."""
    with redisson_dq.connect(url) as client:
        queue = client.blocking_queue("orders")
        delayed = client.delayed_queue(queue)
        queue.add_all([f"order-{number}" for number in range(200)])
        received = iter([queue.receive(timeout=0) for _ in range(20)])
        yield {
            "offer": lambda: delayed.offer("order", 3600),
            "cancel": lambda: delayed.cancel("nobody's"),
            "size": queue.size,
            "peek": queue.peek,
            "add": lambda: queue.add("order"),
            "poll": queue.poll,
            "take": queue.take,
            "receive": queue.receive,
            "ack": lambda: next(received).ack(),  # type: ignore[union-attr]
        }


def costs(url: str) -> dict[str, Cost]:
    """The cost of each call, when it has been made a few times."""
    with _calls(url) as calls:
        for call in calls.values():
            for _ in range(5):
                call()
        return {name: walk_of(call) for name, call in calls.items()}


def main() -> None:
    """Prints a table, and with the name of a call the functions that it runs."""
    with EmbeddedServer() as server:
        found = costs(server.url)
    print("| call | functions | files | moves between files |\n|---|---|---|---|")
    for name, cost in found.items():
        print(f"| {name} | {cost.calls} | {cost.files} | {cost.moves} |")
    for name in sys.argv[1:]:
        print(f"\n{name}:", *(f"  {file}  {function}" for file, function in found[name].functions), sep="\n")


if __name__ == "__main__":
    main()
