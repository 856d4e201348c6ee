"""A Redis-compatible server of our own, for demos, tests and notebooks.

``find_server`` says which program would be started, ``EmbeddedServer`` starts it on loopback and stops it::

    with EmbeddedServer() as server:
        client = redisson_dq.connect(server.url)

Theory of operation: the server is not our child but the child of a small supervisor process
(``_supervisor.py``), which holds a pipe from this process. However this process ends, SIGKILL included, the
pipe closes, and the supervisor stops the server and removes its files. The server therefore never depends on
which thread started it. POSIX only (Linux, macOS).
"""

from redisson_dq.embedded._find import ServerProgram, find_server
from redisson_dq.embedded._server import EmbeddedServer

__all__ = ["EmbeddedServer", "ServerProgram", "find_server"]
