"""The output of every command with ``--json`` against its schema, on queues of several codecs with items in each state.

Each command is played with success, with nothing to do, with warnings and with errors. The errors that all commands
share come by themselves: a server that is away, and a user without rights.
"""

from __future__ import annotations

import json
import math
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import codecs
from redisson_dq.cli import main
from tests.conftest import PATIENCE, environment
from tests.integration.commands import free_port
from tests.integration.full_queue import fill
from tests.json_schemas import documents, with_json

HOUR = 3600
STATES = ("waiting", "parked", "ready", "in-flight", "dead", "quarantined", "undecodable", "expired", "recurring")
CODECS = (codecs.Kryo5Codec(), codecs.SerializationCodec(), codecs.MsgPackJacksonCodec(), codecs.JsonJacksonCodec())

#: By command: lines of words with the exit code before each. A line with ``!`` ends with a failure. The first line of
#: a command reaches the server.
LINES = {
    "queues": ["0 queues", "0 queues none*", "65 queues wrong", "77 queues bills --url OWN", "64! queues a b"],
    "stats": [
        "0 stats orders",
        "0 stats orders parts empty values full",
        "65 stats orders wrong",
        "77 stats bills orders --url OWN",
        "77! stats bills --url OWN",
        "64! stats '' ",
    ],
    "watch": [
        "0 watch --count 2 --interval 10ms",
        "0 watch orders wrong --count 1",
        "0 watch bills orders --count 1 --url OWN",
        "0 watch empty --count 1",
        "65! watch wrong --count 1",
    ],
    "list": [
        *(f"0 list orders --state {state}" for state in STATES),
        *(f"0 list empty --state {state}" for state in STATES),
        "0 list values",
        "0 list values --codec kryo5",
        "0 list orders --limit 1",
        "0 list orders --filter 'late > 1s'",
        "0 list parts",
        "65! list wrong",
        "64! list orders --filter 'id ='",
        "64! list orders --codec none",
    ],
    "show": ["0 show orders 'id 0'", "0 show values id-0", "0 show orders undecodable@0", "1 show orders none"],
    "history": [
        "0 history orders",
        "0 history orders 'id 0' --limit 2",
        "1 history empty",
        "0 history parts --keep 6h",
        "64! history orders --since never",
    ],
    "peek": ["0 peek orders --count 100", "0 peek values --count 100", "0 peek empty", "65! peek wrong"],
    "offer": [
        "0 offer orders --codec json 1 2 --delay 1h",
        "0 offer new '\"text\"' --envelope legacy --delay 5m",
        "65 offer orders --codec json 1 { 2",
        "1! offer orders --codec json 1 --delay 1h --id 'id 0'",
        "64! offer orders --codec json 1 2 --delay 1h --id x",
    ],
    "take": ["0 take orders --count 3", "0 take values", "1 take empty", "65 take garbled --count 9", "65! take wrong"],
    "cancel": [
        "0 cancel orders 'id 0' --yes --undo-file f",
        "1 cancel orders 'id 1' none --yes",
        "0 cancel orders --all --dry-run",
        "0 cancel empty --all --yes",
        "1 cancel torn --all --yes",
        "64! cancel orders --all",
        "65! cancel orders --all --yes --undo-file f",
    ],
    "reschedule": ["0 reschedule orders --all --by 5m --yes", "1 reschedule orders none --by 5m --yes"],
    "run-now": ["0 run-now orders --all --yes", "0 run-now empty --all --yes", "64! run-now orders --all"],
    "pause": ["0 pause orders parts --yes", "0 pause orders --yes --no-undo", "0 pause orders --dry-run", "64! pause"],
    "resume": ["0 resume orders --yes --no-undo", "0 resume orders --dry-run", "64! resume orders"],
    **{
        f"{kind} {verb}": lines
        for kind in ("dead", "quarantine", "undecodable")
        for verb, lines in {
            "list": [f"0 {kind} list orders", f"0 {kind} list orders --limit 1", f"0 {kind} list empty"],
            "show": [f"0 {kind} show orders ID", f"1 {kind} show orders ID none"],
            "redrive": [
                f"{int(kind == 'quarantine')} {kind} redrive orders --all --yes",
                f"0 {kind} redrive empty --all --yes",
            ],
            "purge": [f"0 {kind} purge orders ID --yes --no-undo", f"1 {kind} purge orders none --yes"],
        }.items()
    },
    "undecodable add": [
        "0 undecodable add orders ready@0 --yes",
        "1 undecodable add orders ready@999 --yes",
        "0 undecodable add orders --all --dry-run",
        "64! undecodable add parts ready@0 --yes",
    ],
    "release": ["1 release orders none --dry-run", "64! release orders --all", "0 release orders --all --yes"],
    "ack": ["0 ack orders --all --yes", "1 ack orders none --yes", "0 ack empty --all --yes"],
    "undo": [
        "0 undo FILE --yes --allow-other-server",
        "0 cancel small --all --yes --undo-file AGAIN",
        "0 offer small 1 --delay 1h --id small-1 --codec kryo5",
        "1 undo AGAIN --yes",
        "0 undo FILE --yes",
        "0 undo FILE --dry-run",
        "65! undo none.jsonl --yes",
        "64! undo PAUSED",
    ],
    "acl": ["0 acl orders 'b*' --role worker", "64! acl orders --role none"],
    "doctor": ["1 doctor", "0 doctor empty --only paused", "0 doctor --list-checks", "64! doctor --only none"],
    "export": ["0 export orders --to o", "0 export parts --to p --pause", "0 export empty --to e", "64! export orders"],
    "import": [
        "0 import EXPORTED --to-name other --yes",
        "0 import EXPORTED --to-name other --dry-run",
        "64! import EXPORTED --to-name other --yes",
        "64! import EXPORTED",
        "64! import none --yes",
    ],
    "migrate": [
        "0 migrate bills --to-name other --dry-run",
        "0 migrate bills --to-name other --quiet 10ms --yes --journal j",
        "0 migrate empty --to-name other --quiet 10ms --yes",
        "1 migrate values --to-name other --to-codec json --from-codec string --dry-run",
        "1 migrate values --to-name other --to-codec json --from-codec string --quiet 10ms --yes",
        "64! migrate bills --yes",
    ],
    "move": ["0 move orders", "1 move held", "0 move none*", "65 move wrong", "64! move orders --health-port 0"],
    "partitions": ["0 partitions orders 4", "64! partitions orders 0", "64! partitions orders x"],
    "worker": [
        "0 worker tests.workers.of_the_command:in_threads --check --url SERVER",
        "64! worker tests.workers.of_the_command:in_threads",
        "1! worker tests.workers.of_the_command:nothing --check",
    ],
    "plan": [
        "0 plan --rate 5k --delay 1h --size 200 --items 5M --consumers 9",
        "1 plan --rate 500k --delay 1h --size 2k --partitions 1 --visibility-timeout 30",
        "0 plan --rate 0 --delay 0 --size 0",
        "64! plan --rate 1 --delay 1 --size 1 --codec none",
    ],
}

