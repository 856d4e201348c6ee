"""The machine on which a run took place. Without it, no figure means anything."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import attrs

import redisson_dq

__all__ = ["Machine", "load"]


@attrs.frozen(kw_only=True)
class Machine:
    """Programs and hardware of one run. ``load_*`` are the three load averages."""

    started: str
    cpu: str
    cpus: int
    system: str
    server: str
    redisson_dq: str
    python: str
    redis_py: str
    hiredis: str
    redisson: str
    java: str
    load_before: list[float]
    load_after: list[float]

    @classmethod
    def now(cls, server: Any, about_peer: dict[str, Any] | None) -> Machine:
        """``server`` is an EmbeddedServer, ``about_peer`` the first line of the Java peer."""
        peer = about_peer or {}
        return cls(
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            cpu=_cpu(),
            cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            system=f"{platform.system()} {platform.release()} {platform.machine()}",
            server=f"{server.name} {server.version}",
            redisson_dq=redisson_dq.__version__,
            python=f"{platform.python_implementation()} {platform.python_version()}",
            redis_py=metadata.version("redis"),
            hiredis=_version("hiredis"),
            redisson=str(peer.get("redisson", "not run")),
            java=str(peer.get("java", "not run")),
            load_before=load(),
            load_after=[],
        )

    def lines(self) -> list[str]:
        """The lines to print."""
        return [
            f"{self.started[:10]}, {self.cpus} x {self.cpu}, {self.system}; load average before "
            f"{_loads(self.load_before)}, after {_loads(self.load_after)}",
            f"{self.server}, Redisson {self.redisson} on Java {self.java}, redisson_dq {self.redisson_dq}, "
            f"{self.python}, redis-py {self.redis_py}, hiredis {self.hiredis}",
        ]


def load() -> list[float]:
    """The load averages of the last 1, 5 and 15 minutes."""
    return [round(one, 2) for one in os.getloadavg()]


def _loads(averages: list[float]) -> str:
    return " ".join(f"{one:.2f}" for one in averages)


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown CPU"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
