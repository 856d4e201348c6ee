"""Tries the versions that docs/compatibility.md names: ``python -m tests.compatibility [--write]``.

Each combination of a Python, a redis-py, a server and a Redisson makes one round trip: Redisson offers, Python moves,
takes, leases and handles; Python offers, Redisson moves and takes. The servers are those of every run and those of
``REDISSON_DQ_TEST_SERVERS``, which tests/nightly.sh sets. Results are kept in build, so parts may run one by one.

``--minutes`` ends the run after that time. It begins with combinations that were never tried, and of these with those
whose pairs of versions were not tried either. The page says how many were tried, and when.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack

import attrs

from redisson_dq.embedded import EmbeddedServer
from tests.compatibility.combinations import Combination, Result, most_telling, server_name, tried
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
    parser.add_argument("--minutes", type=float, default=math.inf, help="end after that time")
    parser.add_argument("--write", action="store_true", help="write all results that are kept into the page")
    arguments = parser.parse_args(argv)
    kept = [Result(**each) for each in json.loads(_KEPT.read_text("utf-8"))] if _KEPT.exists() else []
    results = {_key(each): each for each in kept}
    failed = 0
    with ExitStack() as stack:
        servers = [stack.enter_context(EmbeddedServer(program=find())) for find in at_hand().values()]
        peers = [stack.enter_context(JavaPeer(version)) for version in arguments.redisson or VERSIONS]
        environments = [
            Environment.made(minor, python, client)
            for minor, python in pythons().items()
            if not arguments.python or minor in arguments.python
            for client in CLIENTS
        ]
        chosen = {
            (each.python, each.redis_py, server_name(server), peer.version): (each, server, peer)
            for each, server, peer in itertools.product(environments, servers, peers)
        }
        if not arguments.python and not arguments.redisson:
            # The redis-pys and the servers may be others now.
            results = {key: result for key, result in results.items() if key in chosen}
        ends_at = time.monotonic() + 60 * arguments.minutes
        for key in most_telling(chosen, {key: result.day for key, result in results.items()}):
            if time.monotonic() > ends_at:
                break
            results[key] = result = tried(*chosen[key])
            failed += bool(result.failure)
            print(*key, result.failure or "passed", sep="  ", flush=True)
            _KEPT.parent.mkdir(parents=True, exist_ok=True)
            _KEPT.write_text(json.dumps([attrs.asdict(each) for each in results.values()]), "utf-8")
    if arguments.write:
        write([*results.values()])
    return bool(failed)


def _key(result: Result) -> Combination:
    return result.python, result.redis_py, result.server, result.redisson


if __name__ == "__main__":
    sys.exit(main())
