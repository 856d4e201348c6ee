"""The classes of the values in each bar of a timeline, from a sample."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import attrs

from redisson_dq.browsing import ValueReader

__all__ = ["ClassMark", "ClassPart", "ClassSample", "sample_classes"]

#: How many classes have their own mark. The others share one.
_MOST = 5
_OTHERS = "other classes"
# Java's own collections and strings say nothing about the value.
_PLAIN = ("java.", "kotlin.collections.")


@attrs.frozen(kw_only=True)
class ClassMark:
    """A class and the number of its colour and pattern, starting at 1. ``label`` is the shortest text that names it."""

    number: int
    name: str
    label: str


@attrs.frozen(kw_only=True)
class ClassPart:
    """A class, and how many of the sampled values of a bar have it. ``share`` is its share of them, from 0 to 1.

    ``number`` and ``label`` come from its mark. They are 0 and empty for values of an unknown class.
    """

    number: int
    label: str
    count: int
    share: float


@attrs.frozen(kw_only=True)
class ClassSample:
    """The marks of all bars, the parts of each bar by its index, and how many values were examined."""

    marks: tuple[ClassMark, ...] = ()
    parts: Mapping[int, tuple[ClassPart, ...]] = attrs.field(factory=dict)
    count: int = 0


def sample_classes(reader: ValueReader, shown: Iterable[tuple[int, int, bytes]], counts: Sequence[int]) -> ClassSample:
    """The classes of a sample, which has the index of its bar, the size and the first bytes of each value.

    ``counts`` has the values of each bar: a class is weighted by its share of them. If no class is known, there are
    neither marks nor parts.
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
    # The order of names is more stable from one sample to the next than the order of weights.
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
    """The name without its package, if no other class has that short name."""
    short = name.rpartition(".")[2]
    return short if sum(each.rpartition(".")[2] == short for each in known) == 1 else name
