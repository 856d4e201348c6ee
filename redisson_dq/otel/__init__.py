"""Traces and metrics by OpenTelemetry, for clients and workers of both flavours.

    import redisson_dq.otel

    redisson_dq.otel.instrument(client)

It needs the extra ``otel``, which is only ``opentelemetry-api``. Your program brings the SDK and an exporter. Names and
attributes follow the semantic conventions for messaging. More: docs/traces.md.
"""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("opentelemetry") is None:
    raise ImportError("redisson_dq.otel needs opentelemetry-api: pip install 'opentelemetry-api>=1.30'")

from redisson_dq.otel.instrumenting import Instrumentation, instrument

__all__ = ["Instrumentation", "instrument"]