Run = Callable[[str], tuple[int, list[Any]]]


@pytest.fixture
def filled(url: str, admin: redis.Redis) -> Iterator[str]:
    """Queues with items in each state, of several codecs, of partitions, and with each thing wrong."""
    with redisson_dq.connect(url) as client:
        client.delayed_queue("orders", transfer=False).set_history(100)
    fill(url, admin, count=2, codec=codecs.JsonJacksonCodec())
    value = {
        "big": 2**63 - 1,
        "half": 0.5,
        "far": math.inf,
        "none": None,
        "bytes": b"\x00\xff",
        "list": [1, "é", True],
        "exact": Decimal("1.10"),
    }
    with redisson_dq.connect(url) as client:
        for i, codec in enumerate(CODECS):
            client.delayed_queue("values", codec, transfer=False).offer(value, HOUR, id=f"id-{i}")
            client.blocking_queue("values", codec, transfer=False).add(value)
        at = datetime(2026, 1, 2, tzinfo=timezone.utc)
        client.delayed_queue("values", codecs.Kryo5Codec(), transfer=False).offer({"at": at}, HOUR)
        client.delayed_queue("values", codecs.StringCodec(), transfer=False).offer("text", 0)
        client.delayed_queue("bills", transfer=False).offer("bill", HOUR)
        client.delayed_queue("small", transfer=False).offer("small", HOUR, id="small-1")
        client.bounded_blocking_queue("full", transfer=False).try_set_capacity(5)
        client.delayed_queue("full", transfer=False).offer("full", HOUR)
        client.delayed_queue("parts", transfer=False, partitions=2).offer_all((str(i), HOUR) for i in range(20))
        held = client.delayed_queue("held", transfer=False)
        held.offer("overdue", 0)
        held.pause()
    admin.rpush("garbled", b"\x01\x00com.acme.Packe\xf4\x02\x54Bern", b"\xff\xfe")
    admin.set("redisson_delay_queue_timeout:{wrong}", "x")
    admin.set("wrong", "x")
    admin.expire("redisson_delay_queue_timeout:{full}", HOUR)
    admin.zadd(
        "redisson_delay_queue_timeout:{torn}", {b"\x08" + b"12345678" + b"\x01\x00\x00\x00\x00\x00\x00\x00x": 4e12}
    )
    looks = ["+@read", "+eval", "+evalsha", "+time", "+pubsub", "+ping", "+info"]
    channels = ["redisson_delay_queue_channel:*"]
    keys = ["orders", "*{orders}*", "*{orders:*"]
    admin.acl_setuser("own", enabled=True, nopass=True, keys=keys, channels=channels, commands=looks)
    admin.acl_setuser("nobody", enabled=True, nopass=True, commands=[])
    yield url
    admin.acl_deluser("own", "nobody")


