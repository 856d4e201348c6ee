"""Logins of one dashboard: sessions of browsers, and a pause after wrong passwords."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from math import ceil
from typing import Generic, TypeVar

__all__ = ["Attempts", "Sessions"]

K = TypeVar("K")
V = TypeVar("V")

#: How many sessions, addresses and users are remembered.
_MOST = 10_000
# The longest pause after a wrong password.
_LONGEST_PAUSE_S = 30.0
_FORGIVEN_S = 900.0


class _Recent(dict[K, V], Generic[K, V]):
    """A dict of the latest entries. A new entry evicts the oldest one."""

    def put(self, key: K, value: V) -> None:
        self.pop(key, None)
        self[key] = value
        if len(self) > _MOST:
            del self[next(iter(self))]


class Sessions:
    """The sessions of browsers that have entered the token.

    They end with a logout, after a week, with another token, and with the process. Only a digest of the cookie and the
    token is kept.
    """

    #: A session ends after this many seconds.
    lasts = 7 * 86_400.0

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._ends = _Recent[bytes, float]()

    def new(self, token: str) -> str:
        """Starts a session, and returns its cookie."""
        made = secrets.token_urlsafe(32)
        self._ends.put(_digest(f"{made} {token}"), self._now() + self.lasts)
        return made

    def has(self, cookie: str, token: str) -> bool:
        """Whether this is the cookie of a session that began with this token."""
        return self._ends.get(_digest(f"{cookie} {token}"), float("-inf")) > self._now()

    def end(self, cookie: str, token: str) -> None:
        """Ends a session."""
        self._ends.pop(_digest(f"{cookie} {token}"), None)


class Attempts:
    """Wrong passwords by address and by user. After five in a row, further attempts are refused for some seconds.

    A user who has logged in from an address before is not locked out by others who guess.
    """

    #: How many wrong passwords in a row cost no pause. Each further one doubles it.
    free = 5

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._failed = _Recent[str, tuple[int, float]]()
        self._known = _Recent[tuple[str, str], bool]()

    def pause(self, address: str, user: str) -> int:
        """How many seconds passwords of this address and user are refused without a check; 0 if they are checked."""
        if (address, user) in self._known:
            return 0
        return max(map(self._left, self._keys(address, user)))

    def failed(self, address: str, user: str) -> int:
        """Counts a wrong password. Returns how many there were in a row, from the address or for the user."""
        self._known.pop((address, user), None)
        counts = []
        for key in self._keys(address, user):
            count, at = self._failed.get(key, (0, 0.0))
            counts.append(1 if self._now() - at > _FORGIVEN_S else count + 1)
            self._failed.put(key, (counts[-1], self._now()))
        return max(counts)

    def succeeded(self, address: str, user: str) -> None:
        """Resets the count of this user at this address."""
        if (address, user) not in self._known:
            self._known.put((address, user), True)
            for key in self._keys(address, user):
                self._failed.pop(key, None)

    @staticmethod
    def _keys(address: str, user: str) -> tuple[str, str]:
        return f"address {address}", f"user {user}"

    def _left(self, key: str) -> int:
        count, at = self._failed.get(key, (0, 0.0))
        pause = min(_LONGEST_PAUSE_S, 2.0 ** min(10, count - self.free)) if count >= self.free else 0.0
        return max(0, ceil(at + pause - self._now()))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()
