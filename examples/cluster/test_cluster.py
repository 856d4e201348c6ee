"""Three masters, two movers as separate processes, and a worker. In real time, because clusters have no test clock."""

import os
import queue
import random
import re
import socket
import subprocess
from contextlib import suppress
from datetime import timedelta
from urllib.request import urlopen

import pytest
import redisson_dq
from redis.cluster import RedisCluster
from redisson_dq import partition_names
from redisson_dq.worker import Succeeded

from local_cluster import local_cluster
from sessions.activity import Activity
from sessions.queue import PARTITIONS, QUEUE
from sessions.work import worker

PATIENCE = 30
USERS = {f"user-{number}" for number in range(100)}
MOVE = ["redisson-dq", "move", QUEUE, "--partitions", str(PARTITIONS), "--follow", "--health-port", "0"]


def free_ports(count):
    """Ports whose cluster bus, 10,000 above, is free as well."""
    found = []
    for port in random.sample(range(20_000, 22_700), 2_700):
        with suppress(OSError), socket.socket() as node, socket.socket() as bus:
            node.bind(("127.0.0.1", port))
            bus.bind(("127.0.0.1", port + 10_000))
            found.append(port)
            if len(found) == count:
                return found
    raise OSError("too few ports are free")


@pytest.fixture(scope="module")
def url():
    with local_cluster(free_ports(3)) as url:
        yield url


@pytest.fixture
def client(url):
    with redisson_dq.connect(url) as client:
        yield client


@pytest.fixture
def activity(client):
    return Activity(client, idle=timedelta(seconds=0.2))


@pytest.fixture(scope="module")
def ended(url):
    """The users whose sessions the worker has ended."""
    ended = queue.SimpleQueue()
    worker.on(Succeeded)(lambda happening: ended.put(happening.event.value))
    worker.set_url(url)
    with worker:
        yield ended


@pytest.fixture(scope="module")
def movers(url):
    """Two processes: for each partition one of them moves, and the other is in reserve."""
    environment = {**os.environ, "REDISSON_DQ_URL": url, "PYTHONUNBUFFERED": "1"}
    started = [subprocess.Popen(MOVE, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def ports(movers):
    """The ports of the movers' probes, once all partitions are open."""
    ports = [re.search(r"health at port (\d+)", mover.stdout.readline())[1] for mover in movers]
    for mover in movers:
        opened = {mover.stdout.readline().strip() for _ in range(PARTITIONS)}
        assert opened == {f"moving {name}" for name in partition_names(QUEUE, PARTITIONS)}
    return ports


def test_the_masters_share_the_partitions(url):
    with RedisCluster.from_url(url.replace("redis+cluster", "redis").partition(",")[0]) as cluster:
        nodes = [cluster.get_node_from_key(name) for name in partition_names(QUEUE, PARTITIONS)]
    assert sorted(nodes.count(node) for node in set(nodes)) == [5, 5, 6]


def test_idle_sessions_end(activity, ended, ports):
    for user in USERS:
        activity.seen(user)
    assert {ended.get(timeout=PATIENCE) for _ in USERS} == USERS
    for port in ports:
        assert urlopen(f"http://127.0.0.1:{port}/ready", timeout=PATIENCE).status == 200


def test_activity_puts_the_end_off(client):
    activity = Activity(client)
    waiting = client.delayed_queue(QUEUE, partitions=PARTITIONS, transfer=False)
    activity.seen("ann")
    first = waiting.find("ann").due
    activity.seen("ann")
    assert waiting.size() == 1
    assert waiting.find("ann").due > first
    activity.logged_out("ann")
    assert waiting.is_empty()


def test_the_reserve_takes_over_from_a_mover_that_stops(activity, ended, movers, ports):
    movers[0].terminate()
    assert movers[0].wait(PATIENCE) == 0
    for user in USERS:
        activity.seen(user)
    assert {ended.get(timeout=PATIENCE) for _ in USERS} == USERS
