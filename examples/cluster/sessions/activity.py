"""Records the activity of users. A session ends when its user has been idle for long."""

from __future__ import annotations

import sys
from datetime import timedelta

import redisson_dq

from sessions.queue import PARTITIONS, QUEUE

__all__ = ["Activity"]


class Activity:
    def __init__(self, client: redisson_dq.Client, idle: timedelta = timedelta(minutes=30)) -> None:
        # Lean: each request of a user replaces an item, and the mirrored form would search a list for the old one.
        self._sessions = client.delayed_queue(QUEUE, partitions=PARTITIONS, lean=True, transfer=False)
        self._idle = idle

    def seen(self, user: str) -> None:
        """The user was active, so the session ends later."""
        self._sessions.offer(user, self._idle, id=user, on_duplicate="replace")

    def logged_out(self, user: str) -> None:
        self._sessions.cancel(user)


def main(users: int, idle: float) -> None:
    with redisson_dq.connect() as client:
        activity = Activity(client, timedelta(seconds=idle))
        for number in range(users):
            activity.seen(f"user-{number}")
    print(f"{users} sessions end in {idle:g} s")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
