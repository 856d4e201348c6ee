"""Explains Redis's errors: which key has the wrong type, which rights are missing.

A generator asks Redis what its error does not say. It is sent the result of each request, or gets its error raised.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, Protocol, TypeVar

from redis.exceptions import AskError, ResponseError

from redisson_dq._redis import is_denied, is_passing, translate
from redisson_dq._redis.errors import with_remedy
from redisson_dq.calls.confirming import subject
from redisson_dq.errors import (
    NewerFormError,
    RedisConnectionError,
    RedisReplyError,
    RedissonDQError,
    WrongTypeError,
)
from redisson_dq.wire import calls, commands
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.forms import newer_text
from redisson_dq.wire.request import Request

__all__ = ["Serves", "ended", "explaining", "reason_of", "runs_no_scripts"]

E = TypeVar("E")

# Redis does not say which one.
_UNKNOWN_IN_A_SCRIPT = re.compile(r"(?i)unknown (\w+ )?command called|invalid command passed to \w+\.acl_check")
_UNKNOWN = re.compile(r"(?i)unknown command ['`](\w+)")
# Redis names the command itself, and scripts cannot be asked for more.
_NO_SCRIPTS = re.compile(r"(?i)permissions to run the 'eval(sha)?'")
_NEWER_FORM = re.compile(r"NEWERFORM (\w+) (\d+)")

_Asking = Generator[Request[Any], Any, E]


class Serves(Protocol):
    """A client, as far as it is known here."""

    #: Whether a server has answered that knows commands of keys, which a Sentinel does not.
    serves_keys: bool
    #: Whether keys live on several nodes.
    is_cluster: bool


def runs_no_scripts(error: object) -> bool:
    """Whether Redis refused a call because the user may run no script."""
    return isinstance(error, ResponseError) and _NO_SCRIPTS.search(str(error)) is not None


def reason_of(client: Serves, error: BaseException, where: str, *, sent: bool) -> RedissonDQError:
    """Our error for the one that ended a wait, without asking Redis. ``sent`` is as with :func:`translate`."""
    if not isinstance(error, Exception):
        # The loop ends, and has cancelled a connection that was being made.
        return RedisConnectionError(f"{where}: cancelled")
    if isinstance(error, ResponseError) and is_passing(error):
        # A client of a cluster goes where its nodes point.
        said = str(error) if client.is_cluster and isinstance(error, AskError) else with_remedy(error)
        return _caused(RedisConnectionError(f"{where}: {said}"), error)
    return translate(error, where, sent=sent)


def ended(
    client: Serves, source: Source, error: ResponseError, request: Request[Any] | None
) -> _Asking[RedissonDQError | None]:
    """Our error for the one that ended a wait. None when a plain command finds nothing wrong.

    The refused ``request`` may use keys that the source does not name.
    """
    where = f"queue {source.key!r}"
    if is_passing(error):
        return reason_of(client, error, where, sent=True)
    if request is not None:
        return (yield from explaining(client, request, error))
    # A plain command on the same key fails the same way, and its error names the key and the types.
    for key in source.keys:
        try:
            yield commands.length_of(key)
        except RedissonDQError as failure:
            return failure
    return None if str(error).startswith("WRONGTYPE") else _caused(translate(error, where), error)


def explaining(client: Serves, request: Request[Any], error: ResponseError) -> _Asking[RedissonDQError]:
    """Our error for one of Redis's, with the key that has the wrong type, or the rights that are missing."""
    made: RedissonDQError | None = None
    if str(error).startswith("WRONGTYPE"):
        made = yield from _wrong_type(request)
    elif newer := _NEWER_FORM.search(str(error)):
        made = _newer_form(request, newer[1], int(newer[2]))
    elif is_denied(error):
        made = yield from _denied(request, error)
    elif _UNKNOWN_IN_A_SCRIPT.search(str(error)):
        made = yield from _unknown(request, error)
    elif unknown := _UNKNOWN.search(str(error)):
        made = yield from _switched_off(client, request, unknown[1], error)
    return _caused(made or translate(error, subject(request)), error)


