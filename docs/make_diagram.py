"""Writes the sections of the pages that are made from the code: the decision table of the engine, the
table of metrics, the commands with their options, the options of calls.

    python docs/make_diagram.py            rewrites the sections
    python docs/make_diagram.py --check    changes nothing, fails when one is not up to date

A section is between ``<!-- made by docs/make_diagram.py: NAME -->`` and ``<!-- end of NAME -->``.
"""

from __future__ import annotations

import argparse
import enum
import inspect
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import redisson_dq  # noqa: E402 - from this tree, installed or not
from redisson_dq.cli._main import COMMANDS, program  # noqa: E402
from redisson_dq.prometheus import metrics  # noqa: E402
from redisson_dq.scheduling import engine  # noqa: E402
from redisson_dq.worker import Retry, Worker  # noqa: E402
from tests.proof import model  # noqa: E402

#: (state, trigger) -> the next state, the actions, and perhaps more.
Table = Mapping[tuple[Any, Any], tuple[Any, ...]]


def outcomes(table: Table, state: enum.Enum) -> dict[tuple[Any, ...], list[enum.Enum]]:
    """The outcomes of a state's triggers: (next state, actions) -> the triggers that lead to it."""
    found: dict[tuple[enum.Enum, tuple[enum.Enum, ...]], list[enum.Enum]] = {}
    for trigger in type(next(iter(table))[1]):
        if (state, trigger) in table:
            found.setdefault(table[state, trigger], []).append(trigger)
    return found


def decisions(table: Table) -> str:
    """The whole table. Triggers that change nothing are left out."""
    rows = ["| state | trigger | next state | action |", "|---|---|---|---|"]
    for state in type(next(iter(table))[0]):
        for (target, to_do, *_), triggers in outcomes(table, state).items():
            if target is not state or to_do:
                actions = ", ".join(do.value for do in to_do)
                named = "; ".join(trigger.value for trigger in triggers)
                rows.append(f"| {state.name} | {named} | {target.name} | {actions} |")
    return "\n".join(rows)


def commands() -> Iterator[tuple[str, click.Command]]:
    """The commands by name. Those of a group follow its name."""
    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {each}", command.commands[each]) for each in command.commands)
        else:
            yield name, command


def options_of(command: click.Command) -> list[tuple[str, str]]:
    """Each option with its metavar, and its help."""
    ctx = click.Context(command, info_name="", **program.context_settings)
    found = [param.get_help_record(ctx) for param in command.get_params(ctx) if isinstance(param, click.Option)]
    return [(name.replace("  ", " "), " ".join(text.split()).rstrip(".")) for name, text in filter(None, found)]


#: An option that this many commands share, with the same text, is listed once.
SHARED_BY = 4


def shared_options() -> list[tuple[str, str]]:
    counted = Counter(option for _, command in commands() for option in options_of(command))
    return [option for option, number in counted.items() if number >= SHARED_BY]


def shared_options_table() -> str:
    rows = (f"| `{name}` | {_cell(text)} |" for name, text in shared_options())
    return "\n".join(("| option | |", "|---|---|", *rows))


#: Commands that run until they are stopped, or that work on no items. They have a page of their own.
PROGRAMS = frozenset(
    ("acl", "dashboard", "demo", "exporter", "generate-classes", "move", "partitions", "plan", "schema", "worker")
)


def commands_table(programs: bool = False) -> str:
    """A row for each command: its arguments, the first sentence of its help, and its own options."""
    shared = set(shared_options())
    rows: dict[str, tuple[list[str], str]] = {}
    for name, command in commands():
        if (name in PROGRAMS) is not programs:
            continue
        ctx = click.Context(command, info_name="", **program.context_settings)
        arguments = " ".join(word for word in command.collect_usage_pieces(ctx) if word != "[OPTIONS]")
        does = " ".join((command.help or "").split()).partition(". ")[0].rstrip(".")
        own = [f"`{option}`: {text}" for option, text in options_of(command) if (option, text) not in shared]
        # ``dead list``, ``quarantine list`` and ``undecodable list`` do the same with three lists: one row.
        key = f"{name.partition(' ')[2] or name} {arguments} {own}"
        does = does.replace("some dead letters", "these values").replace("dead letters", "these values")
        names, _ = rows.setdefault(key, ([], f"{_cell(does)} | {_cell('; '.join(own))}"))
        names.append(f"`{' '.join((name, arguments)).strip()}`")
    lines = (f"| {', '.join(names)} | {rest} |" for names, rest in rows.values())
    return "\n".join(("| command | does | its own options |", "|---|---|---|", *lines))


