"""Answers probes over HTTP: ``/live`` and ``/ready``."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus

import attrs

from redisson_dq.cli.serving import HttpAnswer, Port

__all__ = ["Health", "HealthServer"]


@attrs.frozen(kw_only=True)
class Health:
    """How the processes are. ``wanted`` is how many there should be, ``consuming`` how many receive values.

    ``problems`` says why it is not ready.
    """

    wanted: int
    running: int
    consuming: int
    stopping: bool
    problems: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether anything is received. While it stops, the values in hand are work enough."""
        return self.stopping or self.consuming > 0

    @property
    def is_ready(self) -> bool:
        """Whether every process receives."""
        return not self.stopping and self.consuming >= self.wanted


async def _nothing() -> Sequence[str]:
    return ()


class HealthServer:
    """Serves the two paths from its making to :meth:`close`."""

    def __init__(
        self,
        host: str,
        port: int,
        health: Callable[[], Health],
        warnings: Callable[[], Awaitable[Sequence[str]]] = _nothing,
    ) -> None:
        """``warnings`` are shown by ``/ready`` and change no status. Raises RedissonDQError when the port cannot be
        opened.
        """
        self._health, self._warnings = health, warnings
        self._port = Port("health", host, port, {"/live": self._live, "/ready": self._ready})

    @property
    def port(self) -> int:
        """The port, also where 0 left the choice to the system."""
        return self._port.number

    def close(self) -> None:
        self._port.close()

    async def _live(self, headers: Mapping[str, str]) -> HttpAnswer:
        health = self._health()
        return _answer(health.is_live, health, ())

    async def _ready(self, headers: Mapping[str, str]) -> HttpAnswer:
        warnings = await self._warnings()
        health = self._health()
        return _answer(health.is_ready, health, warnings)


def _answer(well: bool, health: Health, warnings: Sequence[str]) -> HttpAnswer:
    told = attrs.asdict(health)
    if warnings:
        told["warnings"] = warnings
    return HttpAnswer(HTTPStatus.OK if well else HTTPStatus.SERVICE_UNAVAILABLE, json.dumps(told).encode() + b"\n")
