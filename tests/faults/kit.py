"""The faults. Each function causes its fault once. It returns when everything works again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

import pytest
import redis

from tests.conftest import eventually
from tests.faults.gate import LostReply, Trap, Where
from tests.faults.process_loads import Processes
from tests.faults.run import Fault, Run
from tests.faults.shortages import Shortage, of_descriptors, of_threads
from tests.faults.world import ClusterWorld, NamedWorld, SentinelWorld

__all__ = ["BY_NAME", "FAULTS"]

FAULTS: dict[str, Fault] = {}


def _add(fault: Fault) -> None:
    FAULTS[fault.name] = fault


# -- connections, at the gate ----------------------------------------------------------------------------------------

# Commands at which a connection breaks, and the ways in which it breaks. EVALSHA means every script: offers, transfers,
# cancellations. Some scripts are named.
_AT = {
    "pop": "BLPOP",
    "batch": "LPOP",
    "script": "EVALSHA",
    "unblock": "CLIENT",
    "put-back": "put_back.lua",
    "transfer": "transfer.lua",
    "receive": "receive.lua",
    "arrival": "BLMOVE",
    "ack": "ack.lua",
    "exchange": "ack_and_receive.lua",
    "subscribe": "SUBSCRIBE",
}
_WHERE: tuple[Where, ...] = ("command", "sent", "reply", "half")


def _cut(run: Run) -> None:
    run.world.gate.cut()


def _cut_at(command: str) -> Fault:
    def do(run: Run) -> None:
        gate = run.world.gate
        _wait_for(run, gate.trap(command, run.rng.choice(_WHERE), "cut", times=run.rng.randint(1, 3)))

    return Fault(f"cut-{_name(command)}", do, times=6)


def _delay_at(command: str) -> Fault:
    def do(run: Run) -> None:
        where: Where = run.rng.choice(("command", "reply"))
        seconds = run.rng.uniform(0.01, 0.4)
        trap = run.world.gate.trap(command, where, "delay", times=run.rng.randint(1, 4), seconds=seconds)
        _wait_for(run, trap)

    return Fault(f"delay-{_name(command)}", do, times=5)


def _freeze_at(command: str) -> Fault:
    """The connection stands still for longer than a short wait, then goes on."""

    def do(run: Run) -> None:
        gate = run.world.gate
        trap = gate.trap(command, run.rng.choice(("command", "reply")), "freeze")
        trap.sprung.wait(run.rng.uniform(0.5, 1.5))
        run.pause(0.2, 1.0)
        gate.clear()

    return Fault(f"freeze-{_name(command)}", do, times=4)


def _freeze(run: Run) -> None:
    run.world.gate.freeze()
    run.pause(0.2, 1.5)
    run.world.gate.clear()


def _freeze_and_cut(run: Run) -> None:
    """Nothing passes for a while. Then the connections are cut."""
    run.world.gate.freeze()
    run.pause(0.2, 1.0)
    run.world.gate.cut()
    run.world.gate.clear()


def _refuse(run: Run) -> None:
    run.world.gate.refusing = True
    run.world.gate.cut()
    run.pause(0.2, 1.5)
    run.world.gate.clear()


def _wait_for(run: Run, trap: Trap) -> None:
    """Waits until the trap has sprung ``times`` times, or until no command that could spring it comes any more."""
    trap.sprung.wait(run.rng.uniform(0.5, 1.5))
    run.world.gate.clear()


def _name(command: str) -> str:
    return next(name for name, at in _AT.items() if at == command)


_add(Fault("cut", _cut, times=6))
for _command in _AT.values():
    _add(_cut_at(_command))
    _add(_delay_at(_command))
    _add(_freeze_at(_command))
_add(Fault("freeze", _freeze))
_add(Fault("freeze-and-cut", _freeze_and_cut))
_add(Fault("refuse", _refuse))


# -- connections, at the server --------------------------------------------------------------------------------------


def _kill_type(kind: str) -> Fault:
    def do(run: Run) -> None:
        run.world.admin.client_kill_filter(_type=kind, skipme=True)

    return Fault(f"kill-{kind}", do, times=6)


def _kill_id(run: Run) -> None:
    clients = [client["id"] for client in run.world.admin.client_list() if client["cmd"] != "client|list"]
    if clients:
        run.world.admin.client_kill_filter(_id=run.rng.choice(clients))


def _output_buffer(run: Run) -> None:
    """Redis closes a connection whose reply exceeds its output limit. The reply is lost."""
    run.world.admin.config_set("client-output-buffer-limit", "normal 20000 0 0")
    for load in run.loads:
        load.burst(1200)
    run.pause(0.5, 1.0)
    run.world.admin.config_set("client-output-buffer-limit", "normal 0 0 0")


_add(_kill_type("normal"))
_add(_kill_type("pubsub"))
_add(Fault("kill-id", _kill_id, times=20))
_add(Fault("output-buffer", _output_buffer, times=2))


# -- the server ------------------------------------------------------------------------------------------------------


def _pause_writes(run: Run) -> None:
    _pause(run, "WRITE")


def _pause_all(run: Run) -> None:
    _pause(run, "ALL")


def _pause(run: Run, what: str) -> None:
    ms = run.rng.randint(50, 1500)
    run.world.admin.execute_command("CLIENT", "PAUSE", ms, what)
    time.sleep(ms / 1000)


def _full(run: Run) -> None:
    """No memory is left, and nothing may be evicted."""
    run.world.admin.config_set("maxmemory", 1)
    run.pause(0.3, 1.5)
    run.world.admin.config_set("maxmemory", 0)


def _read_only(run: Run) -> None:
    """The server is the replica of a master that cannot be reached."""
    run.world.admin.execute_command("REPLICAOF", "127.0.0.1", "1")
    run.pause(0.3, 1.5)
    run.world.admin.execute_command("REPLICAOF", "NO", "ONE")


def _min_replicas(run: Run) -> None:
    run.world.admin.config_set("min-replicas-to-write", 1)
    run.pause(0.3, 1.5)
    run.world.admin.config_set("min-replicas-to-write", 0)


def _flush_scripts(run: Run) -> None:
    for admin in run.world.admins:
        admin.script_flush()


def _flush_all(run: Run) -> None:
    run.world.admin.flushall()
    run.pardon("lost", 0.0, "FLUSHALL")


def _stop(run: Run) -> None:
    """The server's process is stopped."""
    os.kill(run.world.server.pid, signal.SIGSTOP)
    run.pause(0.2, 1.5)
    os.kill(run.world.server.pid, signal.SIGCONT)


