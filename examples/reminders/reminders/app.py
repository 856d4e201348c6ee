"""The service: ``uvicorn --factory reminders.app:make_app``. Its worker runs in the same loop."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import redisson_dq.aio
from fastapi import FastAPI, HTTPException
from pydantic import AwareDatetime, BaseModel
from redisson_dq.aio.worker import Retry, Worker, exponential

from reminders.planning import Reminders

__all__ = ["Send", "make_app"]

logger = logging.getLogger("uvicorn.error")

#: Sends a text to the customer, or to the office.
Send = Callable[[str], Awaitable[None]]

RETRY = Retry(limit=5, backoff=exponential(10, 600, jitter=True))


class Appointment(BaseModel):
    begins: AwareDatetime


async def log(text: str) -> None:
    """Stands in for the API that sends mails or texts."""
    logger.info("sent: %s", text)


def add_handlers(worker: Worker, reminders: Reminders, send: Send) -> None:
    # The reminders of an appointment are sent in order, one at a time.
    @worker.handler("reminders", concurrency=20, retry=RETRY, key=lambda value: value["appointment"])
    async def remind(value: dict[str, str]) -> None:
        await send(f"reminder: {value['appointment']} at {value['begins']}")

    @worker.handler("digests", retry=RETRY)
    async def digest(value: str) -> None:
        appointments = await reminders.within(timedelta(days=1))
        await send(f"tomorrow: {', '.join(appointments) or 'nothing'}")


def make_app(client: redisson_dq.aio.Client | None = None, send: Send = log) -> FastAPI:
    client = client or redisson_dq.aio.connect()
    reminders, worker = Reminders(client), Worker(client)
    add_handlers(worker, reminders, send)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with client:
            # Every process declares it. Each night has one digest, however many processes there are.
            digests = client.delayed_queue("digests")
            await digests.offer_recurring("digest", "nightly", cron="0 20 * * *", timezone="Europe/Berlin")
            async with worker:
                yield

    app = FastAPI(title="Reminders", lifespan=lifespan)

    @app.put("/appointments/{name}", status_code=204)
    async def plan(name: str, appointment: Appointment) -> None:
        """Plans the reminders of an appointment, or reschedules them."""
        await reminders.plan(name, appointment.begins)

    @app.delete("/appointments/{name}", status_code=204)
    async def call_off(name: str) -> None:
        """Calls the appointment off. None of its reminders is sent."""
        if not await reminders.call_off(name):
            raise HTTPException(404, f"no reminder of {name} is left")

    @app.get("/health")
    async def health() -> dict[str, Any]:
        """For the probes of an orchestrator."""
        if not worker.is_consuming:
            raise HTTPException(503, [str(problem) for problem in worker.problems] or "Redis is away")
        return {"running": worker.running}

    return app
