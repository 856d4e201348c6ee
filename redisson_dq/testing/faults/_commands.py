"""The commands that pass through a proxy, by name, and the traps set for them."""

from __future__ import annotations

import threading
from functools import cache
from typing import Literal

import attrs

from redisson_dq.scripts.script import names, variants
from redisson_dq.testing._scripts import running_ahead, sha_of, timed
from redisson_dq.testing.faults._frames import words

__all__ = ["REFUSED", "Command", "Trap", "What", "Where", "command_of", "is_known", "read_scripts"]

_EVALS = (b"EVAL", b"EVALSHA", b"EVAL_RO", b"EVALSHA_RO")
#: The reply of a command that is refused.
REFUSED = b"-ERR refused\r\n"

Where = Literal["command", "sent", "reply", "half"]
What = Literal["cut", "delay", "freeze", "refuse"]


@attrs.define(eq=False)
class Command:
    """A command that passed through, until its reply has passed too."""

    name: bytes
    words: list[bytes] = attrs.field(repr=False)
    #: The file of its script, such as ``offer.lua``.
    script: str = ""
    #: The commands of the transaction that it ends.
    transaction: list[Command] = attrs.field(factory=list, repr=False)
    #: Whether it belongs to a transaction, so that its reply is part of EXEC's.
    is_queued: bool = False
    #: The reply made here for a command that never reached the server.
    answer: bytes | None = None

    @property
    def blocks(self) -> bool:
        return self.name.startswith(b"B")

    @property
    def label(self) -> str:
        """The script, or else the command."""
        return self.script or self.name.decode(errors="replace")

    def is_called(self, wanted: str) -> bool:
        """Whether this names it: a Redis command, with its subcommand or without, a script's file, the beginning of a
        script's name, or ``*``.
        """
        script, name = self.script.removesuffix(".lua"), self.name.decode(errors="replace")
        if wanted in ("*", name, self.script, script) or script.startswith(f"{wanted}_"):
            return True
        return " " in wanted and wanted == f"{name} {b''.join(self.words[1:2]).decode(errors='replace').upper()}"

    @property
    def is_answered_here(self) -> bool:
        """Whether it is answered without the server. In a transaction the server takes part, and then discards it."""
        return self.answer is not None and not self.is_queued


@attrs.define(eq=False)
class Trap:
    """Does ``what`` when a command arrives, with ``queued`` only in a transaction.

    That is before it is forwarded (``command``), right after (``sent``), before its reply is forwarded (``reply``), or
    in the middle of the reply (``half``). A reply that the script is unknown, so nothing was done, springs no trap.
    """

    command: str
    where: Where
    what: What
    times: int = 1
    seconds: float = 0.2
    #: The reply of a trap that refuses.
    answer: bytes = REFUSED
    queued: bool = False
    #: How often it has sprung.
    count: int = 0
    _happened: threading.Event = attrs.field(factory=threading.Event, repr=False)
    #: Set when the trap has sprung for the last time.
    sprung: threading.Event = attrs.field(factory=threading.Event, repr=False)
    #: For a trap that freezes: set when the commands that it holds may go on.
    thawed: threading.Event = attrs.field(factory=threading.Event, repr=False)

    def wait(self, timeout: float = 10.0) -> bool:
        """Waits until it has sprung at least once, and returns True. False after ``timeout`` seconds of real time."""
        return self._happened.wait(timeout)

    def happens(self) -> None:
        """Records that a command has sprung it."""
        self.times -= 1
        self.count += 1
        self._happened.set()
        if not self.times:
            self.sprung.set()


def command_of(frame: bytes) -> Command:
    """The command that a client has sent. Its name is empty for a line without a word."""
    said = words(frame)
    name = said[0].upper() if said else b""
    return Command(name, said, read_scripts().get(said[1], "") if name in _EVALS and said[1:] else "")


@cache
def read_scripts() -> dict[bytes, str]:
    """The files of the scripts by their texts and digests, with the machine's time and with a test's.

    The first call takes 0.4 s of CPU. A proxy makes it before connections come, each of which would make its own.
    """
    loaded: dict[bytes, str] = {}
    for name in names():
        for script in variants(name):
            for text in (script.source, timed(script.source), running_ahead(script.source)):
                loaded[text.encode()] = loaded[sha_of(text).encode()] = f"{name}.lua"
    return loaded


def is_known(command: str) -> bool:
    """Whether it is the name of a script, or may be that of a Redis command."""
    return (
        command.isupper()
        or command == "*"
        or any(command in (name, f"{name}.lua") or name.startswith(f"{command}_") for name in names())
    )
