"""The functions of a class are made once, also where all values of a list are the first of their class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from redisson_dq.codecs import Kryo5Codec, straight
from redisson_dq.java import java_class


@java_class("com.acme.first.Nothing")
@attrs.define
class Nothing:
    pass


@java_class("com.acme.first.Few")
@attrs.define
class Few:
    n: int = 0


@pytest.mark.parametrize("kind", [Nothing, Few])
def test_the_functions_of_a_class_are_made_once(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def compiled(lines: Sequence[str], names: dict[str, Any], function: str, class_name: str) -> Any:
        made.append(function)
        return straight.compiled(lines, names, function, class_name)

    monkeypatch.setattr("redisson_dq.codecs.kryo5.straight.compiled", compiled)
    data = Kryo5Codec().encode([kind() for _ in range(50)])
    assert len(Kryo5Codec().decode(data)) == 50
    assert len(made) <= 2
