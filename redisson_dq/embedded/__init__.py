"""Starts a private Redis-compatible server, for demos, tests and notebooks.

``find_server`` says which program would be started, ``EmbeddedServer`` starts it on loopback and stops it::

    with EmbeddedServer() as server:
        client = redisson_dq.connect(server.url)

Theory of operation: a small supervisor process (``_supervisor.py``) starts the server, and holds a pipe from this
process. When this process ends in any way, SIGKILL included, the pipe closes. The supervisor then stops the server and
removes its files. So it does not matter which thread started the server. POSIX only (Linux, macOS).
"""

from redisson_dq.embedded._find import ServerProgram, find_server
from redisson_dq.embedded._server import EmbeddedServer

__all__ = ["EmbeddedServer", "ServerProgram", "find_server"]
