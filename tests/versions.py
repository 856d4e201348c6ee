"""The versions with which this project is tested. The tests, the Java peer, the vectors, the nightly run and
docs/compatibility.md read them here.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "CLIENTS",
    "CODECS",
    "LATER",
    "LEGACY",
    "LIBRARIES",
    "NEWEST",
    "OLDEST",
    "PYTHONS",
    "REDISES",
    "REDISSONS",
    "VALKEYS",
]

#: The first is the oldest that is allowed.
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: Of redis-py: the oldest that is allowed, and the newest of each later line.
CLIENTS = ("==6.4.0", ">=7,<8", ">=8,<9")
REDISES = ("6.2", "7.0", "8.2")
VALKEYS = ("9.1",)

#: Of Python's libraries that codecs use, the newest line that is proven.
CODECS: Mapping[str, str] = {"cramjam": "2.14", "msgspec": "0.23", "protobuf": "7.36", "pydantic": "2.14"}

#: By Redisson, newest first: the libraries of its own pom, for the bytes of many codecs depend on them. Two differ from
#: the pom, as the registry lacks that version: 4.7.0 names msgpack 0.9.12, after 0.9.11, and fory 1.4.0, before 1.6.0.
#: A library that the pom of an older one does not name is that of a later Redisson. One whose group has changed has the
#: group too.
LIBRARIES: Mapping[str, Mapping[str, str]] = {
    "4.7.0": {
        "jackson": "2.21.4",
        "jackson3": "3.1.3",
        "msgpack": "0.9.11",
        "compress": "1.28.0",
        "lz4": "at.yawk.lz4:1.11.1",
        "snappy": "1.1.10.8",
        "zstd": "1.5.7-12",
        "protobuf": "4.35.1",
        "protostuff": "1.8.0",
        "fory": "1.6.0",
    },
    "4.3.1": {
        "jackson": "2.21.2",
        "jackson3": "3.1.1",
        "msgpack": "0.9.9",
        "compress": "1.28.0",
        "lz4": "at.yawk.lz4:1.10.1",
        "snappy": "1.1.10.8",
        "zstd": "1.5.7-6",
        "protobuf": "4.29.3",
        "protostuff": "1.8.0",
        "fory": "0.12.2",
    },
    "3.50.0": {
        "jackson": "2.18.2",
        "msgpack": "0.9.9",
        "compress": "1.27.1",
        "lz4": "org.lz4:1.8.0",
        "snappy": "1.1.10.7",
        "zstd": "1.5.6-7",
        "protobuf": "4.29.3",
        "protostuff": "1.8.0",
        "fury": "0.8.0",
        "marshalling": "2.0.11.Final",
        "fst": "2.57",
    },
    "3.20.0": {
        "jackson": "2.14.2",
        "msgpack": "0.9.1",
        "compress": "1.28.0",
        "lz4": "org.lz4:1.8.0",
        "snappy": "1.1.9.1",
        "zstd": "1.5.7-6",
        "protobuf": "4.29.3",
        "protostuff": "1.8.0",
        "fst": "2.57",
    },
}
#: The newest of these libraries with which the newest Redisson is proven beside its own ones.
LATER: Mapping[str, str] = {
    "jackson": "2.22.1",
    "jackson3": "3.3.0",
    "lz4": "at.yawk.lz4:1.14.0",
    "snappy": "1.1.10.12",
    "zstd": "1.5.7-28",
    "protobuf": "4.36.2",
}
#: Newest first. By day the tests run beside the newest and the oldest.
REDISSONS = tuple(LIBRARIES)
NEWEST, OLDEST = REDISSONS[0], REDISSONS[-1]
#: Those that read the legacy envelope only.
LEGACY = (OLDEST,)
