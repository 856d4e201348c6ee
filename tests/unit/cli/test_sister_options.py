"""An option that one command has, its sisters have too, with the same words."""

from __future__ import annotations

from importlib import import_module

import click
import pytest

from redisson_dq.cli._main import COMMANDS

_SERVER = {"--url", "--redisson-config", "--timeout", "--json"}
_VALUES = {"--codec", "--classes"}
_WRITES = {"--dry-run", "--yes"}
_UNDO = {"--undo-file", "--no-undo"}
_PAGES = {"--filter", "--limit", "--after", "--look"}
_ASIDE = ("dead", "quarantine", "undecodable")

#: Families of commands, and the options that each of them has.
FAMILIES: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "look at queues": (("stats", "watch"), _SERVER | {"--partitions", "--dead-letter"}),
    "list items": (
        ("list", *(f"{kind} list" for kind in _ASIDE)),
        _SERVER | _VALUES | _PAGES | {"--partitions"},
    ),
    "show items": (("show", "peek", *(f"{kind} show" for kind in _ASIDE)), _SERVER | _VALUES | {"--partitions"}),
    "give or take values": (("offer", "take"), _SERVER | _VALUES | {"--partitions"}),
    "change items": (
        (
            *("cancel", "reschedule", "run-now"),
            *(f"{kind} {action}" for kind in _ASIDE for action in ("redrive", "purge")),
        ),
        _SERVER | _VALUES | _WRITES | _UNDO | {"--filter", "--all", "--rate", "--partitions"},
    ),
    # A receiver cannot be made to hold a value again.
    "release": (("release",), _SERVER | _VALUES | _WRITES | {"--filter", "--all", "--rate", "--partitions"}),
    "stop and go on": (("pause", "resume"), _SERVER | _WRITES | _UNDO | {"--partitions"}),
    "dead letters": (
        ("list", "show", *(f"dead {each}" for each in ("list", "show", "redrive", "purge"))),
        {"--dead-letter"},
    ),
    "read classes": (("list", "doctor", "dashboard", "migrate", "offer"), {"--classes"}),
}
#: Options of another meaning: the codec that values should be in, the time of a scrape, a server besides the usual one,
#: and a queue that does not exist yet.
_OWN_WORDS = {
    ("doctor", "--codec"),
    ("exporter", "--timeout"),
    ("demo", "--url"),
    ("worker", "--url"),
    ("plan", "--codec"),
    ("plan", "--partitions"),
    ("undecodable add", "--look"),
}

#: Commands that print no data: those that serve until they are stopped, and one that prints a program.
_WITHOUT_JSON = {"dashboard", "demo", "exporter", "generate-classes", "schema"}


def options_of(name: str) -> dict[str, click.Option]:
    """The options of a command, by their names."""
    group, _, inner = name.partition(" ")
    command = import_module(COMMANDS[group]).command
    if inner:
        command = command.commands[inner]
    return {each: option for option in command.params if isinstance(option, click.Option) for each in option.opts}


@pytest.mark.parametrize("family", FAMILIES)
def test_each_command_of_a_family_has_its_options(family: str) -> None:
    commands, wanted = FAMILIES[family]
    assert {name: wanted - options_of(name).keys() for name in commands if wanted - options_of(name).keys()} == {}


@pytest.mark.parametrize(
    "option", sorted(_SERVER | _VALUES | _WRITES | _UNDO | {"--partitions", "--dead-letter", "--after", "--look"})
)
def test_one_option_has_one_kind_and_one_text_everywhere(option: str) -> None:
    every = [name for group in COMMANDS for name in _with_inner(group)]
    found = {
        (each.help, each.metavar, each.multiple, each.is_flag)
        for name in every
        if (name, option) not in _OWN_WORDS and (each := options_of(name).get(option)) is not None
    }
    assert len(found) == 1


def test_each_command_that_prints_data_has_json() -> None:
    every = [name for group in COMMANDS for name in _with_inner(group)]
    assert {name for name in every if "--json" not in options_of(name)} == _WITHOUT_JSON


def _with_inner(group: str) -> list[str]:
    command = import_module(COMMANDS[group]).command
    return [f"{group} {inner}" for inner in command.commands] if isinstance(command, click.Group) else [group]
