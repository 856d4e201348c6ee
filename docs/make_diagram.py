"""Writes the sections of the pages that are made from the code: diagrams of decision tables, headers of
scripts, the table of metrics, the usage of commands, the fields of their JSON.

    python docs/make_diagram.py            rewrites the sections
    python docs/make_diagram.py --check    changes nothing, fails when one is not up to date

A section stands between ``<!-- made by docs/make_diagram.py: NAME -->`` and ``<!-- end of NAME -->``.
"""

from __future__ import annotations

import argparse
import enum
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from redisson_dq.cli._main import COMMANDS, PROGRAM, program  # noqa: E402 - from this tree, installed or not
from redisson_dq.prometheus import metrics  # noqa: E402 - from this tree, installed or not
from redisson_dq.scheduling import engine  # noqa: E402
from redisson_dq.scripts import script  # noqa: E402
from redisson_dq.waiting import pop_table, rounds_table, watch_table  # noqa: E402
from redisson_dq.working import fetch_table, handling_table, post_table, queue_wait_table  # noqa: E402

#: (state, trigger) -> the next state, the actions, and perhaps more.
Table = Mapping[tuple[Any, Any], tuple[Any, ...]]


def outcomes(table: Table, state: enum.Enum) -> dict[tuple[Any, ...], list[enum.Enum]]:
    """What can come of the triggers of a state: (next state, what to do) -> the triggers that lead to it."""
    found: dict[tuple[enum.Enum, tuple[enum.Enum, ...]], list[enum.Enum]] = {}
    for trigger in type(next(iter(table))[1]):
        if (state, trigger) in table:
            found.setdefault(table[state, trigger], []).append(trigger)
    return found


def picture(table: Table) -> str:
    """The diagram alone."""
    return decisions(table).partition("\n\n")[0]


def decisions(table: Table) -> str:
    """The diagram, the states and the whole table."""
    states: list[enum.Enum] = list(type(next(iter(table))[0]))
    every_trigger = len(type(next(iter(table))[1]))
    diagram = ["stateDiagram-v2", f"    [*] --> {states[0].name}"]
    meanings = ["| state | meaning |", "|---|---|"]
    rows = ["| state | trigger | next state | action |", "|---|---|---|---|"]
    for state in states:
        meanings.append(f"| `{state.name}` | {state.value} |")
        for (target, to_do, *_), triggers in outcomes(table, state).items():
            actions = ", ".join(do.value for do in to_do)
            named = ["anything"] if len(triggers) == every_trigger else [trigger.value for trigger in triggers]
            row = (f"`{state.name}`", "; ".join(named), f"`{target.name}`", actions or "none")
            rows.append(f"| {' | '.join(row)} |")
            if target is not state or to_do:
                # A label holds no colon: Mermaid's grammar ends it there.
                label = "<br/>".join(name.replace(": ", ", ") for name in named)
                label = f"{label}{f' / {actions}' if actions else ''}".replace("`", "")
                diagram.append(f"    {state.name} --> {target.name} : {label}")
        if list(outcomes(table, state)) == [(state, ())]:
            diagram.append(f"    {state.name} --> [*]")
    return "\n\n".join(("\n".join(("```mermaid", *diagram, "```")), "\n".join(meanings), "\n".join(rows)))


def beside(table: Mapping[tuple[Any, Any], Any]) -> str:
    """A smaller table, whose rows lead to a state alone."""
    kind = type(next(iter(table))[0])
    meanings = ["| state | meaning |", "|---|---|", *(f"| `{state.name}` | {state.value} |" for state in kind)]
    rows = ["| state | event | next state |", "|---|---|---|"]
    for state in kind:
        events: dict[enum.Enum, list[str]] = {}
        for (before, event), after in table.items():
            if before is state and after is not state:
                events.setdefault(after, []).append(event.value)
        rows += [f"| `{state.name}` | {'; '.join(names)} | `{after.name}` |" for after, names in events.items()]
    return "\n\n".join(("\n".join(meanings), "\n".join(rows)))