def _caused(made: RedissonDQError, error: ResponseError) -> RedissonDQError:
    made.__cause__ = error
    return made


def _type_of(key: str) -> Request[str]:
    return Request(words=("TYPE", key), types={key: ""}, parse=bytes.decode)


def _asked(request: Request[list[str]]) -> _Asking[list[str]]:
    """The result, empty where Redis does not say."""
    try:
        return (yield request)  # type: ignore[no-any-return]
    except RedissonDQError:
        return []


def _wrong_type(request: Request[Any]) -> _Asking[WrongTypeError | None]:
    """Finds the key that made Redis answer WRONGTYPE."""
    for key, expected in request.types.items():
        found = yield _type_of(key)
        if found not in (expected, "none"):
            return WrongTypeError(
                f"key {key!r} holds a {found}, but this queue keeps a {expected} there; "
                "something else uses the same name: rename the queue or the other key",
                key=key,
                expected=expected,
                found=found,
            )
    return None


def _newer_form(request: Request[Any], name: str, form: int) -> NewerFormError | None:
    """Names the key in which a script met a form that only a newer version knows (``include/whereabouts.lua``)."""
    script = request.script
    if script is None or name not in script.keys:
        return None
    keys = dict(zip(script.keys, map(str, request.words[1:]), strict=False))
    # The queue's name is in braces, or has braces of its own.
    queue = re.sub(r"^\{([^{}]+)\}$", r"\1", keys[name].partition(":")[2])
    return NewerFormError(newer_text(queue, keys[name], name, form), key=keys[name], form=form)


def _denied(request: Request[Any], error: ResponseError) -> _Asking[RedisReplyError | None]:
    """Says which rights a script lacks. None where Redis does not say, as for a right to a key, or has said it."""
    script = request.script
    if script is None or script.name == "missing_rights" or runs_no_scripts(error):
        return None
    missing = yield from _asked(calls.missing_rights(list(request.types), script.commands))
    if not missing:
        return None
    # Redis 6.2 refuses a command in the midst of a script.
    doubt = str(error).startswith("Error running script")
    one = "one of the commands" if doubt else "the command" if len(missing) == 1 else "the commands"
    done = "the commands before it were carried out" if doubt else "nothing was done"
    return RedisReplyError(
        f"{subject(request)}: the user may not run {one} {', '.join(missing)} ({error}); {done}; "
        "ACL SETUSER gives the right",
        maybe_done=doubt,
    )


def _switched_off(
    client: Serves, request: Request[Any], command: str, error: ResponseError
) -> _Asking[RedisReplyError | None]:
    """Says that a server of keys lacks a command. None for one that knows no command of keys, as a Sentinel."""
    key = next(iter(request.types), None)
    if key is None or request.words[0] == "TYPE":
        return None
    if not client.serves_keys:
        try:
            yield _type_of(key)
        except RedissonDQError as failure:
            if _UNKNOWN.search(str(failure)):
                return None
        else:
            client.serves_keys = True
    said = str(error).rstrip(" ,")
    return RedisReplyError(
        f"{subject(request)}: the server does not know {command} ({said}); a proxy has no such command, a managed "
        "service may have switched it off, and rename-command in redis.conf hides it"
    )


def _unknown(request: Request[Any], error: ResponseError) -> _Asking[RedisReplyError | None]:
    """Names the commands of a script that the server does not know, or that it has under other names."""
    script = request.script
    if script is None or script.name == "unknown_commands":
        return None
    unknown = yield from _asked(calls.unknown_commands(list(request.types), script.commands))
    if not unknown:
        return None
    return RedisReplyError(
        f"{subject(request)}: the server does not know {', '.join(unknown)} ({error}); a managed service may have "
        "switched commands off, and rename-command in redis.conf hides them",
        # Rights are asked for before a script's first write.
        maybe_done="acl_check" not in str(error),
    )
