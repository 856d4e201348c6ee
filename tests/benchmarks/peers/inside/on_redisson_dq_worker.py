"""This library's worker as one of the peers, in threads: a plain script, not checked by mypy. See serving.py."""

from serving import URL, handled, slots

from redisson_dq.codecs import StringCodec
from redisson_dq.worker import Worker

# The one option that is changed: the driver waits for leases to end.
worker = Worker.connect(URL, codec=StringCodec(), visibility_timeout=5)


@worker.handler("benchmark", concurrency=slots(8))
def handle(value, event):
    handled(*value.split(), event.attempt)


if __name__ == "__main__":
    worker.run()
