"""Starts a Redis-compatible server to try things out with, until Ctrl-C: ``python -m redisson_dq.embedded``."""

from __future__ import annotations

import argparse
import signal
import sys

from redisson_dq.embedded._probe import probe
from redisson_dq.embedded._server import EmbeddedServer
from redisson_dq.errors import RedissonDQError


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m redisson_dq.embedded",
        description="Starts a Redis-compatible server to try things out with, until Ctrl-C.",
    )
    parser.add_argument("--port", type=int, default=6379, help="on 127.0.0.1 (6379)")
    port = parser.parse_args().port
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    if there := probe(port):
        sys.exit(f"{there.name} {there.version} answers at port {port} already: use it, or choose another --port")
    try:
        with EmbeddedServer(port=port) as server:
            print(
                f"{server.name} {server.version} answers at {server.url} until Ctrl-C, and keeps nothing then.",
                flush=True,
            )
            signal.pause()
    except RedissonDQError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
