"""The options of TLS, looked at before a connection is tried. redis-py names neither the option nor the file."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["check_tls"]

_REQUIREMENTS = ("none", "optional", "required")
_VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)


def check_tls(settings: Mapping[str, Any]) -> None:
    """Raises ValueError for an option that no connection can be made with. Reads the files as redis-py does later."""
    # redis-py takes an empty text for none.
    given = {name: value for name, value in settings.items() if name.startswith("ssl_") and value not in (None, "")}
    for option in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_ca_path"):
        if option in given:
            _check_path(option, given[option])
    required = given.get("ssl_cert_reqs")
    if isinstance(required, str) and required not in _REQUIREMENTS:
        raise ValueError(f"ssl_cert_reqs={required!r} is none of {', '.join(map(repr, _REQUIREMENTS))}")
    if "ssl_keyfile" in given and "ssl_certfile" not in given:
        raise ValueError("ssl_keyfile= is the key of a certificate, and ssl_certfile= is missing")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if "ssl_min_version" in given:
        _check_version(context, given["ssl_min_version"])
    for option, use in _USES.items():
        if option not in given:
            continue
        try:
            use(context, given)
        except (OSError, TypeError, ValueError) as error:
            # Certificates given as text are long, and are not file names.
            shown = "" if option == "ssl_ca_data" else repr(str(given[option]))
            raise ValueError(f"{option}={shown} cannot be used{_MORE.get(option, '')}: {error}") from None


# The check of each option that names a file or a setting of TLS.
_USES: dict[str, Callable[[ssl.SSLContext, dict[str, Any]], None]] = {
    # Without a password, OpenSSL would ask for it at the terminal.
    "ssl_certfile": lambda context, given: context.load_cert_chain(
        given["ssl_certfile"], given.get("ssl_keyfile"), given.get("ssl_password", "")
    ),
    "ssl_ca_certs": lambda context, given: context.load_verify_locations(cafile=given["ssl_ca_certs"]),
    "ssl_ca_path": lambda context, given: context.load_verify_locations(capath=given["ssl_ca_path"]),
    "ssl_ca_data": lambda context, given: context.load_verify_locations(cadata=given["ssl_ca_data"]),
    "ssl_ciphers": lambda context, given: context.set_ciphers(given["ssl_ciphers"]),
}
_MORE = {"ssl_certfile": " with the key in ssl_keyfile= and its password in ssl_password="}


def _check_path(option: str, path: Any) -> None:
    kind, is_there = ("folder", os.path.isdir) if option == "ssl_ca_path" else ("file", os.path.isfile)
    try:
        if not is_there(path):
            raise ValueError(f"{option}={str(path)!r} names no {kind}")
        if not os.access(path, os.R_OK):
            raise ValueError(f"{option}={str(path)!r} may not be read by this user")
    except TypeError:
        raise ValueError(f"{option}= is the path of a {kind}, not a {type(path).__name__}") from None


def _check_version(context: ssl.SSLContext, version: Any) -> None:
    try:
        context.minimum_version = version
    except (TypeError, ValueError):
        known = " or ".join(f"{int(each)} ({each.name.replace('_', '.')})" for each in _VERSIONS)
        raise ValueError(f"ssl_min_version={version!r} is none of ssl.TLSVersion, such as {known}") from None
