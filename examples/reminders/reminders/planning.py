"""The reminders of appointments, as items of a delayed queue."""

from __future__ import annotations

from datetime import datetime, timedelta

from redisson_dq.aio import Client

__all__ = ["BEFORE", "Reminders"]

BEFORE = {"day": timedelta(days=1), "hour": timedelta(hours=1)}


class Reminders:
    """Two for each appointment. Their ids name the appointment, so they are moved and called off together."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._queue = client.delayed_queue("reminders")

    async def plan(self, appointment: str, begins: datetime) -> None:
        """Plans the reminders, or moves them to another time. New ones replace the old ones."""
        async with self._client.pipeline() as pipe:
            for kind, before in BEFORE.items():
                offer = self._queue.requests.offer(
                    {"appointment": appointment, "kind": kind, "begins": begins.isoformat()},
                    at=begins - before,
                    id=f"{appointment}:{kind}",
                    on_duplicate="replace",
                    # Worthless once the appointment has begun, should the service be down until then.
                    expires=before,
                )
                pipe.add(offer)

    async def call_off(self, appointment: str) -> bool:
        """False if no reminder was left."""
        async with self._client.pipeline() as pipe:
            outcomes = [pipe.add(self._queue.requests.cancel(f"{appointment}:{kind}")) for kind in BEFORE]
        return any(outcome.result for outcome in outcomes)

    async def within(self, span: timedelta) -> list[str]:
        """The appointments that begin within this time, in order, each with its time."""
        # Due times are on the clock of Redis.
        end = (await self._queue.stats()).server_time + span
        found = [item.value for item in await self._queue.items(0, 9_999)]
        return [
            f"{value['appointment']} at {value['begins']}"
            for value in found
            if value["kind"] == "hour" and datetime.fromisoformat(value["begins"]) <= end
        ]