def _busy(run: Run) -> None:
    """Another program's script keeps the server busy until that script is killed."""
    run.world.admin.config_set("busy-reply-threshold", 50)
    with redis.Redis.from_url(run.world.server.url, retry=None) as other:
        connection = other.connection_pool.get_connection()
        connection.send_command("EVAL", "while true do end", 0)
        run.pause(0.2, 1.0)
        eventually(lambda: _kills_script(run.world.admin))
        # The answer to SCRIPT KILL comes before the script ends.
        eventually(lambda: _is_free(run.world.admin))
        connection.disconnect()
    # With that threshold an ordinary script is one of which others hear, on a machine that is busy too.
    run.world.admin.config_set("busy-reply-threshold", 5000)


def _kills_script(admin: redis.Redis) -> bool:
    with suppress(redis.ResponseError):
        admin.script_kill()
        return True
    return False


def _is_free(admin: redis.Redis) -> bool:
    with suppress(redis.ResponseError):
        return bool(admin.ping())
    return False


# The items that a load offers for one moment before the server gets slow, and the number of such loads. A client learns
# how slow the server is only by calls with work to do.
_MUCH, _SOME = 1000, 2


def _slow(run: Run) -> None:
    """Each call waits behind another client's command, again and again, and much is due meanwhile."""
    ends = _until_much_is_due(run)
    while time.monotonic() < ends:
        run.world.admin.execute_command("DEBUG", "SLEEP", run.rng.uniform(0.03, 0.12))
        run.pause(0.001, 0.03)


def _throttled(run: Run) -> None:
    """The server's process gets a tenth of a CPU, in small portions, and much is due meanwhile."""
    ends = _until_much_is_due(run)
    while time.monotonic() < ends:
        os.kill(run.world.server.pid, signal.SIGSTOP)
        time.sleep(0.018)
        os.kill(run.world.server.pid, signal.SIGCONT)
        time.sleep(0.002)


def _until_much_is_due(run: Run) -> float:
    """The end of a slow phase that begins now."""
    for load in run.rng.sample(run.loads, min(_SOME, len(run.loads))):
        load.burst(_MUCH)
    return time.monotonic() + run.rng.uniform(0.5, 2.5)


_add(Fault("pause-writes", _pause_writes, times=4))
_add(Fault("pause-all", _pause_all, times=4))
_add(Fault("full", _full))
_add(Fault("read-only", _read_only))
_add(Fault("min-replicas", _min_replicas))
_add(Fault("flush-scripts", _flush_scripts, times=10))
_add(Fault("flush-all", _flush_all, times=5))
_add(Fault("stop", _stop))
_add(Fault("busy", _busy))
_add(Fault("slow", _slow))
_add(Fault("throttled", _throttled))


