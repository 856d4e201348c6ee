"""Serves metrics over HTTP: ``/metrics``, in the format that the client accepts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from redisson_dq.cli.serving import HttpAnswer, Port, Route
from redisson_dq.errors import RedissonDQError

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

__all__ = ["MetricsServer", "check_installed"]


def check_installed(what: str) -> None:
    """Raises RedissonDQError without prometheus_client. ``what`` needs it."""
    try:
        import redisson_dq.prometheus  # noqa: F401
    except ModuleNotFoundError as error:
        raise RedissonDQError(f"{what}: {error}") from error


class MetricsServer:
    """Serves the page from its creation until :meth:`close`."""

    def __init__(
        self,
        host: str,
        port: int,
        collect: Callable[[], Iterable[Metric]],
        hosts: Iterable[str] = (),
        documents: Mapping[str, Callable[[], object]] | None = None,
    ) -> None:
        """``collect`` returns all families, and may take long. ``documents`` are served as JSON, by their paths.

        Raises RedissonDQError if the port cannot be opened.
        """
        from prometheus_client import CollectorRegistry

        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Families(collect))
        more = {path: _as_json(made) for path, made in (documents or {}).items()}
        self._port = Port("metrics", host, port, {"/metrics": self._page, **more}, hosts)

    @property
    def port(self) -> int:
        """The port, even if the system chose it for 0."""
        return self._port.number

    def close(self) -> None:
        self._port.close()

    async def _page(self, headers: Mapping[str, str]) -> HttpAnswer:
        from prometheus_client.exposition import choose_encoder

        encode, content_type = choose_encoder(headers.get("accept", ""))
        # Another request is served at the same time.
        return HttpAnswer(HTTPStatus.OK, await asyncio.to_thread(encode, self._registry), content_type)


def _as_json(made: Callable[[], object]) -> Route:
    async def answer(headers: Mapping[str, str]) -> HttpAnswer:
        return HttpAnswer(HTTPStatus.OK, json.dumps(await asyncio.to_thread(made)).encode() + b"\n")

    return answer


class _Families:
    def __init__(self, collect: Callable[[], Iterable[Metric]]) -> None:
        self.collect = collect