_BULLET = re.compile(r"^- ((?:``\w+``,? ?)+): (.+(?:\n  .+)*)", re.MULTILINE)


def options_table(*functions: Callable[..., Any]) -> str:
    """The keyword arguments of functions with their defaults, described by the lists in their docstrings."""
    said: dict[str, str] = {}
    parameters: dict[str, inspect.Parameter] = {}
    for function in functions:
        for names, text in _BULLET.findall(inspect.getdoc(function) or ""):
            said.update(dict.fromkeys(re.findall(r"``(\w+)``", names), " ".join(text.split())))
        parameters |= inspect.signature(function).parameters
    keywords = [each for each in parameters.values() if each.kind is each.KEYWORD_ONLY or each.name in said]
    rows = ["| option | default | meaning |", "|---|---|---|"]
    for each in keywords:
        text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", said[each.name].replace("``", "`"))
        rows.append(f"| `{each.name}=` | {_default(each)} | {_cell(text)} |")
    return "\n".join(rows)


def _default(parameter: inspect.Parameter) -> str:
    value = parameter.default
    if value is parameter.empty or value is None:
        return ""
    return f"`{value.value!r}`" if isinstance(value, enum.Enum) else _cell(f"`{value!r}`")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


METRICS = {
    "How queues are: `Collector`, `redisson-dq exporter`": metrics.OF_QUEUES,
    "What a process does: `instrument`, `redisson-dq worker --metrics-port`": metrics.OF_PROCESS,
    "The processes of `redisson-dq worker --metrics-port`": metrics.OF_COMMAND,
}


def metrics_table() -> str:
    parts = []
    for title, table in METRICS.items():
        rows = [f"**{title}**", "", "| metric | type | labels | meaning |", "|---|---|---|---|"]
        for each in table.values():
            labels = " ".join(f"`{label}`" for label in each.labels)
            rows.append(f"| `{each.shown}` | {each.type} | {labels} | {each.meaning} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


#: Page -> its sections.
SECTIONS: dict[str, dict[str, Callable[[], str]]] = {
    "docs/moving.md": {"engine": partial(decisions, engine.TRANSITIONS)},
    "docs/commands.md": {"commands": commands_table, "shared options": shared_options_table},
    "docs/programs.md": {"programs": partial(commands_table, programs=True)},
    "docs/options.md": {
        "connect": partial(options_table, redisson_dq.Client, redisson_dq.connect),
        "queues": partial(options_table, redisson_dq.Client.delayed_queue, redisson_dq.Client.blocking_queue),
        "offer": partial(options_table, redisson_dq.DelayedQueue.offer),
        "offer_recurring": partial(options_table, redisson_dq.DelayedQueue.offer_recurring),
        "receive": partial(options_table, redisson_dq.BlockingQueue.receive),
        "worker": partial(options_table, Worker),
        "handler": partial(options_table, Worker.handler),
        "retry": partial(options_table, Retry),
    },
    "docs/metrics.md": {"metrics": metrics_table},
    "docs/model.md": {"model": model.as_table},
}


def rewritten(text: str, sections: Iterable[tuple[str, Callable[[], str]]]) -> str:
    """The page with its sections written again."""
    for name, make in sections:
        start, end = f"<!-- made by docs/make_diagram.py: {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(f"{re.escape(start)}\n.*?{re.escape(end)}\n", re.DOTALL)
        section = f"{start}\n\n{make()}\n\n{end}\n"
        found = pattern.findall(text)
        if len(found) != 1:
            sys.exit(f"the section {name!r} was found {len(found)} times")
        text = text.replace(found[0], section)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only, change nothing")
    check = parser.parse_args().check
    stale = []
    for name, sections in SECTIONS.items():
        path = ROOT / name
        before = path.read_text("utf-8")
        after = rewritten(before, sections.items())
        if after != before:
            stale.append(name)
            if not check:
                path.write_text(after, "utf-8")
                print(f"wrote {name}")
    if check and stale:
        sys.exit(f"run python docs/make_diagram.py; not up to date: {', '.join(stale)}")


if __name__ == "__main__":
    main()
