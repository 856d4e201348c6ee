"""The sources that have called one lookout: those whose keys it watches, and those that it asks next."""

from __future__ import annotations

from collections.abc import Collection

from redisson_dq._async.receiving.shared_pump import SharedPump

__all__ = ["CalledSources"]


class CalledSources:
    """Shared pumps, by the keys of their sources. The background task of the lookout alone uses it."""

    def __init__(self) -> None:
        self._of_key: dict[bytes, dict[SharedPump, None]] = {}
        self._next: dict[SharedPump, None] = {}

    def add(self, pump: SharedPump) -> None:
        """A source has called. It is asked in the next round."""
        self._of_key.setdefault(pump.source.key.encode(), {})[pump] = None
        self._next[pump] = None

    def take_next(self) -> Collection[SharedPump]:
        """Those that are asked now, in the order of their calls."""
        taken, self._next = self._next, {}
        return taken.keys()

    @property
    def are_waiting(self) -> bool:
        """Whether any is to be asked."""
        return bool(self._next)

    @property
    def keys(self) -> int:
        """How many keys the sources have."""
        return len(self._of_key)

    def of(self, key: bytes | None) -> list[SharedPump]:
        """Those of one key, or all of them."""
        if key is not None:
            return list(self._of_key.get(key, ()))
        return [pump for pumps in self._of_key.values() for pump in pumps]

    def forget(self, pump: SharedPump) -> None:
        """A source calls no more."""
        key = pump.source.key.encode()
        pumps = self._of_key[key]
        del pumps[pump]
        if not pumps:
            del self._of_key[key]

    def forget_all(self) -> list[SharedPump]:
        """Forgets them and their calls. Gives all of them."""
        pumps = self.of(None)
        self._of_key, self._next = {}, {}
        return pumps
