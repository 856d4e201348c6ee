"""The check of commands: whether the server carries out each command that the main job sends.

Services and proxies leave out commands, and at best document this. Each command is sent in a form that changes nothing:
about a key that does not exist, or to nobody. No command is sent that the user may not send: from Redis 7.0 on, the
server reports permissions beforehand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import attrs
import redis.exceptions

from redisson_dq._operations.shell import command_line
from redisson_dq.admin import CommandProbe, Node
from redisson_dq.admin.refusals import is_denied
from redisson_dq.doctor.findings import CannotRun, Finding, Severity, redis_cli
from redisson_dq.doctor.sight import Sight
from redisson_dq.errors import RedissonDQError
from redisson_dq.scripts.script import load

__all__ = ["commands"]

_NO_KEY = "redisson_dq:none"
# The first words of errors that a server only raises if it knows the command. Alibaba Cloud's proxies want a key.
_KNOWS = ("CROSSSLOT", "NOSCRIPT", "No matching script", "WRONGTYPE", "for redis cluster, eval/evalsha number of keys")
_TIME = "return redis.call('TIME')"
# Alibaba Cloud's oldest proxies require ``KEYS[1]`` in the call, and refuse this script with these words.
_STRICT = "local key = KEYS[1] return redis.call('EXISTS', key)"
_REFUSED_STRICTLY = "bad lua script for redis cluster"


@attrs.frozen
class _Needed:
    """A command, sent in a form that changes nothing, and the work that needs it."""

    words: tuple[str, ...]
    without: str
    severity: Severity = Severity.WARNING
    #: Whether a read-only user has no permission for it.
    writes: bool = False

    @property
    def name(self) -> str:
        return " ".join(self.words[: 2 if self.words[0] == "CLIENT" else 1])

    @property
    def asked(self) -> str:
        """The command whose permission is asked for: with its keys and channels, but without the text of a script."""
        return f"{self.name} 0 0" if self.name.startswith("EVAL") else " ".join(filter(None, self.words))


_PROBLEM = Severity.PROBLEM
_NO_SCRIPT = "no call that changes a queue works"
_NOT_ENDED = "an abandoned wait goes on until its timeout"

_NEEDED = (
    _Needed(("EVAL", "return 1", "0"), _NO_SCRIPT, _PROBLEM),
    _Needed(("EVALSHA", "0" * 40, "0"), _NO_SCRIPT, _PROBLEM),
    _Needed(("BLPOP", _NO_KEY, "0.01"), "take() and poll(timeout=) fail", _PROBLEM, writes=True),
    _Needed(("BLMOVE", _NO_KEY, _NO_KEY, "LEFT", "RIGHT", "0.01"), "receive() and workers fail", _PROBLEM, writes=True),
    _Needed(("LPOP", _NO_KEY), "poll() fails", _PROBLEM, writes=True),
    _Needed(("SUBSCRIBE", _NO_KEY), "offers of other clients are moved up to 30 s late"),
    _Needed(("PUBLISH", _NO_KEY, ""), "other clients are not woken by offers", writes=True),
    _Needed(("CLIENT", "ID"), _NOT_ENDED),
    _Needed(("CLIENT", "UNBLOCK", "0"), _NOT_ENDED, writes=True),
    _Needed(("MULTI",), "there are no transactions"),
    _Needed(("CLIENT", "TRACKING", "OFF"), "each queue that is waited for has its own connection"),
    _Needed(("SCAN", "0", "COUNT", "1"), "queues are found by their names only"),
)
#: The scripts of the main job.
_SCRIPTS = ("offer", "transfer", "receive", "ack", "put_back")


def commands(sight: Sight) -> Iterator[Finding]:
    """The server carries out each command that offering, taking, receiving and a worker send."""
    for node in sight.nodes:
        with contextlib.closing(sight.admin.probe(node)) as probe:
            line = _Probing(node, probe)
            refused = dict(_refusals(line, _rights(sight, node)))
            denied = {needed for needed, error in refused.items() if _is_right(error)}
            only_looks = {needed for needed in _NEEDED if needed.writes} <= denied
            if only_looks:
                sight.note("the user only looks; run the doctor as the user of a service to see what it may send")
            for needed, error in refused.items():
                if not (only_looks and needed in denied):
                    # A user who only offers has no permission to take.
                    severity = Severity.WARNING if needed.writes and needed in denied else needed.severity
                    yield _refused(node, needed.name, error, needed.without, severity)
            if not only_looks and not any(needed.name == "EVAL" for needed in refused):
                yield from _inside(sight, node, line)


@attrs.frozen
class _Rights:
    """The commands that the user may not send for a queue, and those that it may not send in the form used here."""

    lacking: frozenset[_Needed] = frozenset()
    unsendable: frozenset[_Needed] = frozenset()


def _rights(sight: Sight, node: Node) -> _Rights:
    """The permissions that the server reports before a command is sent."""
    # A command without arguments is asked about with a queue's key.
    of_keys = ("BLPOP", "BLMOVE", "LPOP")
    asked = {needed: (needed.name if needed.name in of_keys else needed.asked, needed.asked) for needed in _NEEDED}
    missing = sight.missing_rights([text for texts in asked.values() for text in texts], node)
    return _Rights(
        frozenset(needed for needed, (name, _) in asked.items() if name in missing),
        frozenset(needed for needed, (_, text) in asked.items() if text in missing),
    )


def _refusals(line: _Probing, rights: _Rights) -> Iterator[tuple[_Needed, Exception]]:
    """The commands that are refused. No command is sent for which the user has no permission."""
    for needed in _NEEDED:
        if needed in rights.lacking:
            yield needed, redis.exceptions.NoPermissionError("the user has no right to it")
        elif needed not in rights.unsendable:
            error = line.error_of(needed.words)
            if error is not None:
                yield needed, error


def _inside(sight: Sight, node: Node, line: _Probing) -> Iterator[Finding]:
    """The commands that are refused inside scripts."""
    error = line.error_of(("EVAL", _TIME, "0"))
    if error is not None:
        yield _refused(node, "TIME in a script", error, _NO_SCRIPT, Severity.PROBLEM)
    error = line.error_of(("EVAL", _STRICT, "1", _NO_KEY))
    if _REFUSED_STRICTLY in str(error):
        text = "refuses scripts that have the name of a key in a variable: transfers, receives and acks fail"
        off = "# set the parameter script_check_enable of the instance to 0"
        yield attrs.evolve(_finding(node, "EVAL", text, Severity.PROBLEM), commands=(off,))
    wanted = sorted({name for script in _SCRIPTS for name in load(script).commands} - {"TIME"})
    with contextlib.suppress(CannotRun, RedissonDQError):
        key = _NO_KEY if sight.admin.is_cluster else sight.a_key()
        for name in sight.admin.unknown_commands(key, wanted, node):
            of = ", ".join(each for each in _SCRIPTS if name in load(each).commands)
            yield _finding(node, name, f"does not know {name} in a script; these fail: {of}", Severity.PROBLEM)


@attrs.frozen
class _Probing:
    """A connection to a node, on which commands are tried."""

    _node: Node
    _probe: CommandProbe

    def error_of(self, words: tuple[str, ...]) -> Exception | None:
        """The error of a refused command. Raises CannotRun."""
        try:
            error = self._probe.error_of(*words)
        except redis.exceptions.TimeoutError as failure:
            raise CannotRun(f"{self._node.name} has not answered {words[0]}: {failure}") from failure
        # A node that redirects knows the command, and would carry it out for one of its own keys.
        is_known = isinstance(error, redis.exceptions.ResponseError) and str(error).startswith(_KNOWS)
        return None if is_known else error


def _is_right(error: Exception) -> bool:
    return isinstance(error, redis.exceptions.ResponseError) and is_denied(error)


def _refused(node: Node, name: str, error: Exception, without: str, severity: Severity) -> Finding:
    text = f"refuses {name}: {str(error).strip().rstrip(':,')}; {without}"
    # The error may quote the key of a queue.
    return _finding(node, name, text, severity, is_right=_is_right(error), others=None)


def _finding(
    node: Node,
    name: str,
    text: str,
    severity: Severity,
    *,
    is_right: bool = False,
    others: tuple[str, ...] | None = (),
) -> Finding:
    command = name.partition(" in ")[0]
    has = command_line("acl", ["QUEUE"], ["--role", "worker"], of_server=False)
    return Finding(
        check="commands",
        severity=severity,
        text=f"{node.name} {text}",
        queue=None,
        evidence={"command": command, "server": node.name},
        shown_by=redis_cli("COMMAND", "INFO", command.replace(" ", "|").lower()),
        commands=(has if is_right else f"# use a Redis or a Valkey that has {command}, and no proxy without it",),
        others=others,
    )
