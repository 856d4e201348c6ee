"""The steps of a command that changes items: the count, the question, the undo file, the batches, the summary."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
import click

from redisson_dq._operations.shell import command_line
from redisson_dq.cli.frame import FINE, PROBLEM, Consent, Output, hint_on_error, progress, say, stopping

if TYPE_CHECKING:
    from redisson_dq.cli.documents.mending import MendDocument
    from redisson_dq.mending import Acting, IdProblem, MendCounts, MendedQueue, Selection, UndoWriter, Untouched

__all__ = ["Deed", "UndoChoice", "choosing", "do", "undo_options"]

_F = TypeVar("_F", bound=Callable[..., Any])

_REASONS = {
    "gone": "moved, taken or changed meanwhile",
    "newer": "skipped: a newer version of the library wrote their records",
    "unreadable": "skipped: they are in no known format; --as-values delivers their bytes as values",
}


@attrs.frozen(kw_only=True)
class UndoChoice:
    """Where an undo file is written. ``path`` is None for a generated name."""

    path: Path | None
    wanted: bool

    def opened(self, queue: MendedQueue, action: str) -> UndoWriter | None:
        """A new file, or None without one. Prints its name on standard error."""
        if not self.wanted:
            return None
        from redisson_dq import __version__
        from redisson_dq.mending import UndoWriter

        now = datetime.now().astimezone()
        made = f"undo-{action}-{re.sub('[^A-Za-z0-9_.-]+', '_', queue.name)}-{now:%Y%m%d-%H%M%S-%f}.jsonl"
        path = Path(made) if self.path is None else self.path
        writer = UndoWriter.new(path, queue, action, now.isoformat(timespec="seconds"), __version__)
        say(f"undo file: {path}", error=True)
        return writer


def undo_options(function: _F) -> _F:
    """``--undo-file`` and ``--no-undo``: the function gets them as ``undo``."""

    @functools.wraps(function)
    def with_undo(*args: Any, undo_file: Path | None, no_undo: bool, **rest: Any) -> Any:
        if undo_file is not None and no_undo:
            raise click.UsageError("--undo-file and --no-undo exclude each other")
        return function(*args, undo=UndoChoice(path=undo_file, wanted=not no_undo), **rest)

    made: Any = click.option("--no-undo", is_flag=True, help="Write no undo file.")(with_undo)
    text = "Write what undo needs to this new file (a name in the working directory)."
    kind = click.Path(path_type=Path)
    return cast(_F, click.option("--undo-file", metavar="PATH", type=kind, help=text)(made))


@attrs.frozen(kw_only=True)
class Deed:
    """An action in words: ``"cancel"``, ``"cancelled"``, and the noun for its objects, with the plural."""

    verb: str
    past: str
    thing: str = "item"
    things: str = "items"

    def counted(self, count: int) -> str:
        """A number of things, in words."""
        return f"{count:,} {self.thing if count == 1 else self.things}"


def do(
    deed: Deed,
    selection: Selection,
    problems: list[IdProblem],
    act: Callable[[Acting], MendCounts],
    *,
    consent: Consent,
    undo: UndoChoice,
    output: Output,
    untouched: Untouched | None = None,
) -> int:
    """Asks, acts and reports. Returns the exit code: 1 if some could not be done.

    ``untouched`` counts other entries, which cannot be selected.
    """
    from redisson_dq.mending import Acting, MendCounts, Untouched

    queue, count = selection.queue, selection.count
    for problem in problems:
        say(str(problem), error=True)
    untouched = untouched or Untouched()
    for line in _left(queue, untouched):
        say(line, error=True)
    counts, stop, path = MendCounts(wanted=count), None, None
    if consent.given(f"{deed.verb} {deed.counted(count)} of {queue.name}", count):
        writer = undo.opened(queue, deed.verb.replace(" ", "-"))
        path = None if writer is None else writer.path
        with (
            contextlib.nullcontext() if path is None else hint_on_error(lambda: _to_take_back(path)),
            writer or contextlib.nullcontext(),
            stopping() as stop,
            progress(deed.verb, count) as bar,
        ):
            dealt = [0]

            def told(now: int) -> None:
                bar.add(now - dealt[0])
                dealt[0] = now

            counts = act(Acting(undo=writer, rate=consent.rate, told=told, stop=stop))
    _tell(deed, queue, counts, problems, untouched, path, consent, output)
    if stop is not None and counts.stopped:
        return stop.code
    return PROBLEM if problems or untouched != Untouched() or counts.left else FINE


def _left(queue: MendedQueue, untouched: Untouched) -> Iterator[str]:
    """A line for each kind of skipped entries, with the command that shows the remedy."""
    kinds = (
        (untouched.torn, "is", "are", f"in only one of the two keys of {queue.name}", "torn-entries"),
        (untouched.unknown, f"of {queue.name} is", f"of {queue.name} are", "in no known format", "quarantine"),
    )
    for count, one, more, where, check in kinds:
        if count:
            entries, are = (f"1 entry {one}", "is") if count == 1 else (f"{count:,} entries {more}", "are")
            line = command_line("doctor", [queue.name], ["--only", check])
            yield f"{entries} {where}, and {are} left: {line}"


def _to_take_back(path: Path) -> str:
    return f"to take back the part that was done: {command_line('undo', [str(path)], ['--yes'])}"


def _tell(
    deed: Deed,
    queue: MendedQueue,
    counts: MendCounts,
    problems: list[IdProblem],
    untouched: Untouched,
    path: Path | None,
    consent: Consent,
    output: Output,
) -> None:
    if output.as_json:
        told: MendDocument = {
            "queue": queue.name,
            "action": deed.verb,
            "dry_run": consent.dry_run,
            "wanted": counts.wanted,
            "done": counts.done,
            "left": dict(counts.left),
            "problems": problems,
            "torn": untouched.torn,
            "unknown": untouched.unknown,
            "stopped": counts.stopped,
            "undo_file": None if path is None else str(path),
        }
        output.document(**told)
        return
    if consent.dry_run or not counts.wanted:
        return
    output.text(f"{deed.past} {counts.done:,} of {deed.counted(counts.wanted)} of {queue.name}")
    for reason, count in sorted(counts.left.items()):
        output.text(f"  {count:,} {_REASONS.get(reason, reason)}")
    if counts.stopped:
        output.text("  stopped: the rest is as it was")
    if path is not None and counts.done:
        output.command("to take it back", command_line("undo", [str(path)], ["--yes"]))


@contextlib.contextmanager
def choosing(queue: MendedQueue) -> Iterator[Callable[[int, int], None]]:
    """Shows how many items were examined. Yields the function that is called with the numbers."""
    with progress(f"looking at {queue.name}") as bar:
        met = [0]

        def told(now: int, chosen: int) -> None:
            # When items are searched by id, each part counts from the start.
            bar.add(max(0, now - met[0]))
            met[0] = now

        yield told
