"""``redisson-dq dashboard``: serves the web pages of ``redisson_dq.web``."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from redisson_dq._operations.hosts import is_loopback
from redisson_dq.cli.frame import (
    PORT,
    Server,
    classes_option,
    load_classes,
    say,
    server_options,
    tell_part_of_cluster,
)

if TYPE_CHECKING:
    from redisson_dq.web import Basic, Token

__all__ = ["command"]

_VARIABLE = "REDISSON_DQ_DASHBOARD_TOKEN"
_COLORS = ("gray", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink")


@click.command(
    help="""Show queues as web pages: their contents, what falls due when, what is wrong.

    Only this machine can open the pages, and they change nothing. With --auth other machines can look, and with
    --allow-writes the pages act on items.

    \b
    --auth takes one of these:
      token            the token in the environment variable REDISSON_DQ_DASHBOARD_TOKEN, else one that is printed
      basic:FILE       users, one per line: NAME:PASSWORD[:view|mend|purge[:PATTERN]]
      MODULE:FUNCTION  a function authorize(request, action, queue)
    """
)
@server_options
@click.option("--host", metavar="HOST", default="127.0.0.1", help="Listen on this address (127.0.0.1).")
@click.option("--port", metavar="P", type=PORT, default=8787, help="Listen on this port (8787).")
@click.option("--allow-writes", is_flag=True, help="Let users with the right act on items. Needs --auth.")
@click.option("--auth", metavar="HOW", help="Who may do what: token, basic:FILE, or MODULE:FUNCTION.")
@click.option("--allow-host", "hosts", metavar="NAME", multiple=True, help="A host name that browsers use.")
@click.option(
    "--proxy", "proxies", metavar="ADDRESS", multiple=True, help="A proxy whose X-Forwarded-* headers are trusted."
)
@click.option("--root-path", metavar="PATH", default="", help="The path below which a proxy serves the pages.")
@click.option("--name", metavar="TEXT", default="", help="The environment, shown as a badge: production.")
@click.option("--color", type=click.Choice(_COLORS), default="gray", help="The colour of the badge (gray).")
@classes_option
@click.option("--mask", "masks", metavar="FIELD,...", multiple=True, help="Hide the values of these fields everywhere.")
@click.option(
    "--undo-dir",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Keep undo files here (default: until the command ends).",
)
def command(
    server: Server,
    host: str,
    port: int,
    allow_writes: bool,
    auth: str | None,
    hosts: tuple[str, ...],
    proxies: tuple[str, ...],
    root_path: str,
    name: str,
    color: str,
    classes: tuple[str, ...],
    masks: tuple[str, ...],
    undo_dir: Path | None,
) -> int:
    """Carry out ``dashboard``: 0 after SIGTERM or Ctrl-C."""
    from redisson_dq.errors import RedissonDQError

    try:
        import uvicorn

        from redisson_dq.web import app
        from redisson_dq.web.serving import config_of
    except ModuleNotFoundError as error:
        missing = error.name or "a package"
        raise RedissonDQError(f"dashboard: {missing} is missing: pip install starlette jinja2 uvicorn") from error
    far = next((each for each in hosts if not is_loopback(each)), None)
    if auth is None and (allow_writes or proxies or far or not is_loopback(host)):
        why = "--allow-writes" if allow_writes else "--proxy" if proxies else f"--host {host}"
        why = f"--allow-host {far}" if far and not allow_writes else why
        raise click.UsageError(f"{why} needs --auth: token, basic:FILE, or MODULE:FUNCTION")
    load_classes(classes)
    fields = [each for text in masks for each in text.split(",")]
    with server.client() as client:
        tell_part_of_cluster(client, may_be_away=True)
        made = app(
            client,
            auth=None if auth is None else _auth(auth),
            allow_writes=allow_writes,
            hosts=(*hosts, *((host,) if hosts and not is_loopback(host) else ())),
            name=name,
            color=color,
            masks=fields,
            undo_dir=undo_dir,
        )
        _serve(uvicorn, config_of(made, host, port, root_path, proxies))
    return 0


def _serve(uvicorn: Any, config: Any) -> None:
    """Serves until SIGTERM or Ctrl-C."""
    server = uvicorn.Server(config)
    startup = server.startup

    async def announced(*args: Any, **options: Any) -> None:
        await startup(*args, **options)
        for each in server.servers:
            address = each.sockets[0].getsockname()
            shown = f"[{address[0]}]" if ":" in address[0] else address[0]
            say(f"dashboard at http://{shown}:{address[1]}/")

    server.startup = announced
    # uvicorn has ended by then, and raises the signal again.
    with contextlib.suppress(KeyboardInterrupt):
        server.run()


def _auth(text: str) -> Token | Basic | Any:
    """The meaning of ``--auth``."""
    from redisson_dq.web import Token

    if text == "token":
        given = os.environ.get(_VARIABLE)
        if given is None:
            given = secrets.token_urlsafe(24)
            say(f"token: {given}")
        return Token(given)
    kind, colon, rest = text.partition(":")
    if kind == "basic" and rest:
        return _basic(Path(rest))
    if not colon or not rest:
        raise click.UsageError(f"--auth is token, basic:FILE, or MODULE:FUNCTION, not {text!r}")
    try:
        return getattr(import_module(kind), rest)
    except (ImportError, AttributeError) as error:
        raise click.UsageError(f"--auth: {rest!r} of {kind!r} cannot be imported: {error}") from error


def _basic(path: Path) -> Basic:
    from redisson_dq.web import Basic

    try:
        if os.name == "posix" and path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
            raise click.UsageError(f"--auth: everybody can read {str(path)!r}, which has passwords: chmod o= {path}")
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--auth: {str(path)!r} cannot be read: {error}") from error
    users: dict[str, Any] = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            user, _, rest = line.partition(":")
            password, right, pattern = (*rest.split(":", 2), "", "")[:3]
            users[user] = (password, right or "view", pattern or "*")
    return Basic(users)
