"""Servers that authenticate their clients: certificates made for each run, and users with few rights."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS


@dataclass(frozen=True)
class Certificates:
    """Files of an authority, and of a server and a client that it has signed; and a client of a stranger's."""

    directory: Path

    def __getattr__(self, name: str) -> str:
        """``ca``, ``server``, ``server_key``, ``client``, ``client_key``, ``stranger``, ``stranger_key``."""
        return str(self.directory / (f"{name.removesuffix('_key')}.key" if name.endswith("_key") else f"{name}.crt"))


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    directory = tmp_path_factory.mktemp("certificates")
    for authority in ("ca", "strangers-ca"):
        _openssl(directory, "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority", authority)
    for name, authority in (("server", "ca"), ("client", "ca"), ("stranger", "strangers-ca")):
        _openssl(directory, f"req -newkey rsa:2048 -nodes -subj /CN={name}", name, ".csr")
        extensions = directory / f"{name}.ext"
        extensions.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        command = f"openssl x509 -req -days 2 -in {name}.csr -CA {authority}.crt -CAkey {authority}.key"
        command += f" -CAcreateserial -extfile {name}.ext -out {name}.crt"
        subprocess.run(command.split(), cwd=directory, check=True, capture_output=True)
    return Certificates(directory)


def _openssl(directory: Path, words: str, name: str, end: str = ".crt") -> None:
    command = ["openssl", *words.split(), "-keyout", f"{name}.key", "-out", f"{name}{end}"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)


@pytest.fixture
def tls_server(certificates: Certificates) -> Iterator[tuple[EmbeddedServer, int]]:
    """A server that lets clients in over TLS with a certificate of its authority; and the port for that."""
    with EmbeddedServer(program=PROGRAMS["redis"]()) as free:
        port = free.port
    assert port is not None
    config = {
        "tls-port": str(port),
        "tls-cert-file": certificates.server,
        "tls-key-file": certificates.server_key,
        "tls-ca-cert-file": certificates.ca,
        "tls-auth-clients": "yes",
    }
    with EmbeddedServer(program=PROGRAMS["redis"](), config=config) as server:
        yield server, port
