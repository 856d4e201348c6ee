"""Each command of the main job is refused: the job continues, or the error and the doctor name the command.

Managed services and proxies leave commands out, users lack rights, and some commands are refused in a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.doctor import diagnose
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedissonDQError
from redisson_dq.scripts.script import load
from redisson_dq.testing.faults._commands import Command, Trap, Where
from tests.conftest import PATIENCE, PROGRAMS, thinned
from tests.faults.gate import Gate
from tests.faults.world import World
from tests.flavours import Flavour
from tests.workers.handlers import Ledger, running

#: The commands of a client in the main job, which the last test of this file checks.
COMMANDS = (
    *("PING", "CLIENT SETNAME", "CLIENT SETINFO", "CLIENT ID", "CLIENT UNBLOCK", "SUBSCRIBE", "EVALSHA", "EVAL"),
    *("BLPOP", "BLMOVE", "LPOP", "MULTI", "EXEC", "PUBLISH"),
)
#: Commands outside the main job.
BESIDE = ("CLIENT", "CLIENT TRACKING", "CLIENT CACHING", "INFO", "TIME", "ZRANGE", "LLEN", "TYPE", "SCAN", "CONFIG GET")
#: Commands without which a part of the main job cannot be done.
NEEDED = {"PING", "EVALSHA", "EVAL", "BLPOP", "BLMOVE", "LPOP"}
#: Commands that the doctor need not name, because ``connect()`` does.
AT_CONNECT = {"PING"}

HOWS = {
    "unknown": "ERR unknown command '{first}', with args beginning with: ",
    "not permitted": "NOPERM this user has no permissions to run the '{name}' command",
    "refused in MULTI": "ERR Command not allowed inside a transaction",
}


class Job:
    """The main job of one client, step by step, and the errors that it met."""

    def __init__(self, flavour: Flavour, url: str) -> None:
        self.errors: list[RedissonDQError] = []
        self._flavour = flavour
        self.client: Any = None
        self.queue: Any = None
        self.delayed: Any = None
        self._do(lambda: self._connect(url))
        if self.client is None:
            return
        try:
            self.queue, self.delayed = self.client.blocking_queue("orders"), self.client.delayed_queue("orders")
            for step in (self._take, self._poll, self._receive, self._time_out, self._work):
                self._do(step)
        finally:
            self.client.close()

    def _do(self, step: Callable[[], object]) -> None:
        try:
            step()
        except RedissonDQError as error:
            self.errors.append(error)

    def _connect(self, url: str) -> None:
        self.client = self._flavour.connect(url, codec=StringCodec(), probe_interval=600)

    def _take(self) -> None:
        self.delayed.offer("a", delay=0.05)
        assert self.queue.poll(timeout=PATIENCE) == "a"

    def _poll(self) -> None:
        self.queue.add("b")
        assert self.queue.poll() in (("a", "b") if self.errors else "b")

    def _receive(self) -> None:
        self.delayed.offer("c", delay=0.05)
        delivery = self.queue.receive(timeout=PATIENCE)
        # If nothing could be taken, other values are still there.
        assert self.errors or delivery.value == "c"
        assert delivery.ack()

    def _time_out(self) -> None:
        assert self.queue.poll(timeout=0.02) is None or self.errors
        assert self.queue.receive(timeout=0.1) is None or self.errors

    def _work(self) -> None:
        if self.errors:
            # It would wait for the end of the refusals.
            return
        ledger, worker = Ledger(), self._flavour.worker(self.client)
        worker.handler("orders")(ledger.note)
        with running(worker):
            self.delayed.offer("d", delay=0.05)
            assert ledger.next() == "d"


@contextmanager
def refused(world: World, command: str, how: str) -> Iterator[Trap]:
    world.admin.flushall()
    # So the first call of each script carries its text.
    world.admin.script_flush()
    error = HOWS[how].format(first=command.partition(" ")[0], name=command.replace(" ", "|").lower())
    answer, queued = f"-{error}\r\n".encode(), how == "refused in MULTI"
    trap = world.gate.trap(command, "command", "refuse", times=10**6, answer=answer, queued=queued)
    try:
        yield trap
    finally:
        world.gate.clear()
        world.gate.cut()


@pytest.mark.parametrize(("command", "how"), thinned((*COMMANDS, *BESIDE), HOWS, of=3))
def test_the_main_job_without_a_command(flavour: Flavour, world: World, command: str, how: str) -> None:
    with refused(world, command, how):
        job = Job(flavour, world.gate.url)
        if command not in NEEDED or how == "refused in MULTI":
            assert job.errors == []
            return
        assert job.errors
        word = command.partition(" ")[0].lower()
        assert all(word in str(error).lower() for error in job.errors)
        if command not in AT_CONNECT:
            report = told_by_doctor(world.gate.url)
            assert command in {finding.evidence["command"] for finding in report.findings}, report
            assert report.exit_code() == (0 if how == "not permitted" and not command.startswith("EVAL") else 1)


def told_by_doctor(url: str) -> Any:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        return diagnose(client, ["orders"], only=["commands"])


@pytest.mark.parametrize("command", ["CLIENT ID", "SUBSCRIBE", "MULTI", "CLIENT TRACKING", "SCAN", "PUBLISH"])
def test_the_doctor_warns_of_what_is_only_later_or_missing(world: World, command: str) -> None:
    with refused(world, command, "unknown"):
        report = told_by_doctor(world.gate.url)
    assert {finding.evidence["command"] for finding in report.findings} == {command}
    assert report.exit_code() == 0


@pytest.mark.parametrize("command", [None, "BLPOP", "BLMOVE", "CLIENT ID"])
def test_the_doctor_tries_the_main_job(world: World, command: str | None) -> None:
    with (
        refused(world, command or "NOTHING", "unknown"),
        redisson_dq.connect(world.gate.url, codec=StringCodec()) as client,
    ):
        report = diagnose(client, only=["main-job"], trial=True)
        assert [result.check for result in diagnose(client, only=["main-job"]).results] == []
    is_needed = command in NEEDED
    assert report.exit_code() == is_needed
    assert is_needed == any(str(command) in finding.text for finding in report.findings)
    # A hash with a time to live may be left.
    assert not [key for key in world.admin.scan_iter() if world.admin.ttl(key) < 0]


def test_the_doctor_says_where_it_may_not_try(world: World) -> None:
    world.admin.execute_command("ACL", "SETUSER", "narrow", "on", ">secret", "~orders", "&*", "+@all")
    url = world.server.url.replace("//", "//narrow:secret@")
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        report = diagnose(client, only=["main-job"], trial=True)
    ((reason,), status) = [result.reason for result in report.results], report.results[0].status
    assert status == "unknown"
    assert "redisson_dq_doctor_" in str(reason)


def test_a_server_that_hangs_up_at_a_name_gets_none(
    flavour: Flavour, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.admin.flushall()
    for command in ("CLIENT SETNAME", "CLIENT SETINFO"):
        world.gate.trap(command, "command", "cut", times=10**6)
    try:
        assert Job(flavour, world.gate.url).errors == []
    finally:
        world.gate.clear()
    warned = [line for line in caplog.messages if "CLIENT SETNAME" in line]
    assert len(warned) == 1


def test_a_server_that_hangs_up_at_all_is_asked_for_tls(flavour: Flavour, world: World) -> None:
    for command in ("CLIENT SETNAME", "PING"):
        world.gate.trap(command, "command", "cut", times=10**6)
    try:
        (error,) = Job(flavour, world.gate.url).errors
    finally:
        world.gate.clear()
    assert "does it want TLS?" in str(error)


@pytest.mark.parametrize("command", ["EVALSHA", "LLEN"])
def test_a_server_without_a_command_is_taken_for_no_sentinel(flavour: Flavour, world: World, command: str) -> None:
    world.admin.flushall()
    answer = f"-ERR unknown command '{command}', with args beginning with: \r\n".encode()
    with flavour.connect(world.gate.url, codec=StringCodec(), probe_interval=600) as client:
        calls: dict[str, Callable[[], object]] = {
            "EVALSHA": lambda: client.delayed_queue("orders", transfer=False).offer("a", delay=60),
            "LLEN": lambda: client.blocking_queue("orders", transfer=False).size(),
        }
        world.gate.trap(command, "command", "refuse", times=10**6, answer=answer)
        world.admin.config_resetstat()
        try:
            for _ in range(2):
                with pytest.raises(RedissonDQError) as caught:
                    calls[command]()
                assert f"does not know {command}" in str(caught.value)
                assert "Sentinel" not in str(caught.value)
        finally:
            world.gate.clear()
    # Asked once, and no Sentinel from then on.
    assert world.admin.info("commandstats")["cmdstat_type"]["calls"] == 1


#: Commands of the scripts of the main job.
INNER = sorted({name for script in ("offer", "transfer", "receive", "ack") for name in load(script).commands})


@pytest.mark.parametrize(("command", "program"), thinned(INNER, PROGRAMS, of=8))
def test_a_command_of_scripts_that_the_server_does_not_know_is_named(
    flavour: Flavour, tmp_path: Path, command: str, program: str
) -> None:
    (tmp_path / "renamed.conf").write_text(f'rename-command {command} ""\n')
    with EmbeddedServer(program=PROGRAMS[program](), config={"include": str(tmp_path / "renamed.conf")}) as server:
        with flavour.connect(server.url, codec=StringCodec()) as client:
            queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
            errors: list[RedissonDQError] = []
            calls: list[Callable[[], Any]] = [
                lambda: delayed.offer("a", delay=0),
                lambda: queue.receive(timeout=0.05),
                lambda: delayed.poll(1),
            ]
            for call in calls:
                try:
                    call()
                except RedissonDQError as error:
                    errors.append(error)
            assert all(command in str(error) for error in errors)
        report = told_by_doctor(server.url)
    assert command in {finding.evidence["command"] for finding in report.findings}
    assert report.exit_code() == 1


class Listening(Gate):
    """Notes the name of each command."""

    def __init__(self, *arguments: Any) -> None:
        self.heard: set[str] = set()
        super().__init__(*arguments)

    def springs(self, command: Command, where: Where) -> Trap | None:
        name = command.name.decode()
        self.heard.add(f"{name} {command.words[1].decode().upper()}" if name == "CLIENT" else name)
        return super().springs(command, where)


def test_no_command_of_the_main_job_is_left_out(world: World) -> None:
    port = world.server.port
    assert port is not None
    world.admin.flushall()
    world.admin.script_flush()
    heard: set[str] = set()
    with Listening(lambda: port) as gate:
        assert Job(Flavour(), gate.url).errors == []
        heard = gate.heard
    assert heard <= {*COMMANDS, *BESIDE, "RPUSH"}
    # Whether a wait has to be ended depends on the time.
    assert {*COMMANDS} - heard <= {"CLIENT UNBLOCK", "MULTI", "EXEC", "PUBLISH"}
