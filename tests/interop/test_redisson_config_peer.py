"""Files of settings that a live Redisson loads: both sides find one server, one login and one codec in them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from redisson_dq._redisson_config import taken_from
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from tests.conftest import PATIENCE
from tests.interop.conftest import NEWEST_BY_DAY
from tests.peer import JavaPeer, PeerError, from_json, to_json

Peers = Callable[[str], JavaPeer]

SINGLE = """
singleServerConfig:
  address: "redis://${DQ_NOWHERE:-h}:${DQ_NOWHERE:-6390}"
  username: yes
  password: 0123
  database: 2
  clientName: "${HOME}"
  timeout: 2500
  connectTimeout: 1500
  retryAttempts: 3
threads: 4
nettyThreads: 0
codec: !<org.redisson.codec.JsonJacksonCodec> {}
"""
SENTINEL = """
sentinelServersConfig:
  sentinelAddresses:
  - "redis://h:1"
  - "redis://g:2"
  masterName: main
  password: ~
  sentinelPassword: own
  database: 3
codec: !<org.redisson.codec.LZ4Codec> {}
"""
CLUSTER = """
clusterServersConfig:
  nodeAddresses: ["rediss://h:1", "rediss://g:2"]
  checkSlotsCoverage: false
  sslEnableEndpointIdentification: false
codec: !<org.redisson.client.codec.StringCodec> {}
"""
MASTER = """
masterSlaveServersConfig:
  masterAddress: "redis://h:1"
  slaveAddresses: ["redis://g:2"]
  database: 1
"""
REPLICATED = 'replicatedServersConfig: {nodeAddresses: ["redis://h:1"]}\n'
JSON = '{"singleServerConfig": {"address": "redis://h:1", "password": 123, "keepAlive": true}}'


@pytest.mark.parametrize("version", NEWEST_BY_DAY)
@pytest.mark.parametrize("text", [SINGLE, SENTINEL, CLUSTER, MASTER, REPLICATED, JSON])
def test_redisson_finds_the_same_in_a_file(peers: Peers, version: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / ("a.json" if text.startswith("{") else "a.yaml")
    path.write_text(text, "utf-8")
    # As Redisson writes it down again: with its defaults, so every setting that this version has is there.
    written = tmp_path / "written.yaml"
    written.write_text(peers(version).call("settings", file=str(path)), "utf-8")
    ours, theirs = taken_from(path), taken_from(written)
    assert theirs.url == ours.url
    assert type(theirs.codec) is type(ours.codec)
    assert theirs.redis_options.items() >= ours.redis_options.items()
    more = theirs.redis_options.keys() - ours.redis_options.keys()
    assert more <= {"socket_timeout", "socket_connect_timeout"}
    if text is SINGLE:
        assert ours.redis_options["client_name"] == os.environ["HOME"]


@pytest.mark.parametrize("version", NEWEST_BY_DAY)
@pytest.mark.parametrize(
    "text",
    [
        'singleServerConfig: {address: "redis://h:1"}\ncodec: !<org.redisson.codec.CompositeCodec> {}\n',
        'singleServerConfig: {address: "redis://h:1", timeout: soon}',
        'singleServerConfig: {address: "redis://h:1", keepAlive: [true]}\nclusterNodes: 1',
    ],
)
def test_a_file_that_redisson_refuses(peers: Peers, version: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(PeerError):
        peers(version).call("settings", file=str(path))
    with pytest.raises(ArgumentError):
        taken_from(path)


@pytest.mark.parametrize("version", NEWEST_BY_DAY)
@pytest.mark.parametrize("codec", ["", "codec: !<org.redisson.codec.JsonJacksonCodec> {}\n"])
def test_values_cross_by_one_file(
    peers: Peers, redis7: EmbeddedServer, queue: str, version: str, codec: str, tmp_path: Path
) -> None:
    path = tmp_path / "redisson.yaml"
    address = redis7.url.removeprefix("redis://").partition("/")[0]
    path.write_text(
        f'singleServerConfig:\n  address: "redis://{address}"\n  database: 1\n  connectionMinimumIdleSize: 1\n{codec}',
        "utf-8",
    )
    peer, name = peers(version), f"by-file-{uuid.uuid4().hex}"
    value: Any = ["a", 1, {"b": True}]
    peer.call("open", client=name, file=str(path))
    envelope = "legacy" if version.startswith("3.20") else "current"
    try:
        with redisson_dq.connect(redisson_config=path, envelope=envelope) as client:  # type: ignore[arg-type]
            peer.call("offer", client=name, queue=queue, value=to_json(value), delayMs=50)
            ours = client.blocking_queue(queue)
            assert ours.poll(timeout=PATIENCE) == value
            client.delayed_queue(ours).offer(value, delay=0.05)
            taken = peer.call("poll", client=name, queue=queue, side="ready", timeoutMs=int(PATIENCE * 1000))
            assert from_json(taken) == value
    finally:
        peer.call("close", client=name)
