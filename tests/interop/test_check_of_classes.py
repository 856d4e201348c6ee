"""``generate-classes --check`` says of stored values what becomes of those that a live Java has written.

Each class of com.acme.changed is taken for the class of before, and com.acme.changed.Same for what it is now.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from redisson_dq.cli import main
from redisson_dq.cli.frame import FINE, PROBLEM
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, SerializationCodec
from tests.conftest import thinned
from tests.interop.changed import CHANGED
from tests.interop.test_changed_classes import java_bytes, java_name, read
from tests.peer import VERSIONS, JavaPeer, build

#: By the words of a claim, what may become of a value.
CLAIMS = {
    "reads them": ("read", "default"),
    "refuses them": ("error",),
    "reads wrong": ("**wrong values**",),
    "loses the old field": ("default",),
    "without it": ("read",),
    "with the default": ("read", "default"),
    "unless the bytes of both types are the same": ("read",),
    "unless the value fits the new type": ("read",),
}
CODECS: dict[str, Any] = {
    "Kryo5": Kryo5Codec(),
    "JsonJackson": JsonJacksonCodec(),
    "Serialization": SerializationCodec(),
}


def module_of(name: str, path: Path) -> Path:
    """The module that the command makes of the rig's class."""
    classes = build(VERSIONS[0]) / "classes"
    assert main(["generate-classes", str(classes), name, "-o", str(path)]) == FINE
    return path


@pytest.mark.parametrize("sample", thinned([sample for sample in CHANGED if sample != "same"], of=2))
def test_what_is_said_of_stored_values_holds_for_those_of_a_live_java(
    peers: Callable[[str], JavaPeer], tmp_path: Path, capsys: pytest.CaptureFixture[str], sample: str
) -> None:
    peer, name = peers(VERSIONS[0]), java_name(CHANGED[sample])
    before = module_of(name, tmp_path / "before.py")
    # The module of the class of before, under the name of the class that it is now.
    short = name.rpartition(".")[2]
    before.write_text(before.read_text("utf-8").replace(name, "com.acme.changed.Same").replace(short, "Same"))
    capsys.readouterr()
    classes = str(build(VERSIONS[0]) / "classes")
    code = main(["generate-classes", classes, "com.acme.changed.Same", "--check", str(before)])
    told = capsys.readouterr().out
    lines = [line for line in told.splitlines() if "Stored values: " in line]
    # Fields that only change places make another module, and no change of a class.
    assert code == PROBLEM
    assert bool(lines) != ("No class has changed" in told)
    for codec_name, codec in CODECS.items():
        found = read(codec, java_bytes(peer, codec.name, sample), sample)
        claims = [
            claim
            for line in lines
            for claim in line.split("Stored values: ")[1].removesuffix(".").split("; ")
            if claim.split()[0] == codec_name
        ]
        allowed = {each for claim in claims for words, which in CLAIMS.items() if words in claim for each in which}
        assert found in (allowed if lines else {"read"}), (codec_name, claims)