# -- processes -------------------------------------------------------------------------------------------------------

_KILLED = ("processes", "leaseprocesses")


def _kill_process(run: Run) -> None:
    for load in run.loads:
        if isinstance(load, Processes):
            load.kill_one(run.rng)
    run.pause(0.1, 1.0)


_add(Fault("kill-process", _kill_process, times=6, loads=_KILLED))


# -- restarts --------------------------------------------------------------------------------------------------------

# By appendfsync: the seconds of writes that a killed server may lose.
_EVERYSEC = 2.0


def _restart(run: Run) -> None:
    """A server that shuts down in order keeps every acknowledged write."""
    began = time.time()
    run.world.server.restart()
    if run.fault.config.get("appendonly") == "no":
        run.pardon("lost", 0.0, "appendonly no")
        run.pardon("twice", began, "appendonly no")


def _killed(run: Run) -> None:
    began = time.time()
    run.world.server.kill()
    run.world.server.start()
    # With "no", Redis passes each write to the system before it answers, and the system survives.
    if run.fault.config["appendfsync"] == "everysec":
        run.pardon("lost", began - _EVERYSEC, "appendfsync everysec")
        run.pardon("twice", began - _EVERYSEC, "appendfsync everysec")


def _killed_while_rewriting(run: Run) -> None:
    with suppress(redis.ResponseError):
        run.world.admin.bgrewriteaof()
    _killed(run)


_add(Fault("restart-always", _restart, times=2, config={"appendfsync": "always"}))
_add(Fault("restart-everysec", _restart, times=2, config={"appendfsync": "everysec"}))
_add(Fault("restart-no-fsync", _restart, times=2, config={"appendfsync": "no"}))
_add(Fault("restart-no-aof", _restart, times=2, config={"appendonly": "no"}))
_add(Fault("kill9-always", _killed, times=3, config={"appendfsync": "always"}))
_add(Fault("kill9-everysec", _killed, times=3, config={"appendfsync": "everysec"}))
_add(Fault("kill9-no-fsync", _killed, times=3, config={"appendfsync": "no"}))
_add(Fault("kill9-rewriting", _killed_while_rewriting, times=3, config={"appendfsync": "always"}))


# -- the clock -------------------------------------------------------------------------------------------------------


def _clock_forward(run: Run) -> None:
    """Sets the clock ahead, further each time. (A step back would make waiting items late by as much.)"""
    before = run.world.skews[-1][1] if run.world.skews else 0.0
    run.world.step_clock(before + run.rng.uniform(1, 90))
    run.pause(0.3, 0.8)


def _clock_back(run: Run) -> None:
    """Sets the clock back, then right again. In between, waiting items are late by as much."""
    run.world.step_clock(-run.rng.uniform(1, 5))
    run.pause(0.3, 0.8)
    run.world.step_clock(0)


_add(Fault("clock-forward", _clock_forward, clock=True))
# Redisson decides by its own clock what is due. So it moves early what was offered by a clock that is behind.
_add(Fault("clock-back", _clock_back, clock=True, without=("java",)))


# -- several servers -------------------------------------------------------------------------------------------------


def _broken_everywhere(run: Run, why: str) -> None:
    """Each pop that was under way on any server may have lost its reply."""
    assert isinstance(run.world, (ClusterWorld, SentinelWorld))
    for load in run.loads:
        # A blocking pop of each list, and an immediate look of each short wait.
        most = 2 * len(load.queues) + len(load.consumers) + load.others
        run.world.by_hand.append(LostReply(b"", most, None, why, time.time()))


def _sentinel_failover(run: Run) -> None:
    """Promotes the replica once it has every write. So nothing may be missing afterwards."""
    world = run.world
    assert isinstance(world, SentinelWorld)
    old = world.admin
    new = next(admin for admin in world.admins if admin is not old)
    port = new.connection_pool.connection_kwargs["port"]
    old.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
    eventually(lambda: old.info("replication")["master_repl_offset"] == new.info("replication")["slave_repl_offset"])
    eventually(lambda: _accepted(world))
    eventually(lambda: _answers(lambda: new.info("replication")["role"] == "master" and world.admin is new))
    # The Sentinel's REPLICAOF is postponed until the pause ends. Until then the old master would take writes again.
    eventually(lambda: _answers(lambda: old.execute_command("REPLICAOF", "127.0.0.1", port)))
    eventually(lambda: _answers(lambda: old.execute_command("CLIENT", "UNPAUSE")))
    eventually(lambda: _answers(lambda: old.info("replication")["master_link_status"] == "up"))
    _broken_everywhere(run, "failover")


