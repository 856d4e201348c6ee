"""Answers over HTTP: ``/live`` and ``/ready`` for probes, ``/health`` with the figures of the queues too."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any

import attrs

from redisson_dq.cli.serving import HttpAnswer, Port
from redisson_dq.stats import QueueStats

__all__ = ["Health", "HealthServer"]


@attrs.frozen(kw_only=True)
class Health:
    """The state of the processes. ``wanted`` is how many there should be, ``consuming`` how many receive values.

    ``stalled`` is how many receive none because a handler makes no progress. ``problems`` says why it is not ready.
    """

    wanted: int
    running: int
    consuming: int
    stopping: bool
    stalled: int = 0
    problems: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether any process receives values. While the worker stops, finishing the held values counts too.

        A handler that makes no progress is reported, and not killed: it may only be slow.
        """
        return self.stopping or self.consuming + self.stalled > 0

    @property
    def is_ready(self) -> bool:
        """Whether every process receives."""
        return not self.stopping and self.consuming >= self.wanted


async def _nothing() -> Mapping[str, QueueStats]:
    return {}


class HealthServer:
    """Serves the three paths from its creation until :meth:`close`."""

    def __init__(
        self,
        host: str,
        port: int,
        health: Callable[[], Health],
        queues: Callable[[], Awaitable[Mapping[str, QueueStats]]] = _nothing,
        hosts: Iterable[str] = (),
    ) -> None:
        """``queues`` returns the figures of the worker's queues. ``/ready`` warns of those that are paused, and
        ``/health`` shows all. They change no status. Raises RedissonDQError when the port cannot be opened.
        """
        self._health, self._queues = health, queues
        routes = {"/live": self._live, "/ready": self._ready, "/health": self._all}
        self._port = Port("health", host, port, routes, hosts)

    @property
    def port(self) -> int:
        """The port, even if the system chose it for 0."""
        return self._port.number

    def close(self) -> None:
        self._port.close()

    async def _live(self, headers: Mapping[str, str]) -> HttpAnswer:
        health = self._health()
        return _answer(health.is_live, health, {})

    async def _ready(self, headers: Mapping[str, str]) -> HttpAnswer:
        warnings = _warnings(await self._queues())
        health = self._health()
        return _answer(health.is_ready, health, {"warnings": warnings} if warnings else {})

    async def _all(self, headers: Mapping[str, str]) -> HttpAnswer:
        queues = await self._queues()
        health = self._health()
        figures = {name: _figures(each) for name, each in queues.items()}
        return _answer(health.is_ready, health, {"warnings": _warnings(queues), "queues": figures})


def _figures(stats: QueueStats) -> dict[str, Any]:
    told = stats.to_dict()
    # Only keys of the wrong type are worth reporting.
    del told["keys"]
    return {**told, "error": stats.error}


def _warnings(queues: Mapping[str, QueueStats]) -> list[str]:
    return [f"queue {name!r} is paused" for name, each in queues.items() if each.is_paused]


def _answer(well: bool, health: Health, more: Mapping[str, Any]) -> HttpAnswer:
    # A process that makes no progress is among the problems.
    told = {**attrs.asdict(health, filter=lambda field, _: field.name != "stalled"), **more}
    return HttpAnswer(HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE, json.dumps(told).encode() + b"\n")
