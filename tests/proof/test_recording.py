"""What is written down of renewals, which a background task makes while a receiver works."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from tests.proof.history import History, read
from tests.proof.recording import Recorded

_BEGAN = datetime(2030, 1, 1, tzinfo=timezone.utc)


class _Renewed:
    """A delivery of a lease of a second, which is renewed again as soon as somebody has looked at it."""

    value, id, received = "order-71", "e6f53f55a244502a0000", _BEGAN

    def __init__(self) -> None:
        self._deadline, self._remaining = _BEGAN + timedelta(seconds=1), 0.1
        self.is_renewed_at: str | None = None

    @property
    def deadline(self) -> datetime:
        found = self._deadline
        self._renew_if("deadline")
        return found

    @property
    def remaining(self) -> timedelta:
        found = timedelta(seconds=self._remaining)
        self._renew_if("remaining")
        return found

    def _renew_if(self, looked_at: str) -> None:
        if self.is_renewed_at == looked_at:
            self._deadline, self._remaining = self._deadline + timedelta(seconds=1), 0.9


def test_a_renewal_between_two_looks_at_a_lease_is_one_that_may_have_been_made(tmp_path: Path) -> None:
    for looked_at in ("deadline", "remaining"):
        path, delivery = tmp_path / f"{looked_at}.jsonl", _Renewed()
        with History(path) as history:
            recorded = Recorded(delivery, history, "orders")
            recorded.received(renew=True)
            delivery.is_renewed_at = looked_at
            recorded.renewed()
        extensions = [line["type"] for line in read(path) if line.get("f") == "extend"]
        assert "info" in extensions, f"{looked_at}: {extensions}"