def _answers(ask: Callable[[], object]) -> object:
    """A server's answer, or None while a Sentinel closes the connections to it."""
    with suppress(redis.ConnectionError):
        return ask()
    return None


def _accepted(world: SentinelWorld) -> bool:
    try:
        world.sentinel.execute_command("SENTINEL", "FAILOVER", "main")
    except redis.ResponseError:
        return False
    return True


#: The loads that go through the name of a master.
BY_NAME = (
    "threads",
    "asyncio",
    "leases",
    "asyncioleases",
    "leasepartitions",
    "workers",
    "asyncioworkers",
    "listeners",
)


def _name_turns(run: Run) -> None:
    """A failover behind one name, in which open connections stay open. The name switches before or after the roles."""
    world = run.world
    assert isinstance(world, NamedWorld)
    old, new = world.admin, world.admins[1 - world.master]
    port = new.connection_pool.connection_kwargs["port"]
    old.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
    eventually(lambda: old.info("replication")["master_repl_offset"] == new.info("replication")["slave_repl_offset"])

    def turn() -> None:
        world.at = 1 - world.master

    def promote() -> None:
        new.execute_command("REPLICAOF", "NO", "ONE")

    def demote() -> None:
        old.execute_command("REPLICAOF", "127.0.0.1", port)
        old.execute_command("CLIENT", "UNPAUSE")

    steps = run.rng.choice(([turn, promote, demote], [promote, turn, demote], [promote, demote, turn]))
    for step in steps:
        step()
        run.pause(0.0, 0.5)
    world.master = world.at
    eventually(lambda: _answers(lambda: old.info("replication")["master_link_status"] == "up"))


def _password_changes(run: Run) -> None:
    """The servers get a new password at once, and the clients a little later."""
    world = run.world
    assert isinstance(world, NamedWorld)
    password = f"secret-{run.rng.random()}"
    world.set_password(password)
    world.admin.client_kill_filter(user="rotating")
    run.pause(0.2, 3.0)
    world.credentials.password = password


def _shortage_of(what: Callable[[pytest.MonkeyPatch, Shortage], None]) -> Callable[[Run], None]:
    """For some seconds the clients cannot start any of these, and all their connections end meanwhile."""

    def fault(run: Run) -> None:
        with pytest.MonkeyPatch.context() as patch:
            what(patch, Shortage(0, 10**9))
            run.world.admin.client_kill_filter(user="rotating")
            run.pause(0.5, 4.0)

    return fault


# The time by which a replica has given up the takeover, whatever delayed it.
_FAILOVER_ENDS = 6.0


def _cluster_failover(run: Run) -> None:
    world = run.world
    assert isinstance(world, ClusterWorld)
    replicas = [admin for admin in world.admins if admin.info("replication")["role"] == "slave"]
    replica = run.rng.choice(replicas)
    asked = 0.0

    def is_promoted() -> bool:
        nonlocal asked
        if replica.info("replication")["role"] == "master":
            return True
        # The others vote for one shard once in two node timeouts, and the replica tries for 5 s.
        if time.monotonic() - asked > _FAILOVER_ENDS:
            asked = time.monotonic()
            replica.execute_command("CLUSTER", "FAILOVER")
        return False

    eventually(is_promoted)
    _broken_everywhere(run, "failover")
    for admin in world.admins:
        eventually(lambda: admin.info("replication").get("master_link_status", "up") == "up")  # noqa: B023


def _move_slot(run: Run) -> None:
    world = run.world
    assert isinstance(world, ClusterWorld)
    queue = run.rng.choice([queue for load in run.loads for queue in load.queues])
    targets = [i for i in world.cluster.masters if i != world.cluster.owner(queue)]
    world.cluster.move(queue, run.rng.choice(targets), between=lambda: time.sleep(0.01))
    _broken_everywhere(run, "migration")


_add(Fault("sentinel-failover", _sentinel_failover, times=2, place="sentinel"))
_add(Fault("cluster-failover", _cluster_failover, times=2, place="cluster"))
_add(Fault("move-slot", _move_slot, times=4, place="cluster"))
_add(Fault("flush-scripts-cluster", _flush_scripts, times=5, place="cluster"))
_add(Fault("name-turns", _name_turns, place="name", loads=BY_NAME))
_add(Fault("password-changes", _password_changes, place="name", loads=BY_NAME))
_add(Fault("no-threads", _shortage_of(of_threads), place="name", loads=BY_NAME))
_add(Fault("no-descriptors", _shortage_of(of_descriptors), place="name", loads=BY_NAME))
_add(Fault("nothing", lambda run: run.pause(0.1, 0.3)))
