"""Servers that authenticate their clients: certificates made for each run, and users with few rights."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS


@dataclass(frozen=True)
class Certificates:
    """Files of an authority, and of servers and a client that it has signed; and a client of a stranger's.

    One server is somewhere ``elsewhere``, and the time of one certificate is ``over``.
    """

    directory: Path

    def __getattr__(self, name: str) -> str:
        """``ca``, ``server``, ``elsewhere``, ``over``, ``client``, ``stranger``; and each of them with ``_key``."""
        return str(self.directory / (f"{name.removesuffix('_key')}.key" if name.endswith("_key") else f"{name}.crt"))


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    directory = tmp_path_factory.mktemp("certificates")
    for authority in ("ca", "strangers-ca"):
        _openssl(directory, "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority", authority)
    (directory / "authority.cnf").write_text(_AUTHORITY)
    (directory / "signed").touch()
    for name in ("server", "elsewhere", "over", "client", "stranger"):
        _openssl(directory, f"req -newkey rsa:2048 -nodes -subj /CN={name}", name, ".csr")
        authority = "strangers-ca" if name == "stranger" else "ca"
        where = "elsewhere" if name == "elsewhere" else "here"
        times = "-startdate 20200101000000Z -enddate 20210101000000Z" if name == "over" else "-days 2"
        command = f"openssl ca -batch -config authority.cnf -cert {authority}.crt -keyfile {authority}.key"
        command += f" -extensions {where} -create_serial {times} -in {name}.csr -out {name}.crt"
        subprocess.run(command.split(), cwd=directory, check=True, capture_output=True)
    return Certificates(directory)


_AUTHORITY = """
[ca]
default_ca = authority
[authority]
database = signed
serial = serial
new_certs_dir = .
default_md = sha256
policy = policy
[policy]
commonName = supplied
[here]
subjectAltName = DNS:localhost, IP:127.0.0.1
[elsewhere]
subjectAltName = DNS:elsewhere
"""


def _openssl(directory: Path, words: str, name: str, end: str = ".crt") -> None:
    command = ["openssl", *words.split(), "-keyout", f"{name}.key", "-out", f"{name}{end}"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)


@pytest.fixture
def tls_server(certificates: Certificates) -> Iterator[tuple[EmbeddedServer, int]]:
    """A server that lets clients in over TLS with a certificate of its authority; and the port for that."""
    with serving(certificates, "server") as found:
        yield found


@contextlib.contextmanager
def serving(certificates: Certificates, name: str) -> Iterator[tuple[EmbeddedServer, int]]:
    """The same, with the certificate of that name."""
    with EmbeddedServer(program=PROGRAMS["redis"]()) as free:
        port = free.port
    assert port is not None
    config = {
        "tls-port": str(port),
        "tls-cert-file": getattr(certificates, name),
        "tls-key-file": getattr(certificates, f"{name}_key"),
        "tls-ca-cert-file": certificates.ca,
        "tls-auth-clients": "yes",
    }
    with EmbeddedServer(program=PROGRAMS["redis"](), config=config) as server:
        yield server, port
