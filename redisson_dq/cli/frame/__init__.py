"""The frame of every command: options that commands share, output, questions, progress, exit codes.

A command is a module or a folder of ``redisson_dq/cli/``. It has one name, ``command``, which is a click command or a
click group. ``COMMANDS`` in ``redisson_dq/cli/_main.py`` lists it. The module imports click and this package, and
imports anything else inside its function: ``redisson-dq --help`` loads all commands, and neither redis nor rich. ::

    @click.command(help="Show what waits in queues.")
    @queues_argument()
    @server_options
    @json_option
    def command(queues: tuple[str, ...], server: Server, output: Output) -> int:
        from redisson_dq.browsing import overview

        with server.client() as client:
            found = overview(client, queues)
        if output.as_json:
            told: QueuesDocument = {"queues": [row(each) for each in found]}
            output.document(**told)
        else:
            output.table(["queue", Column("waiting", right=True)], [(each.name, each.waiting) for each in found])
        return FINE

The type of its JSON is in ``redisson_dq/cli/documents`` and in the table there. Its JSON
Schema is derived from it.

A command is thin: it parses, calls a package of the library that does not use click, and shows the result. It raises
errors of ``redisson_dq.errors``, and ``code_of`` gives each its exit code. It raises ``click.UsageError`` for arguments
that do not go together. A command that writes takes ``@write_options()`` and asks ``consent.given``. Long work runs
inside ``progress``, and ends between two steps when ``stopping`` says so. All output goes through ``Output`` or
``say``, which show control characters as escapes. Suggested command lines are built by ``command_line`` of
``redisson_dq._operations.shell``, which adds the server that the user has named.

The help, the completion and the row in docs/commands.md or docs/programs.md come from one definition (``make
generate``).
"""

from redisson_dq.cli.frame._classes import classes_option, load_classes
from redisson_dq.cli.frame._consent import Consent, write_options
from redisson_dq.cli.frame._exits import DATA, FINE, NO_RIGHTS, PROBLEM, UNREACHABLE, USAGE, code_of
from redisson_dq.cli.frame._failures import Attempt, abandon_output
from redisson_dq.cli.frame._hints import hint_on_error, refuse_part_of_cluster, tell_outage, tell_part_of_cluster
from redisson_dq.cli.frame._json import SCHEMA, fields_of, show_json
from redisson_dq.cli.frame._keyboard import quit_key
from redisson_dq.cli.frame._layout import CommandLine
from redisson_dq.cli.frame._options import (
    Server,
    allow_host_option,
    dead_letter_option,
    found_partitions,
    json_option,
    other_server_option,
    partitions_option,
    queue_argument,
    queues_argument,
    server_choice,
    server_options,
)
from redisson_dq.cli.frame._output import Output, say
from redisson_dq.cli.frame._progress import Progress, progress
from redisson_dq.cli.frame._stopping import interruptible_sleep, run_in_loop, stopping
from redisson_dq.cli.frame._tables import Column
from redisson_dq.cli.frame._types import PORT, SECONDS, Amount, BoundedNumber, Seconds
from redisson_dq.cli.frame._usage import NoSuchCommand, usage_error, usage_message

__all__ = [
    "DATA",
    "FINE",
    "NO_RIGHTS",
    "PORT",
    "PROBLEM",
    "SCHEMA",
    "SECONDS",
    "UNREACHABLE",
    "USAGE",
    "Amount",
    "Attempt",
    "Column",
    "CommandLine",
    "Consent",
    "BoundedNumber",
    "NoSuchCommand",
    "Output",
    "Progress",
    "Seconds",
    "Server",
    "abandon_output",
    "classes_option",
    "code_of",
    "allow_host_option",
    "dead_letter_option",
    "fields_of",
    "found_partitions",
    "hint_on_error",
    "interruptible_sleep",
    "json_option",
    "load_classes",
    "other_server_option",
    "partitions_option",
    "progress",
    "queue_argument",
    "queues_argument",
    "quit_key",
    "refuse_part_of_cluster",
    "run_in_loop",
    "say",
    "server_choice",
    "show_json",
    "server_options",
    "stopping",
    "tell_outage",
    "tell_part_of_cluster",
    "usage_error",
    "usage_message",
    "write_options",
]
