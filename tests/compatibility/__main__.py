"""Tries the versions that docs/compatibility.md names: ``python -m tests.compatibility [--write]``.

Each combination of a Python, a redis-py, a server and a Redisson makes one round trip: Redisson offers, Python moves,
takes, leases and handles; Python offers, Redisson moves and takes. The servers are those of every run and those of
``REDISSON_DQ_TEST_SERVERS``, which tests/nightly.sh sets. Results are kept in build, so parts may run one by one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack

import attrs

from redisson_dq.embedded import EmbeddedServer
from tests.compatibility.combinations import Result, tried
from tests.compatibility.environments import ROOT, Environment, pythons
from tests.compatibility.page import write
from tests.faults.servers import at_hand
from tests.peer import VERSIONS, JavaPeer
from tests.versions import CLIENTS, PYTHONS

_KEPT = ROOT / "build" / "compatibility" / "results.json"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints each result. Gives 1 if a combination failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.compatibility", description=__doc__)
    parser.add_argument("--python", action="append", choices=PYTHONS, help="this one alone; may be repeated")
    parser.add_argument("--redisson", action="append", choices=VERSIONS, help="likewise")
    parser.add_argument("--write", action="store_true", help="write all results that are kept into the page")
    arguments = parser.parse_args(argv)
    kept = [Result(**each) for each in json.loads(_KEPT.read_text("utf-8"))] if _KEPT.exists() else []
    failed = 0
    with ExitStack() as stack:
        servers = [stack.enter_context(EmbeddedServer(program=find())) for find in at_hand().values()]
        peers = [stack.enter_context(JavaPeer(version)) for version in arguments.redisson or VERSIONS]
        for minor, python in pythons().items():
            if arguments.python and minor not in arguments.python:
                continue
            found = []
            for client in CLIENTS:
                environment = Environment.made(minor, python, client)
                for server in servers:
                    for peer in peers:
                        found.append(result := tried(environment, server, peer))
                        print(*attrs.astuple(result)[:4], result.failure or "passed", sep="  ", flush=True)
            failed += sum(bool(each.failure) for each in found)
            # All of a Python are replaced: its redis-pys and the servers may be others now.
            tried_now = {peer.version for peer in peers}
            kept = [
                each for each in kept if each.python.rpartition(".")[0] != minor or each.redisson not in tried_now
            ] + found
            _KEPT.write_text(json.dumps([attrs.asdict(each) for each in kept]), "utf-8")
    if arguments.write:
        write(kept)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