@pytest.fixture
def run(filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a line of a command: its exit code, and its documents, which are held against the schema."""
    monkeypatch.setenv("REDISSON_DQ_URL", filled)
    monkeypatch.setenv("COMMAND_WORKER", json.dumps({"url": filled, "handler": {"timeout": 5}}))
    monkeypatch.chdir(tmp_path)
    for line in (
        "export small --to EXPORTED",
        "cancel small --all --yes --undo-file FILE",
        "pause small --yes --undo-file PAUSED",
    ):
        assert main(shlex.split(line)) == 0

    def run(line: str) -> tuple[int, list[Any]]:
        capsys.readouterr()
        command = next(each for each in with_json() if f"{line} ".startswith(f"{each} "))
        code = main(
            [
                each.replace("SERVER", filled).replace("OWN", filled.replace("//", "//own:any@"))
                for each in shlex.split(line)
            ]
            + ["--json"]
        )
        return code, documents(command, capsys.readouterr().out)

    return run


def test_each_command_is_played() -> None:
    assert set(LINES) == set(with_json())


@pytest.mark.parametrize("command", LINES)
def test_the_output_has_its_schema(command: str, run: Run, filled: str) -> None:
    if command not in ("acl", "partitions", "plan"):
        _without_server_or_rights(command, run, filled)
    id = ""
    if command.endswith((" show", " purge")):
        kind = command.split()[0]
        id = run(f"{kind} list orders")[1][0]["items"][0]["id"]
    for case in LINES[command]:
        wanted, _, line = case.partition(" ")
        code, found = run(line.replace(" ID", f" {id}"))
        assert (str(code), line) == (wanted.rstrip("!"), line), found
        failures = [each["failure"] for each in found if "failure" in each]
        assert [each["exit_code"] for each in failures] == [code] * wanted.endswith("!"), line


def _without_server_or_rights(command: str, run: Run, url: str) -> None:
    line = LINES[command][0].partition(" ")[2].replace(" ID", " x")
    away, nobody = f"redis://127.0.0.1:{free_port()}", url.replace("//", "//nobody:any@")
    for server, wanted in ((away, 69), (nobody, 77)):
        code, (told,) = run(f"{line} --url {server}")
        assert code == wanted, told
        # Those two tell of it in their own words.
        assert command in ("doctor", "move") or told["failure"]["exit_code"] == wanted


def test_a_failure_names_the_queue_the_key_and_the_way_on(run: Run) -> None:
    (told,) = run("list wrong")[1]
    assert told["failure"] == {
        "exit_code": 65,
        "error": "WrongTypeError",
        "message": told["failure"]["message"],
        "queue": "wrong",
        "key": "redisson_delay_queue_timeout:{wrong}",
        "remedy": None,
    }
    away = f"redis://127.0.0.1:{free_port()}"
    (told,) = run(f"import EXPORTED --to-name other --yes --url {away}")[1]
    assert told["failure"]["error"] == "RedisConnectionError"
    assert told["failure"]["remedy"] == f"to go on: redisson-dq import EXPORTED --to-name other --yes --url {away}"


def test_a_sidecar_tells_of_its_queues_by_lines(filled: str) -> None:
    words = ["move", "bills", "--follow", "--health-port", "0", "--health-host", "127.0.0.1", "--json", "--url", filled]
    command = [sys.executable, "-m", "redisson_dq", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as sidecar:
        assert sidecar.stdout is not None
        lines = [sidecar.stdout.readline() for _ in range(2)]
        sidecar.terminate()
        rest, _ = sidecar.communicate(timeout=PATIENCE)
    assert sidecar.returncode == 0
    port, moving = documents("move", "".join(lines) + rest, "--follow")
    assert (moving["moving"], port["moving"], port["health_port"] > 0) == ("bills", None, True)
