"""``python -m tests.benchmarks --only peers``: its options, and what it writes."""

from __future__ import annotations

import argparse
import datetime
import json
import signal
import sys
from collections.abc import Callable

import attrs

from redisson_dq.embedded import EmbeddedServer
from tests.benchmarks import page
from tests.benchmarks.kept import Kept
from tests.benchmarks.machine import Machine, load
from tests.benchmarks.measures import REDISSON
from tests.benchmarks.peers.comparison import README, comparison
from tests.benchmarks.peers.figures import PeerSettings
from tests.benchmarks.peers.goals import goals
from tests.benchmarks.peers.peer import PEERS, Peer
from tests.benchmarks.peers.report import peers_markdown
from tests.benchmarks.peers.run import measure
from tests.benchmarks.tables import goals_table

__all__ = ["add_options", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those that only this part has; the others it shares."""
    group = parser.add_argument_group("--only peers")
    group.add_argument(
        "--peers",
        type=_peers,
        default=PEERS,
        metavar="NAME,...",
        help=f"which ones (all: {','.join(peer.name for peer in PEERS)})",
    )
    group.add_argument("--peer-repeat", type=int, default=1, help="how often each peer is measured (%(default)s)")
    group.add_argument("--load", type=int, default=5000, help="ZADD a second beside a lateness pass, 0: no such pass")
    group.add_argument("--drained", type=int, default=10_000, help="jobs due at one moment, 0: no drain (%(default)s)")
    group.add_argument("--ready", type=int, default=10_000, help="jobs that are ready before a worker starts, 0: none")
    group.add_argument("--stored", type=int, default=10_000, help="jobs whose bytes are counted, 0: none")
    group.add_argument("--busy", type=int, default=1000, help="jobs for 8 slots while commands are counted, 0: none")
    group.add_argument("--stopped", type=int, default=60, help="jobs before a worker that gets SIGTERM, 0: none does")
    group.add_argument("--held", type=int, default=50, help="jobs in hand of a worker that gets SIGKILL, 0: none does")
    group.add_argument("--orphaned", type=int, default=50, help="jobs left by a killed worker, 0: none is killed")


def run(arguments: argparse.Namespace, say: Callable[[str], None]) -> int:
    """Measures, prints, gives the exit code: 0, whatever the figures are; 130 after Ctrl-C."""
    settings = PeerSettings(
        jobs=arguments.items,
        seconds=arguments.seconds,
        warm_up=arguments.warm_up,
        enqueued=arguments.offers,
        load=arguments.load,
        drained=arguments.drained,
        orphaned=arguments.orphaned,
        ready=arguments.ready,
        busy=arguments.busy,
        stored=arguments.stored,
        stopped=arguments.stopped,
        held=arguments.held,
        repeat=arguments.peer_repeat,
    )
    peers = [peer for peer in arguments.peers if arguments.java or peer.name != REDISSON]
    try:
        with EmbeddedServer(arguments.server) as server:
            machine = Machine.now(server, None)
            kept = Kept(arguments.kept / ("peers-quick" if arguments.quick else "peers"), resume=arguments.resume)
            figures = measure(server, peers, settings, say, kept)
            machine = attrs.evolve(machine, load_after=load())
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    if arguments.json is not None:
        found = {"settings": settings, "machine": machine, "peers": figures, "goals": goals(figures)}
        text = json.dumps(found, indent=1, default=attrs.asdict)
        arguments.json.write_text(text + "\n", "utf-8")
    where, _ = machine.lines()
    if arguments.write:
        said = " ".join(word for word in sys.argv[1:] if word not in ("--write", "--resume"))
        told = f"`python -m tests.benchmarks {said}`. {where}. {machine.server}, {machine.python}."
        text = (
            f"{told}\n\n{peers_markdown(figures, settings).strip()}\n\n![Beside the task queues](benchmarks/peers.svg)"
        )
        page.PAGE.write_text(page.replaced(page.PAGE.read_text("utf-8"), "peers", text), "utf-8")
        table = comparison(figures, datetime.date.today())
        README.write_text(page.replaced(README.read_text("utf-8"), "comparison", table), "utf-8")
        say(f"wrote {page.PAGE} and {README}; {page.draw({'peers': [attrs.asdict(one) for one in figures]})}")
    if arguments.markdown:
        said = " ".join(sys.argv[1:])
        print(f"**Beside the task queues**, in a run of its own: `python -m tests.benchmarks {said}`\n")
    print(f"{where}.\n{machine.server}, {machine.python}.\n\n{peers_markdown(figures, settings)}", end="")
    if arguments.check_goals:
        print(f"\n{goals_table(goals(figures)).markdown()}", end="")
    if arguments.markdown:
        print("\n![Beside the task queues](benchmarks/peers.svg)")
    return 0


def _peers(names: str) -> list[Peer]:
    known = {peer.name: peer for peer in PEERS}
    try:
        return [known[name] for name in names.split(",")]
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"no peer {error}; there are {', '.join(known)}") from None
