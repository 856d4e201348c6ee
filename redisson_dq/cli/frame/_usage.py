"""The text of a usage error, with the nearest existing name."""

from __future__ import annotations

import click

from redisson_dq._common.texts import nearest

__all__ = ["NoSuchCommand", "usage_error", "usage_message"]

#: Other programs' names of the option for the server.
_SERVER = frozenset(("redis", "uri", "redis-url", "redis-uri", "host", "server", "address", "dsn", "u", "h"))


def usage_error(error: click.ClickException, program: str) -> str:
    """The lines for standard error: the usage of the command, and the error after the command's name."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    usage = f"{ctx.get_usage()}\n" if ctx is not None else ""
    if ctx is not None and isinstance(ctx.command, click.Group) and not ctx.args and _is_missing(error):
        # A user who names no command wants to see the list of commands.
        usage = f"{ctx.get_help()}\n\n"
    path = ctx.command_path if ctx is not None else program
    return f"{usage}{path}: error: {usage_message(error)}"


def _is_missing(error: click.ClickException) -> bool:
    return isinstance(error, click.UsageError) and error.message.startswith("Missing command")


def usage_message(error: click.ClickException) -> str:
    """The error alone."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.NoSuchOption) and ctx is not None:
        options = [name for each in ctx.command.params for name in (*each.opts, *each.secondary_opts)]
        known = {name.lstrip("-"): name for name in options if name.startswith("--")}
        if error.option_name.lstrip("-").lower() in _SERVER and "url" in known:
            return f"there is no option {error.option_name}; did you mean --url?"
        return f"there is no option {error.option_name}{_question(error.option_name, known)}"
    if isinstance(error, NoSuchCommand):
        known = {name: name for name in error.commands}
        return f"there is no command {error.name}{_question(error.name, known)}"
    text = error.format_message()
    return text[:1].lower() + text[1:].rstrip(".")


def _question(name: str, known: dict[str, str]) -> str:
    meant = nearest(name.lstrip("-").replace("-", "_"), known)
    return f"; did you mean {known[meant]}?" if meant is not None else ""


class NoSuchCommand(click.UsageError):
    """An unknown command."""

    def __init__(self, name: str, commands: list[str], ctx: click.Context) -> None:
        super().__init__(f"there is no command {name}", ctx)
        self.name, self.commands = name, commands
