"""A month of appointments in milliseconds, through the HTTP API and its worker."""

from datetime import datetime, timedelta, timezone

import pytest
from fastapi.testclient import TestClient

from reminders.app import make_app


class Outbox:
    def __init__(self):
        self.sent, self.failures = [], 0

    async def send(self, text):
        if self.failures:
            self.failures -= 1
            raise ConnectionError("the mail server does not answer")
        self.sent.append(text)

    @property
    def reminders(self):
        return [text for text in self.sent if text.startswith("reminder")]


@pytest.fixture
def outbox():
    return Outbox()


@pytest.fixture
def http(redisson_clock, redisson_aio_client, outbox):
    # A month begins, at midnight in Greenwich.
    redisson_clock.advance_to(datetime(2031, 6, 1, tzinfo=timezone.utc))
    with TestClient(make_app(redisson_aio_client, outbox.send)) as http:
        yield http


def plan(http, name, begins):
    answer = http.put(f"/appointments/{name}", json={"begins": begins.isoformat()})
    assert answer.status_code == 204, answer.text


def test_two_reminders(http, outbox, redisson_clock):
    plan(http, "dentist", redisson_clock.now + timedelta(days=30))
    redisson_clock.advance(days=29)
    assert outbox.reminders == ["reminder: dentist at 2031-07-01T00:00:00+00:00"]
    redisson_clock.advance(hours=22, minutes=59)
    assert len(outbox.reminders) == 1
    redisson_clock.advance(minutes=1)
    assert len(outbox.reminders) == 2


def test_reminders_move_with_their_appointment(http, outbox, redisson_clock):
    begins = redisson_clock.now + timedelta(days=30)
    plan(http, "dentist", begins)
    redisson_clock.advance(days=7)
    plan(http, "dentist", begins + timedelta(days=2))
    redisson_clock.advance(days=23)
    assert outbox.reminders == []
    redisson_clock.advance(days=2)
    assert outbox.reminders == ["reminder: dentist at 2031-07-03T00:00:00+00:00"] * 2


def test_an_appointment_that_is_called_off(http, outbox, redisson_clock):
    plan(http, "barber", redisson_clock.now + timedelta(days=3))
    assert http.delete("/appointments/barber").status_code == 204
    assert http.delete("/appointments/barber").status_code == 404
    redisson_clock.advance(days=7)
    assert outbox.reminders == []


def test_a_digest_each_night(http, outbox, redisson_clock):
    plan(http, "dentist", datetime(2031, 6, 2, 9, tzinfo=timezone.utc))
    plan(http, "barber", datetime(2031, 6, 3, 9, tzinfo=timezone.utc))
    redisson_clock.advance(days=3)
    assert [text for text in outbox.sent if text.startswith("tomorrow")] == [
        "tomorrow: dentist at 2031-06-02T09:00:00+00:00",
        "tomorrow: barber at 2031-06-03T09:00:00+00:00",
        "tomorrow: nothing",
    ]


def test_a_reminder_is_sent_when_the_mail_server_is_back(http, outbox, redisson_clock):
    outbox.failures = 2
    plan(http, "dentist", redisson_clock.now + timedelta(days=2))
    redisson_clock.advance(days=1, minutes=5)
    assert (outbox.failures, len(outbox.reminders)) == (0, 1)


def test_a_time_without_a_zone_is_refused(http):
    assert http.put("/appointments/dentist", json={"begins": "2031-06-02T09:00:00"}).status_code == 422


def test_it_is_healthy(http):
    assert http.get("/health").json() == {"running": 0}
