"""The lines of the log: their levels, and their fields for handlers that write JSON."""

from __future__ import annotations

import enum
import json
import logging
import re
import types
import typing
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import attrs
import pytest
import structlog

import redisson_dq
from redisson_dq._common.logs import LOGGERS
from redisson_dq.errors import DecodeError
from redisson_dq.items import SettleOutcome
from redisson_dq.observing import (
    Away,
    Happening,
    LeaseBegan,
    Missed,
    Moved,
    Observers,
    OfRequest,
    Role,
    Settled,
    ValuesTaken,
)
from redisson_dq.observing.log import _lines, fields_of, is_logged, log
from redisson_dq.working.happenings import Failed

#: The attributes that each record has.
OF_A_RECORD = set(vars(logging.LogRecord("", 0, "", 0, "", None, None))) | {"message", "asctime", "taskName"}

BEGAN = LeaseBegan(queue="orders", id="0a", offer_id="o-1", attempt=2, lateness=timedelta(milliseconds=1.5), context={})


def kinds(of: type[Happening] = Happening) -> list[type[Happening]]:
    return [each for kind in of.__subclasses__() for each in (kind, *kinds(kind))]


def sample(kind: type[Happening]) -> Happening:
    """A happening of a kind, with something in each field."""
    hints = typing.get_type_hints(kind)
    return kind(**{field.name: _value(hints[field.name]) for field in attrs.fields(kind)})


def _value(hint: Any) -> Any:
    of = [each for each in typing.get_args(hint) if each is not type(None)] or [hint]
    if typing.get_origin(hint) is tuple:
        return ("a", "b")
    if isinstance(of[0], type) and issubclass(of[0], enum.Enum):
        return next(iter(of[0]))
    if isinstance(of[0], type) and issubclass(of[0], DecodeError):
        return DecodeError("unreadable", codec="StringCodec", data=b"secret")
    if isinstance(of[0], type) and issubclass(of[0], BaseException):
        return ValueError("no")
    known = {
        bool: True,
        str: "some text",
        int: 7,
        bytes: b"secret",
        timedelta: timedelta(seconds=61.5),
        datetime: datetime(2026, 7, 1, 3, tzinfo=timezone.utc),
    }
    # The event of a worker's happening, and the context of an offer.
    return known.get(of[0], types.SimpleNamespace(offer_id="o-1", secret="secret"))