def scripts_index() -> str:
    """The first sentence of each script's header."""
    does = {name: script.load(name).summary.partition(". ")[0].removesuffix(".") for name in script.names()}
    rows = (f"| [`{name}`](#{name}lua) | {_cell(text)} |" for name, text in does.items())
    return "\n".join(("| script | does |", "|---|---|", *rows))


def scripts() -> str:
    """One table for each script, from its header."""
    return "\n\n".join(scripts_section(name) for name in script.names())


def scripts_section(name: str) -> str:
    loaded = script.load(name)
    rows = (f"| {field} | {_cell(text)} |" for field, text in loaded.header.items())
    return "\n".join((f"### `{name}.lua`", "", loaded.summary, "", "| | |", "|---|---|", *rows))


def usage(name: str) -> str:
    """The help of a command, and of the commands below it."""
    helps = []
    pending = [(f"{PROGRAM} {name}", program.get_command(click.Context(program), name))]
    while pending:
        path, command = pending.pop(0)
        assert command is not None
        ctx = click.Context(command, info_name=path, terminal_width=100, **program.context_settings)
        helps.append(command.get_help(ctx))
        if isinstance(command, click.Group):
            pending += [(f"{path} {each}", command.get_command(ctx, each)) for each in command.list_commands(ctx)]
    return "\n\n".join(f"```text\n{each}\n```" for each in helps)


def schemas() -> str:
    """The fields of each document, with a link to its schema. Commands with one form share a row."""
    rows: dict[tuple[str, str], list[str]] = {}
    for path in sorted((ROOT / "redisson_dq" / "cli" / "schemas").glob("*.json")):
        schema = json.loads(path.read_text("utf-8"))
        documents = [schema["$defs"][each["$ref"].rpartition("/")[2]] for each in schema["anyOf"][:-1]]
        fields = " or ".join(
            ", ".join(f"`{name}`" for name in each["properties"] if name != "schema") for each in documents
        )
        name = schema["title"].removeprefix(f"{PROGRAM} ").removesuffix(" --json")
        link = f"[{name}](../redisson_dq/cli/schemas/{path.name})"
        rows.setdefault((fields, schema["description"]), []).append(link)
    shown = (f"| {', '.join(links)} | {fields} |" for (fields, _), links in rows.items())
    return "\n".join(("| command | fields |", "|---|---|", *shown))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


#: Page -> its sections.
SECTIONS: dict[str, dict[str, Callable[[], str]]] = {
    "docs/how-it-works.md": {
        "picture of the engine": partial(picture, engine.TRANSITIONS),
        "picture of a handling": partial(picture, handling_table.TRANSITIONS),
    },
    "docs/internals.md": {
        "engine": partial(decisions, engine.TRANSITIONS),
        "pop": partial(decisions, pop_table.TRANSITIONS),
        "pumpers": partial(beside, pop_table.PUMPERS),
        "contacts": partial(beside, pop_table.CONTACTS),
        "watch": partial(decisions, watch_table.TRANSITIONS),
        "watches": partial(beside, watch_table.WATCHES),
        "rounds": partial(decisions, rounds_table.TRANSITIONS),
        "handling": partial(decisions, handling_table.TRANSITIONS),
        "posts": partial(decisions, post_table.TRANSITIONS),
        "fetching": partial(decisions, fetch_table.TRANSITIONS),
        "counts": partial(beside, fetch_table.COUNTS),
        "standings": partial(beside, fetch_table.STANDINGS),
        "queue-wait": partial(decisions, queue_wait_table.TRANSITIONS),
    },
    # A command has its section where it is described: in this page, unless it has a page of its own.
    "docs/command-line.md": {f"usage of {name}": partial(usage, name) for name in COMMANDS},
    "docs/json.md": {"schemas": schemas},
    "docs/metrics.md": {"metrics": metrics.as_table},
    "docs/scripts.md": {"index": scripts_index, "scripts": scripts},
}


def rewritten(text: str, sections: Iterable[tuple[str, Callable[[], str]]]) -> str:
    """The page with its sections made anew."""
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
