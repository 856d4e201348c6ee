"""The server that the arguments of ``connect`` mean."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import attrs

from redisson_dq._common.signatures import unknown_option
from redisson_dq._common.texts import nearest, shown
from redisson_dq._redis import options_in, unexpected_option, without_password
from redisson_dq._redisson_config.reading import RedissonConfig
from redisson_dq._redisson_config.taking import FileSettings, taken_from
from redisson_dq.errors import ArgumentError, UnknownOptionError

__all__ = ["names_server", "settings_of", "unusable"]

_A_URL = "redis://localhost:6379/0"
#: The variable of the environment that has the URL where the program gives none.
_VARIABLE = "REDISSON_DQ_URL"
# Options of a URL that no parameter of redis-py's clients is.
_OF_SENTINELS = {"sentinel_username", "sentinel_password"}


def names_server(url: str | None, options: Mapping[str, Any]) -> bool:
    """Whether the arguments of ``connect``, or the environment, say which server is meant."""
    return url is not None or options.get("redisson_config") is not None or bool(os.environ.get(_VARIABLE))


def settings_of(url: str | None, config: RedissonConfig | None, given: Mapping[str, Any]) -> FileSettings:
    """The URL that is given, that of the environment, or the settings of a file."""
    if config is not None:
        names = [name for name, value in given.items() if value is not None]
        if url is None:
            return taken_from(config, names)
        return attrs.evolve(taken_from(config, [*names, "url"]), url=url)
    url = (os.environ.get(_VARIABLE) or None) if url is None else url
    if url is None:
        raise ArgumentError(
            f"connect() needs a URL such as {_A_URL}: pass one, or set the environment variable {_VARIABLE}"
        )
    if not isinstance(url, str):
        kind = type(url).__name__
        raise ArgumentError(
            f"connect() takes a URL such as {_A_URL}, not a {kind}; for a redis-py client use Client(...)"
        )
    return FileSettings(url, {}, None)


def unusable(
    error: Exception,
    url: str,
    of_redis: Collection[str],
    call: str,
    beside: Iterable[str],
    theirs: Iterable[str],
    more: Iterable[str],
) -> ArgumentError:
    """The error of the user's ``call`` where redis-py takes neither the URL nor the options ``of_redis``.

    It knows the options ``beside`` the URL, redis-py ``theirs``, and the call ``more``.
    """
    of_url = options_in(url)
    unknown = unexpected_option(error, [*of_redis, *of_url])
    if unknown in of_url:
        return _unknown_in_url(unknown, url, set(beside), set(theirs))
    if unknown == "ssl":
        return ArgumentError(f"{call}() has no option 'ssl'; use a URL that begins with rediss:// for TLS")
    if unknown is not None:
        return unknown_option(call, [unknown], {*beside, *theirs, *more})
    and_options = f" with {', '.join(f'{name}=' for name in of_redis)}" if of_redis else ""
    return ArgumentError(
        f"{shown(without_password(url))}{and_options} cannot be used: {error}; a URL looks like {_A_URL}"
    )


def _unknown_in_url(option: str, url: str, beside: set[str], theirs: set[str]) -> UnknownOptionError:
    text, meant = f"{shown(without_password(url))}: a URL has no option {option!r}", None
    if option in beside:
        text += f"; pass it beside the URL: connect(url, {option}=...)"
    elif option == "ssl" or option in theirs:
        text += "; TLS options need a URL that begins with rediss://"
    else:
        meant = nearest(option, sorted(theirs | _OF_SENTINELS))
        text += "" if meant is None else f"; did you mean {meant!r}?"
    return UnknownOptionError(text, option=option, nearest=meant)
