"""The classes of the values in each bar of a timeline, by a sample of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import attrs

from redisson_dq.browsing import ValueReader

__all__ = ["ClassMark", "ClassPart", "ClassSample", "sample_classes"]

#: How many classes have a mark of their own. The others share one.
_MOST = 5
_OTHERS = "other classes"
# Collections and texts of Java's own say nothing about the value.
_PLAIN = ("java.", "kotlin.collections.")


@attrs.frozen(kw_only=True)
class ClassMark:
    """A class with the number of its colour and pattern, from 1 on. ``label`` is the shortest text that names it."""

    number: int
    name: str
    label: str


@attrs.frozen(kw_only=True)
class ClassPart:
    """A class, and how many of the sampled values of a bar have it. ``share`` is its part of them, from 0 to 1.

    ``number`` and ``label`` are those of its mark. They are 0 and an empty text for values whose class is not known.
    """

    number: int
    label: str
    count: int
    share: float


@attrs.frozen(kw_only=True)
class ClassSample:
    """The marks of all bars, the parts of each bar by its index, and how many values were looked at."""

    marks: tuple[ClassMark, ...] = ()
    parts: Mapping[int, tuple[ClassPart, ...]] = attrs.field(factory=dict)
    count: int = 0


def sample_classes(reader: ValueReader, shown: Iterable[tuple[int, int, bytes]], counts: Sequence[int]) -> ClassSample:
    """The classes of a sample: of each value the index of its bar, its size, its first bytes.

    ``counts`` are those of the bars: a class counts for as many values as its share of each bar stands for. Without any
    class that is known there are neither marks nor parts.
    """
    found: dict[int, Counter[str]] = {}
    for bar, size, data in shown:
        name = reader.read(data, is_whole=size <= len(data)).java_class
        found.setdefault(bar, Counter())["" if name.startswith(_PLAIN) else name] += 1
    weights: defaultdict[str, float] = defaultdict(float)
    for bar, classes in found.items():
        for name, count in classes.items():
            weights[name] += counts[bar] * count / classes.total()
    known = sorted((name for name in weights if name), key=lambda name: (-weights[name], name))
    if not known:
        return ClassSample()
    # The order of names changes less from one sample to the next than that of weights.
    marks = [
        ClassMark(number=i, name=name, label=_label(name, known)) for i, name in enumerate(sorted(known[:_MOST]), 1)
    ]
    if len(known) > _MOST:
        marks.append(ClassMark(number=_MOST + 1, name=_OTHERS, label=_OTHERS))
    mark_of = {each.name: each for each in marks}
    return ClassSample(
        marks=tuple(marks),
        parts={bar: _parts(classes, mark_of) for bar, classes in found.items()},
        count=sum(classes.total() for classes in found.values()),
    )


def _parts(classes: Counter[str], mark_of: Mapping[str, ClassMark]) -> tuple[ClassPart, ...]:
    merged: Counter[str] = Counter()
    for name, count in classes.items():
        merged[name if name in mark_of or not name else _OTHERS] += count
    found = []
    for name, count in merged.items():
        mark = mark_of.get(name)
        number, label = (0, "") if mark is None else (mark.number, mark.label)
        found.append(ClassPart(number=number, label=label, count=count, share=count / merged.total()))
    return tuple(sorted(found, key=lambda each: each.number))


def _label(name: str, known: Iterable[str]) -> str:
    """The name without its package, where no other class has that name."""
    short = name.rpartition(".")[2]
    return short if sum(each.rpartition(".")[2] == short for each in known) == 1 else name