class Lines(logging.Handler):
    """What a handler with this formatter writes."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class OneObject(logging.Formatter):
    """As the usual formatters for JSON do: the message, and each attribute of the record that is not of each record."""

    def format(self, record: logging.LogRecord) -> str:
        more = {name: value for name, value in vars(record).items() if name not in OF_A_RECORD}
        return json.dumps({"message": record.getMessage(), **more})


def of_structlog() -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(),
        ],
        foreign_pre_chain=[structlog.stdlib.ExtraAdder()],
    )


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger("redisson_dq")
    before = logger.level, logger.handlers[:]
    logger.setLevel(logging.DEBUG)
    yield logger
    logger.setLevel(before[0])
    logger.handlers[:] = before[1]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_the_fields_of_each_happening_are_plain_and_take_no_name_of_a_record(kind: type[Happening]) -> None:
    fields = fields_of(sample(kind))
    assert not fields.keys() & OF_A_RECORD
    assert json.loads(json.dumps(fields)) == {**fields, **({"keys": ["a", "b"]} if "keys" in fields else {})}
    assert fields["happening"] == kind.__name__
    assert "secret" not in json.dumps(fields)
    durations = [each.name for each in attrs.fields(kind) if "timedelta" in str(each.type)]
    assert [fields[f"{name}_ms"] for name in durations] == [61500.0] * len(durations)


@pytest.mark.parametrize("formatter", [OneObject, of_structlog])
def test_a_json_handler_gets_text_and_fields(logger: logging.Logger, formatter: Any) -> None:
    handler = Lines(formatter())
    logger.addHandler(handler)
    told = [sample(kind) for kind in kinds() if is_logged(kind)]
    assert len(told) > 10
    for happening in told:
        log(happening)
    written = [json.loads(line) for line in handler.lines]
    assert [each["happening"] for each in written] == [type(happening).__name__ for happening in told]
    for each, happening in zip(written, told, strict=True):
        assert {name: each[name] for name in fields_of(happening)} == json.loads(json.dumps(fields_of(happening)))
        assert "%" not in each.get("message", each.get("event"))


def test_a_lease_is_told_with_its_queue_its_ids_and_its_times(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    held = timedelta(milliseconds=12.25)
    log(BEGAN)
    log(Settled(queue="orders", id="0a", offer_id=None, attempt=2, outcome=SettleOutcome.ACKED, held=held))
    assert [record.getMessage() for record in caplog.records] == [
        "queue 'orders': leased 0a (offered as 'o-1'), attempt 2, 1.5 ms after its due time",
        "queue 'orders': the lease of 0a, attempt 2, ended after 12.2 ms: acked",
    ]
    began, settled = (vars(record) for record in caplog.records)
    assert began.items() >= {"queue": "orders", "id": "0a", "offer_id": "o-1", "lateness_ms": 1.5, "attempt": 2}.items()
    assert settled.items() >= {"happening": "Settled", "outcome": "acked", "held_ms": 12.25}.items()
    assert "offer_id" not in settled


#: By name of the happening: the level, and the logger below redisson_dq.
LEVELS = {
    "AckedTooLate": ("WARNING", ""),
    "Away": ("WARNING", ""),
    "BackAgain": ("WARNING", ""),
    "Buried": ("WARNING", ""),
    "Expired": ("WARNING", ""),
    "LeaseBegan": ("DEBUG", "leases"),
    "LeaseLost": ("INFO", "leases"),
    "Missed": ("WARNING", ""),
    "Moved": ("DEBUG", "transfers"),
    "Noticed": ("WARNING", ""),
    "Paused": ("INFO", "transfers"),
    "Resumed": ("INFO", "transfers"),
    "RoleChanged": ("INFO", "transfers"),
    "SetAside": ("WARNING", ""),
    "Settled": ("DEBUG", "leases"),
    "Skipped": ("WARNING", ""),
    "Subscribed": ("INFO", "transfers"),
    "TookLong": ("WARNING", ""),
    "ValuesTaken": ("DEBUG", "leases"),
}


def test_each_line_has_its_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    for kind in kinds():
        if kind.__module__.startswith("redisson_dq.observing"):
            log(sample(kind))
    assert {
        record.__dict__["happening"]: (record.levelname, record.name.removeprefix("redisson_dq").lstrip("."))
        for record in caplog.records
    } == LEVELS


def variants(kind: type[Happening]) -> Iterator[Happening]:
    """Happenings of a kind, with each truth value, and with and without what may be None."""
    full, hints = sample(kind), typing.get_type_hints(kind)
    yield full
    for field in attrs.fields(kind):
        if hints[field.name] is bool:
            yield attrs.evolve(full, **{field.name: not getattr(full, field.name)})
        elif type(None) in typing.get_args(hints[field.name]):
            yield attrs.evolve(full, **{field.name: None})


@pytest.mark.parametrize("kind", list(_lines), ids=lambda kind: kind.__name__)
def test_a_line_is_written_wherever_its_own_level_is_on(
    kind: type[Happening], caplog: pytest.LogCaptureFixture
) -> None:
    """A kind whose lines have two levels was silent where the lower one is off: Python's default shows warnings."""
    for happening in variants(kind):
        caplog.set_level(logging.DEBUG, "redisson_dq")
        caplog.clear()
        log(happening)
        (its_own,) = [record.levelno for record in caplog.records]
        for level in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL):
            caplog.set_level(level, "redisson_dq")
            caplog.clear()
            log(happening)
            assert len(caplog.records) == (its_own >= level), (happening, level)


@pytest.mark.parametrize("role", list(Role))
def test_each_role_has_its_words(role: Role, caplog: pytest.LogCaptureFixture) -> None:
    from redisson_dq.observing import RoleChanged

    caplog.set_level(logging.INFO, "redisson_dq")
    log(RoleChanged(queue="orders", role=role))
    assert caplog.records[0].getMessage().startswith("queue 'orders': ")
    assert vars(caplog.records[0])["role"] == role.value


def test_other_lines_have_their_queue(logger: logging.Logger) -> None:
    handler = Lines(OneObject())
    logger.addHandler(handler)
    logger.warning("queue %r: cannot read its head: %s", "orders", ValueError("no"))
    logger.warning("worker: %d handlers have not returned", 2)
    assert [json.loads(line) for line in handler.lines] == [
        {"message": "queue 'orders': cannot read its head: no", "queue": "orders"},
        {"message": "worker: 2 handlers have not returned"},
    ]


@pytest.mark.parametrize(("delay", "level"), [(timedelta(seconds=2), "WARNING"), (None, "ERROR")])
def test_a_value_that_is_given_up_is_worse_than_one_that_comes_again(
    delay: timedelta | None, level: str, caplog: pytest.LogCaptureFixture
) -> None:
    error = ValueError("no")
    told = {"queue": "orders", "id": "0a", "attempt": 3, "handler": "handle", "why": "3 attempts"}
    log(Failed(**told, error=error, duration=timedelta(seconds=1), delay=delay))  # type: ignore[arg-type]
    (record,) = caplog.records
    assert record.levelname == level
    assert (record.exc_info is not None and record.exc_info[1] is error) is (level == "ERROR")
    assert vars(record)["error"] == "ValueError: no"


# -- nobody listens --------------------------------------------------------------------------------------------------


