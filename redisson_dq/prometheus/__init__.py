"""Metrics for Prometheus, built on prometheus_client, which the extra ``prometheus`` installs.

    registry.register(Collector(client, ["orders"]))     # figures of the queue, from Redis
    instrument(worker)                                   # figures of this process

``metrics`` is the table of all metrics, ``families`` converts figures for prometheus_client. ``collector`` reads the
figures of queues from Redis. ``counting`` is an observer of a client, and ``instrument`` installs it. ``merging`` sums
the pages of several processes.
"""

try:
    import prometheus_client as _prometheus_client  # noqa: F401 - without it nothing here works
except ModuleNotFoundError as error:
    if error.name != "prometheus_client":
        raise
    raise ModuleNotFoundError(
        "redisson_dq.prometheus needs prometheus_client: pip install 'prometheus_client>=0.21'", name=error.name
    ) from None

from redisson_dq.prometheus.collector import Collector
from redisson_dq.prometheus.instrument import Instrument, instrument

__all__ = ["Collector", "Instrument", "instrument"]
