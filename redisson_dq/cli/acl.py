"""``redisson-dq acl``: the line that gives a user the rights of a role on queues, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from redisson_dq.cli.frame import Output, json_option, say

if TYPE_CHECKING:
    from redisson_dq.cli.documents.others import AclDocument

__all__ = ["command"]

_ROLES = ("producer", "consumer", "worker", "mover", "observer", "operator")


@click.command(
    help="""Print the ACL SETUSER line for a user with one role on queues, and no other rights.

    A star in QUEUE matches any text: 'orders*' is the queue orders with all of its partitions.

    \b
    roles:
      producer  offers, cancels and reschedules its items, and moves what is due
      consumer  takes and receives values, acks them, and moves what is due
      worker    the same, with limits and keys of a worker
      mover     moves what is due, and takes nothing
      observer  looks: list, stats, watch, doctor, exporter; writes nothing
      operator  looks and acts: cancel, pause, redrive, purge, import, move
    """
)
@click.argument("queues", metavar="QUEUE...", nargs=-1, required=True)
@click.option("--role", type=click.Choice(_ROLES), required=True, help="The role of the user.")
@click.option("--user", metavar="NAME", help="The user's name (default: the role).")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input, and print its SHA-256.")
@click.option("--prefix", metavar="TEXT", help="The prefix that the clients' name mapper adds to every name.")
@click.option(
    "--server-version", metavar="N", default="7.0", help="The server's version (7.0). Newer ones know more commands."
)
@json_option
def command(
    queues: tuple[str, ...],
    role: str,
    user: str | None,
    password_stdin: bool,
    prefix: str | None,
    server_version: str,
    output: Output,
) -> int:
    """Prints the line."""
    import hashlib
    import re
    import shlex
    import sys

    from redisson_dq.admin.names import acl_words

    version = tuple(map(int, re.findall(r"\d+", server_version)[:2]))
    rules = acl_words(role, queues, version=version, name_mapper=prefix)
    secret = ">PASSWORD"
    if password_stdin:
        password = sys.stdin.buffer.read().rstrip(b"\r\n")
        secret = f"#{hashlib.sha256(password).hexdigest()}"
    words = ["ACL", "SETUSER", user or role, "reset", "on", secret, *rules]
    if output.as_json:
        told: AclDocument = {"role": role, "user": user or role, "queues": list(queues), "words": words}
        output.document(**told)
    else:
        # A line for redis-cli, not folded to the width of the terminal.
        say(" ".join(shlex.quote(word) for word in words), lines=True)
    return 0