def test_a_happening_is_heard_of_where_its_line_is_wanted(caplog: pytest.LogCaptureFixture) -> None:
    observers = Observers()
    for level, heard in [("WARNING", (Away,)), ("DEBUG", (Away, Moved))]:
        caplog.set_level(level, "redisson_dq")
        assert tuple(kind for kind in (Away, Moved, OfRequest) if observers.heard[kind]) == heard
    caplog.set_level(logging.WARNING, "redisson_dq")
    caplog.set_level(logging.DEBUG, "redisson_dq.transfers")
    assert observers.heard[Moved]
    assert not observers.heard[LeaseBegan]
    observers.add(print)
    assert observers.heard[LeaseBegan]


# -- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("log_values", "texts"),
    [
        (False, ()),
        (True, ("{'card': '4111'}", "5")),
        (lambda value: {**value, "card": "***"} if isinstance(value, dict) else value, ("{'card': '***'}", "5")),
        (lambda value: value["card"], ("'4111'", "(TypeError in log_values=)")),
        (lambda value: "x" * 1000, (f"'{'x' * 499}...", f"'{'x' * 499}...")),
    ],
)
def test_values_are_shown_on_demand(log_values: Any, texts: Any, caplog: pytest.LogCaptureFixture) -> None:
    observers = Observers()
    observers.log_values = log_values
    values = [{"card": "4111"}, 5]
    assert observers.texts(ValuesTaken, values) == ()
    caplog.set_level(logging.DEBUG, "redisson_dq")
    assert observers.texts(ValuesTaken, values) == texts
    log(ValuesTaken(queue="orders", count=2, values=observers.texts(ValuesTaken, values)))
    text = "queue 'orders': took 2 values"
    assert caplog.records[0].getMessage() == (f"{text}: {', '.join(texts)}" if texts else text)
    assert vars(caplog.records[0]).get("values", []) == list(texts)


class _Refuses(logging.Filter):
    """A filter of the program's with a defect."""

    def filter(self, record: logging.LogRecord) -> bool:
        raise ZeroDivisionError("a filter of the program's")


_CALLS: dict[str, Callable[[logging.Logger], object]] = {
    "debug": lambda log: log.debug("%s", 1),
    "info": lambda log: log.info("%s", 1),
    "warning": lambda log: log.warning("%s", 1),
    "error": lambda log: log.error("%s", 1),
    "exception": lambda log: log.exception("%s", 1),
    "log": lambda log: log.log(logging.INFO, "%s", 1, extra={"queue": "orders"}),
}


@pytest.mark.parametrize("call", _CALLS)
def test_a_filter_of_the_program_s_that_raises_reaches_no_call(
    call: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    refuses, logger = _Refuses(), logging.getLogger("redisson_dq")
    logger.addFilter(refuses)
    try:
        _CALLS[call](logging.getLogger("redisson_dq"))
    finally:
        logger.removeFilter(refuses)
    assert "a filter of the program's" in capsys.readouterr().err
    assert caplog.records == []


@pytest.mark.parametrize("call", _CALLS)
def test_a_record_names_the_place_that_logged(call: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "redisson_dq")
    _CALLS[call](logging.getLogger("redisson_dq"))
    (record,) = caplog.records
    assert (record.filename, record.getMessage()) == ("test_log.py", "1")


def test_a_factory_of_records_that_raises_reaches_no_call(capsys: pytest.CaptureFixture[str]) -> None:
    def make(*arguments: Any, **named: Any) -> logging.LogRecord:
        raise ZeroDivisionError("a factory of the program's")

    before = logging.getLogRecordFactory()
    logging.setLogRecordFactory(make)
    try:
        logging.getLogger("redisson_dq").error("%s", 1)
    finally:
        logging.setLogRecordFactory(before)
    assert "a factory of the program's" in capsys.readouterr().err


def test_every_logger_is_guarded() -> None:
    package = Path(redisson_dq.__file__).parent
    found: dict[str, list[str]] = {}
    for path in package.rglob("*.py"):
        for name in re.findall(r"getLogger\((.*?)\)", path.read_text()):
            found.setdefault(name, []).append(path.relative_to(package).as_posix())
    plain = {name.strip('"') for name in found if name.startswith('"')}
    # An example, and the log of the web server.
    assert plain - set(LOGGERS) == {"shop", "uvicorn.error"}
    assert sorted(name for name in found if not name.startswith('"')) == ["_MAIN", "logger", "name"]
    assert (found["logger"], found["name"]) == (["observing/log.py"], ["_common/logs.py"])
    for name in LOGGERS:
        assert "handle" in vars(logging.getLogger(name))


def test_occurrences_that_are_close_to_each_other_are_no_warning(caplog: Any) -> None:
    at = datetime(2026, 7, 1, 3, tzinfo=timezone.utc)
    told = Missed(queue="q", id="a", count=2, offered=0, policy="one", first=at, last=at, late_by=timedelta(seconds=59))
    with caplog.at_level(logging.INFO, "redisson_dq"):
        log(told)
        log(attrs.evolve(told, late_by=timedelta(minutes=1)))
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]
    assert "2 occurrences were missed from 2026-07-01T03:00:00+00:00" in caplog.text
