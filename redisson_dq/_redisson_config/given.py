"""The server that the arguments of ``connect`` mean."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import attrs

from redisson_dq._redisson_config.reading import RedissonConfig
from redisson_dq._redisson_config.taking import FileSettings, taken_from
from redisson_dq.errors import ArgumentError

__all__ = ["A_URL", "names_server", "settings_of"]

A_URL = "redis://localhost:6379/0"
#: The variable of the environment that has the URL where the program gives none.
_VARIABLE = "REDISSON_DQ_URL"


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
            f"connect() needs a URL such as {A_URL}: pass one, or set the environment variable {_VARIABLE}"
        )
    if not isinstance(url, str):
        kind = type(url).__name__
        raise ArgumentError(
            f"connect() takes a URL such as {A_URL}, not a {kind}; for a redis-py client use Client(...)"
        )
    return FileSettings(url, {}, None)
