"""Texts, names and bytes of many lengths: every format writes what Java (Redisson 4) wrote, and reads it.

Of Java's bytes the digests are kept. ``texts`` are the bytes of all texts, one after the other, ``names`` those of
maps with one such name.
"""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from redisson_dq.codecs.jackson import json
from redisson_dq.codecs.jackson.node import Object, Typed
from tests.unit.codecs.format_nodes import MODULES, as_read, same_node

LENGTHS = (
    *(1, 2, 7, 8, 11, 15, 16, 21, 23, 24, 31, 32, 33, 55, 56, 57, 63, 64, 65, 66, 85, 86, 127, 128, 255, 256, 257),
    *(1332, 1333, 1334, 2664, 2665, 2666, 2667, 2668, 3995, 3996, 3997, 4000, 5000, 7992, 8000),
)
LONG = (21845, 21846, 30000, 65535, 65536, 70000)
LETTERS = "a\u00e9\u20ac\U0001f600"

JAVA = {
    "json": {
        "texts": "97f00c93feadf54fb27de78fcab0273d54f5ecaf8e79996844e898aa6ca2fdcc",
        "names": "7264d285fd55b7238c83d7c440d1fc238eb8b6525e8cf4cdef318f562ae6bab1",
        "many names": "4dc2f363f66bbeac37e1fba96575b405ff008fb69f94f5230d926bdba87d6ce6",
        "letters": "f3f02af26473d3a54c94cf2ce0906f4f75e97638c8a55d8a131ff3a2626fa657",
        "mixed": "911d8516989b9c29ae0165094fb9652aa355ca68b48d1b018b61a081038cdb36",
        "bytes": "d43abd1ffe6ceb6aa447ad3658f0a7a24f0482e10f17ca1eec9db2d65b236dd9",
    },
    "cbor": {
        "texts": "50e2a1abbde7e97636bd7d0fee1143a6586f3819ad63c40b782675308dbfb27e",
        "names": "fd69804a0ecb7e934acd3dd5859a12b220110a9bc16defb77c02d17ad65709fb",
        "many names": "48ac80a3ce30bf91d71b1456930030c1923d6a01749a4f56a3065f3fb86e61b6",
        "letters": "2ee168cc032cc1fcb6de83828a6a110ad1780ae79d6795bf88af915077d1504a",
        "mixed": "48de2c38dfc4a9288fe23bb712c3c99c6588274910539c4bc044665895852b67",
        "bytes": "8d24eee71f11f8159ef7d7e0503ed548209c0f5abbeabe949e2f6a967c805340",
    },
    "msgpack": {
        "texts": "0b4c61bc6e964db5e379dc3afad018b304c913b46a3610b8df1b30d3379f8e51",
        "names": "ce564668547152eaab8d13032add235871fcb904490013dc16f13bcb1f88aab1",
        "many names": "3896bc7388ef143610f4682f502a5a29ede0a3f00d1caedb4e5d221aa2c97a3c",
        "letters": "a29ce0f3cbf25953f024e348c49cde6f86a864f7b4f2143f6836bdeb24cf15ed",
        "mixed": "cbd00b915d61d0529399ff5f941df17f779e798ff3d3999f098c148df068cb37",
        "bytes": "379bcea7c8b040e7371909d7ccfc2b053314f8f99034a0cad11d0c9be8f31b0f",
    },
    "smile": {
        "texts": "d6c5b31b1190b49f6ae11e1627c861c6777b86738baa5ef9b2e38ad7ad75d3c2",
        "names": "6714ad36e08844d57b2f967b7279aa6f0e7875593f651d63974944dc4327538d",
        "many names": "7feae2eaeeff0871c149ba3cfacd52f6dc3af41f642938e816cb3a8d6edee140",
        "letters": "0745490093c9c00a2459eebd26c7ff5f38e2b01dde5c059f1ee89edffc39153a",
        "mixed": "41fac38ed78af4b5d2a1e0cbe0457bcc6318581cb792071bc568507c43373440",
        "bytes": "9eb3c1841c6d4244baffdbdd2661b95217ee2f7ed5ce114759d1fa4afc553d58",
    },
    "ion": {
        "texts": "ff3def06db3528d72ca3cda30304d66d236597aa4aaf709bf82340f76f72e1b0",
        "names": "cfd80bf35d47a72e1f01a4e28e8478ce943deea9839aea14740515e81ebdb44f",
        "many names": "7a48173afc6be5f45eca83a611a58408ca6a9e4ec513dba033c487ba11444125",
        "letters": "33b2f8fa9a43f2d47abdbe30396cfa795f9932564dd8e7796b73c7e0b7aeff2d",
        "mixed": "194cb499083e2448df438d9af460ed0a8d83e26611034027098436cf8ac6b361",
        "bytes": "5e3223b64f6ae59190927114c6ced359b4b8047a54cdb2e5991342840267345b",
    },
}


def a_map(*pairs: tuple[str, Any]) -> Typed:
    return Typed("java.util.LinkedHashMap", Object(pairs))


def many_names(count: int) -> Typed:
    """Maps with ``count`` different names, each at least twice: more than Smile remembers."""
    return Typed(
        "java.util.ArrayList",
        [a_map((f"n{i}", i % 8), *([(f"n{i - 3}", 1)] if i > 3 else [])) for _ in range(2) for i in range(count)],
    )


NODES: dict[str, list[Any]] = {
    "texts": [letter * length for letter in LETTERS for length in (*LENGTHS, *LONG)],
    "names": [a_map((letter * length, 1)) for letter in LETTERS for length in LENGTHS],
    "many names": [many_names(1100)],
    "letters": ["".join(map(chr, range(0x180)))],
    "mixed": ["a" * 3995 + "\U0001f600" + "b" * 3995 + "\U0001f600" * 2000],
    "bytes": [bytes((i * 37 + 200) & 0xFF for i in range(65536))],
}


@pytest.mark.parametrize("format_name", sorted(MODULES))
@pytest.mark.parametrize("kind", sorted(NODES))
def test_the_same_bytes_as_java_s(format_name: str, kind: str) -> None:
    module = MODULES[format_name]
    data = [module.dumps(node) for node in NODES[kind]]
    assert hashlib.sha256(b"".join(data)).hexdigest() == JAVA[format_name][kind]
    for raw, node in zip(data, NODES[kind], strict=True):
        assert same_node(module.loads(raw), as_read(node, module))


def test_json_keeps_surrogates_that_are_no_pair() -> None:
    assert json.dumps(["a\ud800", "\udc00\ud800"]) == b'["a\\uD800","\\uDC00\\uD800"]'
    assert json.loads(b'["a\\uD800","\\uDC00\\uD800"]') == ["a\ud800", "\udc00\ud800"]
