"""An option of TLS that cannot be used is named before a connection is tried, with its value and the valid ones."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
import redis

import redisson_dq
import redisson_dq.aio
from redisson_dq.errors import ArgumentError, RedisConnectionError
from tests.security.conftest import Certificates

FLAVOURS: list[Any] = [redisson_dq, redisson_dq.aio]
#: Nobody listens there.
PLACES = ["rediss://u:secret@127.0.0.1:1/0", "rediss+sentinel://127.0.0.1:1/main", "rediss+cluster://127.0.0.1:1"]

WRONG = [
    ("ssl_ca_certs", "/no/such/file", "ssl_ca_certs='/no/such/file' names no file"),
    ("ssl_ca_certs", "/", "ssl_ca_certs='/' names no file"),
    ("ssl_certfile", "/no/such/file", "ssl_certfile='/no/such/file' names no file"),
    ("ssl_keyfile", "/no/such/file", "ssl_keyfile='/no/such/file' names no file"),
    ("ssl_ca_path", "/no/such/folder", "ssl_ca_path='/no/such/folder' names no folder"),
    ("ssl_ca_path", __file__, f"ssl_ca_path={__file__!r} names no folder"),
    ("ssl_ca_certs", __file__, f"ssl_ca_certs={__file__!r} cannot be used: "),
    ("ssl_certfile", __file__, f"ssl_certfile={__file__!r} cannot be used with the key in ssl_keyfile="),
    ("ssl_keyfile", __file__, "and ssl_certfile= is missing"),
    ("ssl_ca_data", "no certificate", "ssl_ca_data= cannot be used: "),
    ("ssl_cert_reqs", "require", "ssl_cert_reqs='require' is none of 'none', 'optional', 'required'"),
    ("ssl_min_version", "TLSv1.2", "ssl_min_version='TLSv1.2' is none of ssl.TLSVersion, such as 771 (TLSv1.2)"),
    ("ssl_min_version", "5", "ssl_min_version=5 is none of ssl.TLSVersion"),
    ("ssl_ciphers", "nonsense", "ssl_ciphers='nonsense' cannot be used: "),
]


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("option", "value", "says"), WRONG)
def test_it_is_named(flavour: Any, place: str, option: str, value: str, says: str) -> None:
    given = int(value) if value.isdecimal() else value
    calls: list[Callable[[], object]] = [
        lambda: flavour.connect(place, **{option: given}),
        lambda: flavour.connect(f"{place}?{option}={quote(value, safe='')}"),
    ]
    for call in calls:
        with pytest.raises(ArgumentError, match=re.escape(says)) as caught:
            call()
        assert "secret" not in str(caught.value)


def test_options_that_can_be_used_lead_to_a_connection(certificates: Certificates) -> None:
    files: dict[str, Any] = {
        "ssl_ca_certs": certificates.ca,
        "ssl_certfile": certificates.client,
        "ssl_keyfile": certificates.client_key,
    }
    words: dict[str, Any] = {
        "ssl_cert_reqs": "optional",
        "ssl_ciphers": "ECDHE+AESGCM",
        "ssl_ca_path": str(certificates.directory),
    }
    for version in (ssl.TLSVersion.TLSv1_2, 772):
        with pytest.raises(RedisConnectionError, match="refused"):
            redisson_dq.connect(PLACES[0], **files, **words, ssl_min_version=version)
    query = "&".join(f"{name}={quote(value)}" for name, value in {**files, **words, "ssl_min_version": "771"}.items())
    with pytest.raises(RedisConnectionError, match="refused"):
        redisson_dq.connect(f"{PLACES[0]}?{query}")


def test_a_key_of_another_certificate_is_named(certificates: Certificates) -> None:
    with pytest.raises(ArgumentError, match=r"ssl_certfile=.*cannot be used with the key in ssl_keyfile="):
        redisson_dq.connect(PLACES[0], ssl_certfile=certificates.client, ssl_keyfile=certificates.server_key)


def test_a_client_of_redis_py_has_the_option_in_its_first_error() -> None:
    theirs = redis.Redis(host="127.0.0.1", port=1, ssl=True, ssl_ca_certs="/no/such/file")
    with pytest.raises(RedisConnectionError, match="ssl_ca_certs='/no/such/file' names no file"):
        redisson_dq.Client(theirs).open()
