"""Texts for terminals and shells: control characters as escapes, and command lines that work when they are pasted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import attrs

__all__ = ["NamedServer", "command_line", "has_password", "named_server", "safe", "shell_word", "url_words"]

# Control characters in data could move the cursor or send commands to the terminal. Direction marks reorder text, and
# invisible characters make a name look like another one. static/times.js has the same. The pattern has control
# characters, direction marks, lone surrogates, and all code points that Unicode calls default-ignorable: a name with
# one of these would look like the name without it.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
_HAS_PASSWORD = re.compile(r"(?s)\w[\w+]*://[^/@]*:.*@|[?&]\w*password=")


def safe(text: str) -> str:
    """The text on one line, with control characters as escapes.

    >>> from redisson_dq._operations.shell import safe
    >>> safe("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


def shell_word(text: str) -> str:
    r"""The text as one word of a shell. Characters that must not reach a terminal are written in bash's ``$'...'``.

    >>> from redisson_dq._operations.shell import shell_word
    >>> print(shell_word("it's"), shell_word("a\x1bb"))
    'it'"'"'s' $'a\x1bb'
    """
    if not _UNSAFE.search(text):
        return shlex.quote(text)
    parts = []
    for each in text:
        if _UNSAFE.match(each):
            parts += [f"\\x{byte:02x}" for byte in each.encode("utf-8", "surrogateescape")]
        else:
            parts.append(f"\\{each}" if each in "\\'" else each)
    return f"$'{''.join(parts)}'"


def has_password(url: str) -> bool:
    """Whether a URL has a password, which no printed command may show."""
    return _HAS_PASSWORD.search(url) is not None


@attrs.define
class NamedServer:
    """The options by which the user has named a server, so that printed commands name it too.

    A URL with a password is not repeated. ``left_out`` says whether a command was printed without it.
    """

    options: tuple[str, ...] = ()
    left_out: bool = False

    @classmethod
    def of(cls, url: str | None, redisson_config: str | None) -> NamedServer:
        """The server of ``--url`` or ``--redisson-config``. Without either option, the environment names it."""
        if redisson_config is not None:
            return cls(options=("--redisson-config", redisson_config))
        return cls() if url is None else cls(options=("--url", url))

    def words(self) -> tuple[str, ...]:
        """The options for a command that is printed."""
        if any(map(has_password, self.options)):
            self.left_out = True
            return ()
        return self.options


_server: ContextVar[NamedServer | None] = ContextVar("_server", default=None)


@contextmanager
def named_server(server: NamedServer) -> Iterator[NamedServer]:
    """Lets :func:`command_line` name this server until the end of the block."""
    token = _server.set(server)
    try:
        yield server
    finally:
        _server.reset(token)


def url_words(option: str, url: str | None) -> tuple[str, ...]:
    """An option with its URL, for :func:`command_line`; nothing if there is no URL. No password is shown."""
    return () if url is None else (option, "..." if has_password(url) else url)


def command_line(words: str, names: Sequence[str] = (), options: Sequence[str] = (), *, of_server: bool = True) -> str:
    """The line of a ``redisson-dq`` command, as a shell takes it, with the server that the user has named.

    ``words`` is the command with its subcommand. ``names`` are queues, ids and files. ``options`` follow them.

    >>> from redisson_dq._operations.shell import command_line
    >>> command_line("dead redrive", ["orders"], ["--all", "--yes"])
    'redisson-dq dead redrive orders --all --yes'
    """
    server = _server.get()
    given = (*options, *(server.words() if server is not None and of_server else ()))
    quoted, behind = [shell_word(each) for each in names], [shell_word(each) for each in given]
    # A name with a leading dash would be read as an option.
    parts = (*behind, "--", *quoted) if any(each.startswith("-") for each in names) else (*quoted, *behind)
    return " ".join(("redisson-dq", words, *parts))
