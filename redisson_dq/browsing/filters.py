"""A filter in words, such as ``order.id = 42 and late > 5m``. It is data: no part of it is executed.

Comparisons are combined with ``and``, ``or``, ``not`` and parentheses; ``and`` binds more tightly than ``or``.

================================  =====================================================================
``FIELD = VALUE``                 also ``!=``, ``<``, ``<=``, ``>``, ``>=``
``FIELD ~ TEXT``                  the field contains the text, or the list an element
``FIELD in (VALUE, VALUE)``       also ``not in``
``FIELD``                         the field exists, and is neither empty nor false
================================  =====================================================================

The fields of an item are id, due, late, attempts, size, state, class, reason and queue. Any other name is a field of
the value, with dots and indexes: ``order.lines[0].sku``. The value's own id is ``value.id``.

A VALUE is ``42``, ``1.5``, ``true``, ``false``, ``null``, a word, ``"a text"``, a duration (``500ms 5m 2h 1d``), or a
time (``2026-01-31``, ``2026-01-31T12:00:00Z``). ``late`` is compared with durations. So is ``due``, as the time from
now: ``due < 1h`` is due within an hour. A number equals the text with its digits. Where a field is missing, or the two
cannot be compared, the comparison is false. An item that nobody has received yet has 0 attempts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple, NoReturn

from redisson_dq._common.texts import digits
from redisson_dq.browsing.holders import HOLDER_PARTS
from redisson_dq.browsing.rows import STATES, SeenItem
from redisson_dq.browsing.values import CLASS, DecodedValue
from redisson_dq.errors import ArgumentError

__all__ = ["Filter", "FilterError"]

_LONGEST, _DEEPEST = 10_000, 50
# By default Python converts at most 4,300 digits to a number and back.
_DIGITS = 4000
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_TOKENS = re.compile(
    r"""\s*(?:
    (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<time>\d{4}-\d\d-\d\d(?:[T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?(?![\w.]))
    |(?P<span>\d+(?:\.\d+)?(?:ms|[smhdw])(?![\w.]))
    |(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<operator>!=|<=|>=|==|=|<|>|~)
    |(?P<mark>[(),])
    |(?P<word>[\w$@][\w$@:/-]*(?:\[\d+\]|\.[\w$@][\w$@:/-]*)*)
    )""",
    re.VERBOSE,
)
_STEPS = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")
_WORDS = {"true": True, "false": False, "null": None}
_FIELDS = frozenset(("id", "due", "late", "attempts", "size", "state", "class", "reason", "queue", "holder", "held"))
_FIELDS |= {f"holder.{part}" for part in HOLDER_PARTS}
#: The types of the values that fields of an item are compared with, and their names.
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    **dict.fromkeys(("late", "held"), ((timedelta, int, float), "a duration such as 5m")),
    "due": ((timedelta, datetime), "a duration such as 1h, or a time"),
    **dict.fromkeys(("attempts", "size", "holder.pid"), ((int, float), "a number")),
}
_ABSENT = object()

_Test = Callable[[SeenItem, Any], bool]


class FilterError(ArgumentError):
    """A filter cannot be parsed. ``position`` is the position of the error, counted from 0."""

    def __init__(self, text: str, position: int, wanted: str) -> None:
        before, after = text[max(0, position - 30) : position], text[position : position + 20]
        place = f"at the end, after {before!r}" if not after.strip() else f"at {position}, before {after!r}"
        super().__init__(f"the filter cannot be read: {wanted} {place}")
        self.position = position


class _Token(NamedTuple):
    kind: str
    text: str
    position: int


class Filter:
    """A parsed filter. Example::

    wanted = Filter("order.id = 42 and late > 5m")
    found = [row for row in page.rows if wanted(row, reader.read(row.data, queue=row.queue))]
    """

    def __init__(self, text: str, *, hidden: Collection[str] = ()) -> None:
        """``hidden`` has fields of items that the filter may not use. Raises FilterError, which has the position."""
        self.text = text
        self._hidden = hidden
        self._needs_value = False
        if len(text) > _LONGEST:
            raise FilterError(text, _LONGEST, f"at most {_LONGEST} characters are read")
        self._tokens = list(_tokens(text))
        self._at = 0
        self._test = self._either(0)
        if self._next.kind != "end":
            self._fail("expected 'and' or 'or'")

    def __repr__(self) -> str:
        return f"Filter({self.text!r})"

    def __call__(self, row: SeenItem, decoded: DecodedValue | None = None) -> bool:
        """Whether the filter matches an item. ``decoded`` is its value, needed where :attr:`needs_value` says so."""
        return self._test(row, decoded)

    @property
    def needs_value(self) -> bool:
        """Whether the filter uses the value."""
        return self._needs_value

    # -- grammar -----------------------------------------------------------------------------------------------------

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _fail(self, wanted: str) -> NoReturn:
        raise FilterError(self.text, self._next.position, wanted)

    def _taken(self, *words: str) -> bool:
        token = self._next
        if token.kind in ("word", "mark") and token.text.lower() in words:
            self._at += 1
            return True
        return False

    def _either(self, depth: int) -> _Test:
        tests = [self._all(depth)]
        while self._taken("or"):
            tests.append(self._all(depth))
        return tests[0] if len(tests) == 1 else lambda row, value: any(test(row, value) for test in tests)

    def _all(self, depth: int) -> _Test:
        tests = [self._one(depth)]
        while self._taken("and"):
            tests.append(self._one(depth))
        return tests[0] if len(tests) == 1 else lambda row, value: all(test(row, value) for test in tests)

    def _one(self, depth: int) -> _Test:
        if depth > _DEEPEST:
            self._fail(f"at most {_DEEPEST} levels are read, and there are more")
        if self._taken("not"):
            test = self._one(depth + 1)
            return lambda row, value: not test(row, value)
        if self._taken("("):
            inner = self._either(depth + 1)
            if not self._taken(")"):
                self._fail("expected a closing parenthesis")
            return inner
        return self._comparison()

    def _comparison(self) -> _Test:
        token = self._next
        if token.kind != "word" or token.text.lower() in ("and", "or", "in"):
            self._fail("expected the name of a field")
        self._at += 1
        if token.text.lower() in self._hidden:
            self._at -= 1
            self._fail(f"{token.text} cannot be searched, because fields are masked: use another field")
        get = self._field(token.text)
        following = self._next
        if following.kind == "operator":
            self._at += 1
            wanted = self._value() if following.text == "~" else self._value_for(token.text)
            compare = _OPERATORS[following.text]
            return lambda row, value: compare(get(row, value), wanted, row)
        is_negated = following.kind == "word" and following.text.lower() == "not"
        if is_negated:
            self._at += 1
        if self._taken("in"):
            values = self._values(token.text)
            return lambda row, value: is_negated != any(_equals(get(row, value), each, row) for each in values)
        if is_negated:
            self._fail("expected 'in' after 'not'")
        return lambda row, value: get(row, value) not in (_ABSENT, None, False, "", 0)

    def _field(self, name: str) -> Callable[[SeenItem, Any], Any]:
        if name.lower() in _FIELDS:
            self._needs_value |= name.lower() == "class"
            return lambda row, value: _of_item(name.lower(), row, value)
        self._needs_value = True
        steps = [int(index[:_DIGITS]) if index else step for index, step in _STEPS.findall(name)]
        if steps[0] == "value":
            steps = steps[1:]
        return lambda row, value: _of_value(steps, value)

    def _values(self, name: str) -> list[Any]:
        if not self._taken("("):
            self._fail("expected an opening parenthesis after 'in'")
        values = [self._value_for(name)]
        while self._taken(","):
            values.append(self._value_for(name))
        if not self._taken(")"):
            self._fail("a comma or expected a closing parenthesis")
        return values

    def _value_for(self, name: str) -> Any:
        """Checks that the field can be compared with a value. Any other value would match nothing."""
        before = self._at
        wanted = self._value()
        kinds, expected = _KINDS.get(name.lower(), ((), ""))
        is_number = isinstance(wanted, str) and wanted.isdigit() and int in kinds
        if kinds and wanted is not None and not is_number:
            if isinstance(wanted, bool) or not isinstance(wanted, kinds):
                self._at = before
                self._fail(f"{name} is compared with {expected}: expected one")
        elif name.lower() == "state" and wanted not in STATES:
            self._at = before
            self._fail(f"expected a state ({', '.join(STATES)})")
        return wanted

    def _value(self) -> Any:
        token = self._next
        if token.kind in ("end", "operator", "mark"):
            self._fail("expected a value")
        self._at += 1
        if token.kind == "string":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)
        if token.kind == "number":
            return self._number(token)
        if token.kind == "span":
            unit = token.text.lstrip("0123456789.")
            try:
                return timedelta(seconds=float(token.text.removesuffix(unit)) * _UNITS[unit])
            except OverflowError:
                return timedelta.max
        if token.kind == "time":
            try:
                moment = datetime.fromisoformat(token.text.replace("Z", "+00:00"))
            except ValueError:
                self._at -= 1
                self._fail("expected a date that exists")
            return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
        return _WORDS.get(token.text.lower(), token.text)

    def _number(self, token: _Token) -> float:
        if not token.text.lstrip("-").isdigit():
            return float(token.text)
        if len(token.text) > _DIGITS:
            self._at -= 1
            self._fail(f"a number of at most {_DIGITS:,} digits was expected")
        return int(token.text)


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    end = len(text.rstrip())
    while position < end:
        found = _TOKENS.match(text, position)
        if found is None or found.lastgroup is None:
            begin = position + len(text[position:]) - len(text[position:].lstrip())
            raise FilterError(text, begin, "expected a field, a comparison or a value")
        yield _Token(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup))
        position = found.end()
    yield _Token("end", "", len(text))


# -- fields ----------------------------------------------------------------------------------------------------------


def _of_item(name: str, row: SeenItem, decoded: Any) -> Any:
    if name == "class":
        return decoded.java_class if decoded is not None and decoded.java_class else _ABSENT
    field, _, part = name.partition(".")
    if field == "holder":
        if row.holder is None:
            return _ABSENT
        found = row.holder.parts.get(part) if part else str(row.holder)
        return _ABSENT if found is None else found
    if name == "held":
        return row.now - row.at if row.state == "in-flight" and row.at is not None else _ABSENT
    found = getattr(row, name)
    if found is None:
        # An item without a record of attempts has had none.
        return 0 if name == "attempts" else _ABSENT
    return found


def _looked_into(value: Any) -> Any:
    """The content of a text that is JSON, as some services write with StringCodec. Any other value unchanged."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _of_value(steps: list[Any], decoded: Any) -> Any:
    if decoded is None or decoded.error:
        return _ABSENT
    found = _looked_into(decoded.value)
    for i, step in enumerate(steps):
        if isinstance(found, Mapping):
            if isinstance(step, str):
                # A key may itself contain dots.
                whole = ".".join(map(str, steps[i:]))
                if step not in found and whole in found:
                    return found[whole]
            if str(step) not in found:
                return _ABSENT
            found = found[str(step)]
        elif isinstance(found, list):
            if not isinstance(step, int) or step >= len(found):
                return _ABSENT
            found = found[step]
        else:
            return _ABSENT
    if isinstance(found, Mapping) and set(found) == {CLASS, "value"}:
        return found["value"]
    return found


# -- comparisons -----------------------------------------------------------------------------------------------------


def _pair(found: Any, wanted: Any, row: SeenItem) -> tuple[Any, Any] | None:
    """Both values, converted to one type that has an order, or None."""
    if isinstance(found, datetime):
        if isinstance(wanted, timedelta):
            return found - row.now, wanted
        return (found, wanted) if isinstance(wanted, datetime) else None
    if isinstance(found, timedelta):
        if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
            return found.total_seconds(), wanted
        return (found, wanted) if isinstance(wanted, timedelta) else None
    if isinstance(found, bool) or isinstance(wanted, bool):
        return (found, wanted) if isinstance(found, bool) and isinstance(wanted, bool) else None
    if isinstance(found, (int, float)):
        if isinstance(wanted, (int, float)):
            return found, wanted
        return (digits(found), wanted) if isinstance(wanted, str) else None
    if isinstance(found, str):
        if isinstance(wanted, datetime):
            return _moments(found, wanted)
        if isinstance(wanted, (int, float)):
            return _numbers(found, wanted)
        return (found, wanted) if isinstance(wanted, str) else None
    return None


def _moments(found: str, wanted: datetime) -> tuple[datetime, datetime] | None:
    try:
        moment = datetime.fromisoformat(found.replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)), wanted


def _numbers(found: str, wanted: float) -> tuple[float, float] | None:
    try:
        return (int(found) if found.lstrip("-").isdigit() else float(found)), wanted
    except ValueError:
        return None


def _equals(found: Any, wanted: Any, row: SeenItem) -> bool:
    if found is None or wanted is None:
        return found is wanted
    pair = _pair(found, wanted, row)
    return pair is not None and pair[0] == pair[1]


def _differs(found: Any, wanted: Any, row: SeenItem) -> bool:
    return found is not _ABSENT and not _equals(found, wanted, row)


def _contains(found: Any, wanted: Any, row: SeenItem) -> bool:
    if isinstance(found, str):
        return str(wanted).lower() in found.lower()
    if isinstance(found, list):
        return any(_equals(each, wanted, row) for each in found)
    return isinstance(found, Mapping) and str(wanted) in found


def _ordered(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any, SeenItem], bool]:
    def compare(found: Any, wanted: Any, row: SeenItem) -> bool:
        pair = _pair(found, wanted, row)
        return pair is not None and holds(*pair)

    return compare


_OPERATORS: dict[str, Callable[[Any, Any, SeenItem], bool]] = {
    "=": _equals,
    "==": _equals,
    "!=": _differs,
    "~": _contains,
    "<": _ordered(lambda a, b: a < b),
    "<=": _ordered(lambda a, b: a <= b),
    ">": _ordered(lambda a, b: a > b),
    ">=": _ordered(lambda a, b: a >= b),
}
