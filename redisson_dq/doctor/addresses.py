"""The options with which redis-cli reaches the servers of a client. Passwords are left out."""

from __future__ import annotations

from typing import Any

import redis
from redis import ConnectionPool
from redis.sentinel import SentinelConnectionPool

__all__ = ["has_password", "redis_cli_options"]

_LOCAL = ("localhost", "127.0.0.1", "::1")


def redis_cli_options(pool: ConnectionPool, *, is_cluster: bool = False) -> tuple[str, ...]:
    """The options for the server of a pool. Empty for redis-cli's default server."""
    settings: dict[str, Any] = pool.connection_kwargs
    options: list[str] = []
    host, port = settings.get("host") or "localhost", settings.get("port") or 6379
    if isinstance(pool, SentinelConnectionPool):
        host, port = pool.get_master_address()
    if settings.get("path"):
        options += ["-s", str(settings["path"])]
    else:
        options += [] if host in _LOCAL else ["-h", str(host)]
        options += [] if int(port) == 6379 else ["-p", str(port)]
    options += ["-n", str(settings["db"])] if int(settings.get("db") or 0) else []
    options += ["--user", str(settings["username"])] if settings.get("username") else []
    if issubclass(pool.connection_class, redis.SSLConnection):
        options += _tls(settings)
    return (*options, "-c") if is_cluster else tuple(options)


def _tls(settings: dict[str, Any]) -> list[str]:
    files = (("--cacert", "ssl_ca_certs"), ("--cert", "ssl_certfile"), ("--key", "ssl_keyfile"))
    options = [word for option, name in files if settings.get(name) for word in (option, str(settings[name]))]
    is_checked = str(settings.get("ssl_cert_reqs", "required")) not in (
        "none",
        "0",
        "CERT_NONE",
        "VerifyMode.CERT_NONE",
    )
    return ["--tls", *options, *([] if is_checked else ["--insecure"])]


def has_password(pool: ConnectionPool) -> bool:
    """Whether the server requires a password from this client. A printed command does not show it."""
    return bool(pool.connection_kwargs.get("password") or pool.connection_kwargs.get("credential_provider"))
