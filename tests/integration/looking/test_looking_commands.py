"""``queues``, ``stats``, ``list``, ``show``, ``peek``, ``offer`` and ``take`` against a real Redis."""

from __future__ import annotations

import base64
import json
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.browsing import browse
from redisson_dq.cli import main
from redisson_dq.cli.looking.watch import _WatchedTable
from redisson_dq.codecs import ByteArrayCodec, JsonJacksonCodec, StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.clock import using
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.partitions import partition_names
from tests.conftest import emptied, environment
from tests.hand_clock import HandClock

#: Rights to look at every queue, and no other.
LOOKS = (
    "on",
    ">looks",
    "~*",
    "&*",
    "-@all",
    "+@read",
    "+eval",
    "+evalsha",
    "+time",
    "+pubsub",
)
LOOKING = (
    ["queues"],
    ["stats", "orders"],
    ["watch", "--count", "2", "--interval", "10ms"],
    ["list", "orders"],
    ["show", "orders", "order-1"],
    ["peek", "orders"],
)
STATES = ("waiting", "parked", "ready", "in-flight", "dead", "quarantined", "undecodable", "expired", "recurring")

#: By their names: the commands of the sessions of docs/looking.md that this file plays, in their order.
SESSION_LINES = {
    "queues": ["queues"],
    "list": ["list orders", "list orders --filter 'total > 10 and due < 90m'", "list bills --state ready"],
    "show": ["show orders order-1"],
    "offer": ["offer orders '{\"id\": 45}' --delay 5m --id order-4"],
    "take": ["take bills", "take bills --count 5 --json"],
}
PAGE = Path(__file__).parents[3] / "docs" / "looking.md"

Run = Callable[..., tuple[int, str, str]]


def filled(url: str) -> None:
    """The queues that the page looks at."""
    with redisson_dq.connect(url) as client:
        orders = client.delayed_queue("orders", JsonJacksonCodec(), transfer=False)
        for i, total in enumerate((9.5, 120, 30), 1):
            orders.offer({"id": 41 + i, "total": total}, delay=3600 * i, id=f"order-{i}")
        client.blocking_queue("bills", StringCodec(), transfer=False).add_all(["bill-1", "bill-2"])
        client.delayed_queue("bills", StringCodec(), transfer=False).offer("bill-3", delay=7200)
        # An object of a class that is not declared here.
        parcels = client.delayed_queue("parcels", ByteArrayCodec(), transfer=False)
        parcels.offer(b"\x01\x00com.acme.Packe\xf4\x02\x54Bern", delay=1800, id="parcel-1")


def alike(text: str) -> str:
    """Output without what differs from run to run: times, made ids, amounts of memory, spaces of columns."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00:00", "TIME", text)
    text = re.sub(r"\d\d:\d\d:\d\d UTC", "TIME", text)
    text = re.sub(r"in \d[\d.hms ]*[hms]\b", "in SPAN", text)
    text = re.sub(r"\d{13}-[0-9a-f]{16,18}", "ID", text)
    text = re.sub(r"\d+ bytes in", "SIZE bytes in", text)
    return re.sub(r" +", " ", text)


@pytest.fixture
def redis_server(servers: Any, monkeypatch: pytest.MonkeyPatch) -> EmbeddedServer:
    server: EmbeddedServer = emptied(servers("redis"))
    monkeypatch.setenv("REDISSON_DQ_URL", server.url)
    monkeypatch.setenv("COLUMNS", "100")
    return server


@pytest.fixture
def admin(redis_server: EmbeddedServer) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(redis_server.url) as admin:
        yield admin


@pytest.fixture
def run(redis_server: EmbeddedServer, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.fixture
def orders(run: Run, redis_server: EmbeddedServer) -> None:
    """Two items that wait, and a value that is ready."""
    run("offer", "orders", '{"id": 42, "lines": [{"sku": "a"}]}', "--delay", "1h", "--id", "order-1", "--codec", "json")
    run("offer", "orders", '{"id": 43}', "--delay", "2h", "--codec", "json")
    run("offer", "orders", '{"id": 44}', "--codec", "json")


@pytest.mark.usefixtures("orders")
class TestLooking:
    def test_queues(self, run: Run) -> None:
        run("offer", "parts", "1", "2", "3", "--partitions", "4", "--delay", "1h")
        code, out, _ = run("queues")
        assert code == 0
        assert [line.split()[:2] for line in out.splitlines()[1:-1]] == [["orders", "2"], ["parts", "(3"]]
        assert out.splitlines()[-1].startswith("Queues with only ready values are found by name")
        code, out, _ = run("queues", "o*", "--json")
        (found,) = json.loads(out)["queues"]
        assert (found["name"], found["stats"]["waiting"], found["stats"]["ready"]) == ("orders", 2, 1)
        assert run("queues", "nothing*")[1].startswith("no queue matches 'nothing*'\n")

    def test_a_queue_with_ready_values_alone_is_found_by_its_name(self, run: Run) -> None:
        run("offer", "bare", "1", "2")
        assert "bare" not in run("queues")[1]
        assert [each["name"] for each in json.loads(run("queues", "--json")[1])["queues"]] == ["orders"]
        code, out, _ = run("queues", "bare")
        assert (code, [line.split()[:4] for line in out.splitlines()[1:]]) == (0, [["bare", "0", "0", "2"]])
        assert run("queues", "bar")[1] == "no queue matches 'bar'\n"

    def test_stats(self, run: Run) -> None:
        code, out, _ = run("stats", "orders", "gone")
        assert code == 0
        assert "waiting        2, the next is due" in out
        assert out.endswith("gone: it has no keys in Redis\n")
        assert json.loads(run("stats", "orders", "--json")[1])["queues"][0]["ready"] == 1

    def test_a_key_of_another_type(self, run: Run, admin: redis.Redis) -> None:
        """It fails the commands that name its queue, and no look at the others."""
        admin.set("redisson_delay_queue_timeout:{bad}", "x")
        error = "key 'redisson_delay_queue_timeout:{bad}' holds a string, but this queue keeps a zset there"
        code, out, _ = run("queues", "--json")
        assert code == 0
        assert [(each["name"], each["error"]) for each in json.loads(out)["queues"]] == [
            ("bad", error),
            ("orders", None),
        ]
        code, out, _ = run("queues")
        # The last column folds it.
        assert (code, error.replace(" ", "") in "".join(out.split())) == (0, True)
        assert run("queues", "bad*")[0] == 0
        assert run("queues", "bad")[0] == 65
        assert run("list", "bad")[0] == 65
        code, out, _ = run("stats", "orders", "bad", "--json")
        found = json.loads(out)["queues"]
        assert (code, [(each["name"], each["waiting"], each["error"]) for each in found]) == (
            65,
            [("orders", 2, None), ("bad", 0, error)],
        )
        assert run("stats", "orders")[0] == 0
        code, out, _ = run("watch", "--count", "1", "--json")
        bad, orders = json.loads(out)["queues"]
        assert (code, bad["name"], bad["error"].startswith(error), orders["error"]) == (0, "bad", True, None)
        code, out, _ = run("watch", "--count", "1")
        assert (code, error in out) == (0, True)
        assert run("watch", "bad", "--count", "1")[0] == 65

    def test_a_queue_that_the_user_may_not_look_at(self, run: Run, admin: redis.Redis, redis_server: Any) -> None:
        run("offer", "bills", "1")
        channels = ["redisson_delay_queue_channel:*"]
        commands = ["+@read", "+eval", "+evalsha", "+time", "+pubsub", "+ping", "+info"]
        keys = ["orders", "*{orders}*", "*{orders:*"]
        admin.acl_setuser("own", enabled=True, nopass=True, keys=keys, channels=channels, commands=commands)
        try:
            url = ("--url", redis_server.url.replace("//", "//own:any@"))
            run("offer", "bills", "1", "--delay", "1h")
            code, out, _ = run("queues", "--json", *url)
            found = {each["name"]: each for each in json.loads(out)["queues"]}
            assert (code, found["orders"]["error"], found["orders"]["stats"]["waiting"]) == (0, None, 2)
            assert (found["bills"]["stats"], "no permission" in found["bills"]["error"].lower()) == (None, True)
            assert run("queues", "bills", *url)[0] == 77
            code, out, _ = run("stats", "bills", "orders", "--json", *url)
            assert (code, [each.get("waiting") for each in json.loads(out)["queues"]]) == (77, [None, 2])
            code, out, _ = run("watch", "bills", "orders", "--count", "1", "--json", *url)
            assert (code, [bool(each["error"]) for each in json.loads(out)["queues"]]) == (0, [True, False])
            out = run("doctor", "--json", *url)[1]
            assert ("nobody-moves", "orders") in [(e["check"], e["queue"]) for e in json.loads(out)["findings"]]
            statuses = {each["id"]: each["status"] for each in json.loads(out)["checks"]}
            assert (statuses["paused"], statuses["memory"]) == ("unknown", "ok")
        finally:
            admin.acl_deluser("own")

    def test_list_and_filter(self, run: Run) -> None:
        code, out, _ = run("list", "orders")
        assert code == 0
        assert out.splitlines()[1].startswith("order-1")
        assert out.endswith("2 of 2 waiting\n")
        found = json.loads(run("list", "orders", "--json", "--filter", "value.lines[0].sku = a and due < 61m")[1])
        assert [each["id"] for each in found["items"]] == ["order-1"]
        assert found["items"][0]["value"] == {"id": 42, "lines": [{"sku": "a"}]}
        assert (found["schema"], found["looked"], found["next"]) == (1, 2, None)
        code, _, err = run("list", "orders", "--filter", "id = ")
        assert code == 64
        assert "expected a value at the end" in err

    def test_pages_of_a_filter_lose_nothing(self, run: Run, tmp_path: Path) -> None:
        lines = tmp_path / "lines"
        lines.write_text("".join(f'{{"n": {i}}}\n' for i in range(500)))
        run("offer", "many", "--file", str(lines), "--delay", "1h", "--codec", "json")
        seen: list[int] = []
        after: list[str] = []
        while True:
            found = json.loads(run("list", "many", "--json", "--limit", "7", "--filter", "n >= 480", *after)[1])
            seen += [each["value"]["n"] for each in found["items"]]
            if found["next"] is None:
                break
            after = ["--after", found["next"]]
        assert sorted(seen) == list(range(480, 500))

    def test_show_and_peek(self, run: Run) -> None:
        code, out, _ = run("show", "orders", "order-1")
        assert code == 0
        assert "codec     JsonJacksonCodec (certain)" in out
        assert "    [0]\n      sku: a" in out
        assert json.loads(run("show", "orders", "ready@0", "--json")[1])["item"]["value"] == {"id": 44}
        code, out, err = run("show", "orders", "gone")
        assert (code, out) == (1, "")
        assert "orders has no item gone" in err
        assert run("peek", "orders")[1] == 'ready: {"id": 44}\n'
        assert len(run("peek", "orders", "--count", "9")[1].splitlines()) == 3

    @pytest.mark.parametrize("words", [*LOOKING, *(["list", "orders", "--state", state] for state in STATES)])
    def test_a_user_who_may_only_read_sees_it_and_nothing_is_written(
        self, words: list[str], run: Run, admin: redis.Redis, redis_server: EmbeddedServer
    ) -> None:
        admin.acl_deluser("looker")
        admin.execute_command("ACL", "SETUSER", "looker", *LOOKS)
        url = redis_server.url.replace("://", "://looker:looks@")
        size = admin.dbsize()
        changes = admin.info("persistence")["rdb_changes_since_last_save"]
        threads = threading.active_count()
        with admin.monitor() as monitor:
            code, _, err = run(*words, "--url", url)
            assert code == 0, err
            admin.echo("the end")
            sent = []
            for command in monitor.listen():
                if command["command"].startswith("ECHO"):
                    break
                sent.append(command["command"].split()[0].upper())
        assert threading.active_count() == threads
        assert admin.info("persistence")["rdb_changes_since_last_save"] == changes
        assert admin.dbsize() == size
        writes = {
            "SET",
            "DEL",
            "HSET",
            "HDEL",
            "ZADD",
            "ZREM",
            "RPUSH",
            "LPUSH",
            "LPOP",
            "PUBLISH",
            "PEXPIRE",
            "SUBSCRIBE",
        }
        assert sent
        assert set(sent) & writes == set()
        admin.acl_deluser("looker")

    def test_a_user_without_rights(self, run: Run, admin: redis.Redis, redis_server: EmbeddedServer) -> None:
        admin.execute_command("ACL", "SETUSER", "nobody", "on", ">x", "-@all")
        code, _, err = run("stats", "orders", "--url", redis_server.url.replace("://", "://nobody:x@"))
        admin.acl_deluser("nobody")
        assert code == 77
        assert err.startswith("redisson-dq: error: ")

    def test_a_server_that_is_away(self, run: Run) -> None:
        assert run("queues", "--url", "redis://127.0.0.1:1")[0] == 69


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["import", "--yes"], "line 1 cannot be read"),
        (["undo", "--yes"], "is not an undo file of redisson-dq"),
        (["migrate", "orders", "--resume"], "is not a journal of a migration"),
        (["list", "orders", "--after"], "is not a cursor"),
    ],
    ids=["import", "undo", "migrate", "list"],
)
def test_what_is_nested_too_deep_is_refused_in_a_line(run: Run, tmp_path: Path, words: list[str], why: str) -> None:
    """A file that somebody has edited, and a cursor that is none."""
    deep = b"[" * 100_000 + b"\n"
    (tmp_path / "file").write_bytes(deep * 2)
    cursor = base64.urlsafe_b64encode(deep).decode()
    code, _, err = run(*words, cursor if "--after" in words else str(tmp_path / "file"))
    assert code in (64, 65)
    # The note before it says that the queue is empty.
    assert err.splitlines()[-1].startswith("redisson-dq: error: ")
    assert why in err


@pytest.mark.parametrize("state", ["waiting", "in-flight", "ready", "dead", "recurring"])
@pytest.mark.parametrize(
    "place",
    [
        *({}, {"a": 1}, True, -2, 2**80, 1.5, "", "ab", [], [1, 2], ["x", ""], ["nan", ""], ["1_0", "00"], ["1", "0"]),
        *(["1", 5], ["1", "00", "00"], [["1"], "00"], [{}, {}], [None, None], ["\ud800", ""], ["1" * 999, ""]),
    ],
    ids=str,
)
def test_a_cursor_with_any_other_place_is_none(redis_server: EmbeddedServer, state: Any, place: Any) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps([state, place]).encode()).decode()
    with redisson_dq.connect(redis_server.url) as client, pytest.raises(ArgumentError, match="is not a cursor"):
        browse(client, "orders", state, after=cursor)


@pytest.mark.parametrize(
    "text", ["", "e30=", "W10=", "bnVsbA==", "Inh4Ig==", "W3t9LG51bGxd", "\u00e9", "\ud800", "a" * 999]
)
def test_a_text_that_is_no_cursor(redis_server: EmbeddedServer, text: str) -> None:
    with redisson_dq.connect(redis_server.url) as client, pytest.raises(ArgumentError, match="cursor"):
        browse(client, "orders", "waiting", after=text)


def test_a_change_in_the_table_is_that_of_the_clients_clock(redis_server: EmbeddedServer) -> None:
    """The server's clock may be set between two looks. Here it has hardly gone on."""
    clock = HandClock()
    with using(clock):
        made = redisson_dq.connect(redis_server.url)
    with made as looking, redisson_dq.connect(redis_server.url) as producer:
        table = _WatchedTable(looking, ("orders",), None, None)
        producer.delayed_queue("orders", transfer=False).offer("first", delay=3600)
        assert table.look() is None
        producer.delayed_queue("orders", transfer=False).offer_all([(i, 3600) for i in range(20)])
        clock.advance(10)
        assert table.look() is None
        assert [(each.waiting_change, each.ready_change) for each in table.looks] == [(2.0, 0.0)]


def test_the_page_shows_what_the_commands_print(run: Run, redis_server: EmbeddedServer) -> None:
    session = r"<!-- session: ([\w-]+) -->\n\n```console\n(.*?)```"
    sessions = dict(re.findall(session, PAGE.read_text("utf-8"), re.DOTALL))
    filled(redis_server.url)
    for name, lines in SESSION_LINES.items():
        played = re.split(r"^\$ redisson-dq ", sessions[name], flags=re.MULTILINE)[1:]
        assert [each.partition("\n")[0] for each in played] == lines
        for each in played:
            line, _, told = each.partition("\n")
            _, out, err = run(*shlex.split(line))
            assert alike(err + out).strip() == alike(told).strip()


class TestOfferAndTake:
    def test_what_was_offered_is_taken(self, run: Run) -> None:
        run("offer", "orders", '{"id": 1}', "[1, 2]", '""')
        assert [run("take", "orders")[1] for _ in range(3)] == ['{"id": 1}\n', "[1, 2]\n", '""\n']
        assert run("take", "orders")[:2] == (1, "")

    @pytest.mark.parametrize("partitions", [(), ("--partitions", "2")], ids=["", "partitions"])
    def test_a_value_that_cannot_be_read_is_set_aside(
        self, run: Run, admin: redis.Redis, partitions: tuple[str, ...]
    ) -> None:
        """Its bytes are kept, and consumers get the others."""
        name = partition_names("orders", 2)[0] if partitions else "orders"
        admin.rpush(name, b"\x80junk", b'"a"')
        code, out, told = run("take", "orders", "--codec", "json", "--count", "2", *partitions)
        assert code == 65
        unread, read = out.splitlines()
        assert json.loads(unread)["hex"] == b"\x80junk".hex()
        assert read == '"a"'
        assert admin.lrange(QueueKeys.of(name).undecodable, 0, -1) == [b"\x80junk"]
        (shows,) = re.findall(r"set aside: redisson-dq (.*?)(?: --url \S+)?\n", told)
        assert b"\x80junk".hex() in run(*shlex.split(shows), "--json")[1]

    def test_a_value_that_was_set_aside_does_not_go_back_where_that_cannot_be_told(
        self, run: Run, admin: redis.Redis, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(text: str, *, error: bool = False) -> None:
            raise OSError("standard error is closed")

        monkeypatch.setattr("redisson_dq.cli.values.take.say", broken)
        admin.rpush("orders", b"\x80junk")
        with pytest.raises(OSError, match="standard error is closed"):
            run("take", "orders", "--codec", "json")
        assert admin.lrange("orders", 0, -1) == []
        assert admin.lrange(QueueKeys.of("orders").undecodable, 0, -1) == [b"\x80junk"]

    def test_it_waits_for_what_is_due(self, run: Run) -> None:
        run("offer", "orders", '"late"', "--delay", "50ms", "--codec", "string")
        assert run("take", "orders", "--wait", "20s") == (0, '"late"\n', "")

    def test_the_codec_and_the_envelope_are_those_of_the_queue(self, run: Run, admin: redis.Redis) -> None:
        keys = QueueKeys.of("orders")
        entry = wrap(Envelope.LEGACY, b"12345678", b"text that was there")
        admin.zadd(keys.timeout, {entry: 4_000_000_000_000})
        admin.rpush(keys.envelopes, entry)
        code, out, _ = run("offer", "orders", '"more text"', "--delay", "1h", "--json")
        assert code == 0
        assert json.loads(out)["codec"] == "StringCodec"
        assert json.loads(out)["envelope"] == "legacy"
        found = json.loads(run("list", "orders", "--json")[1])["items"]
        assert [each["envelope"] for each in found] == ["legacy", "legacy"]

    def test_classes_of_ones_own(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "acme.py"
        file.write_text(
            "import attrs\nfrom redisson_dq.java import java_class\n\n"
            "@java_class('com.acme.Packet')\n@attrs.define\nclass Packet:\n    id: int\n    to: str\n"
        )
        words = ["--codec", "kryo5", "--class", "com.acme.Packet", "--classes", str(file)]
        assert run("offer", "orders", '{"id": 7, "to": "Bern"}', "--delay", "1h", *words)[0] == 0
        (found,) = json.loads(run("list", "orders", "--json", "--classes", str(file))[1])["items"]
        assert found["value"] == {"@class": "com.acme.Packet", "id": 7, "to": "Bern"}
        assert (found["codec"], found["codec_is"]) == ("Kryo5Codec", "certain")
        code, _, err = run("offer", "orders", '{"ID": 7}', *words)
        assert code == 65
        assert "an object of com.acme.Packet cannot be made" in err
        code, _, err = run("list", "orders", "--classes", "gone.py")
        assert code == 64
        assert "--classes gone.py: there is no such Python file" in err

    def test_a_line_that_is_no_json_ends_it_and_what_stood_before_is_in(self, run: Run, tmp_path: Path) -> None:
        file = tmp_path / "lines"
        file.write_text("1\n2\n\nthree\n4\n")
        code, out, err = run("offer", "orders", "--file", str(file))
        assert code == 65
        assert out == "2 offered to orders with Kryo5Codec\n"
        assert "value 3 is not JSON" in err
        assert run("offer", "orders", "three", "--text", "--codec", "string")[0] == 0

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ("[" * 100_000, "value 3 is nested too deep"),
            ("[" * 400 + "]" * 400, "nested"),
            ('{"@class": "org.acme.Order"}', "value 3: nobody has declared org.acme.Order"),
        ],
        ids=["no end", "too deep for a codec", "class"],
    )
    def test_a_line_of_which_no_value_can_be_made_ends_it(self, run: Run, tmp_path: Path, line: str, why: str) -> None:
        file = tmp_path / "lines"
        file.write_text(f"1\n2\n{line}\n4\n")
        code, _, err = run("offer", "orders", "--file", str(file), "--codec", "json")
        assert code == 65
        assert why in err

    def test_a_value_that_the_codec_refuses_ends_it_and_what_was_offered_is_told(
        self, run: Run, tmp_path: Path, admin: redis.Redis
    ) -> None:
        file = tmp_path / "lines"
        file.write_text("1\n" * 500 + '"text"\n')
        code, _, err = run("offer", "orders", "--file", str(file), "--codec", "long")
        assert (code, "offered before: 500" in err) == (65, True)
        assert admin.llen("orders") == 500

    def test_two_values_cannot_have_one_id(self, run: Run) -> None:
        code, _, err = run("offer", "orders", "1", "2", "--id", "x")
        assert code == 64
        assert "--id names one item" in err
        assert run("peek", "orders")[1] == "orders is empty\n"

    def test_a_value_that_cannot_be_printed_goes_back(self, run: Run, redis_server: EmbeddedServer) -> None:
        run("offer", "orders", *map(str, range(2000)))
        command = [sys.executable, "-m", "redisson_dq", "take", "orders", "--follow"]
        env = {**environment(), "REDISSON_DQ_URL": redis_server.url}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True) as taking:
            assert taking.stdout is not None
            assert taking.stderr is not None
            lines = [taking.stdout.readline() for _ in range(3)]
            taking.stdout.close()
            told = taking.stderr.read()
        assert lines == ["0\n", "1\n", "2\n"]
        assert taking.returncode == 1
        assert "was put back into orders" in told
        # Some more fitted into the pipe. The rest is there, in order.
        left = json.loads(run("peek", "orders", "--count", "1000", "--json")[1])["items"]
        numbers = [each["value"] for each in left]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.parametrize(
    "words",
    [
        *(["list", "nope"], ["list", "nope", "--state", "dead"], ["peek", "nope"], ["show", "nope", "a"]),
        *([verb, "nope", "--yes", "--no-undo"] for verb in ("pause", "resume")),
        *([verb, "nope", "a", "--yes", "--no-undo"] for verb in ("cancel", "run-now", "release")),
        ["ack", "nope", "a", "--yes"],
        ["reschedule", "nope", "a", "--by", "5m", "--yes", "--no-undo"],
        *([kind, "list", "nope"] for kind in ("dead", "quarantine", "undecodable")),
        *([kind, "show", "nope", "a"] for kind in ("dead", "quarantine", "undecodable")),
        *([kind, "redrive", "nope", "--all", "--yes", "--no-undo"] for kind in ("dead", "quarantine", "undecodable")),
        *([kind, "purge", "nope", "--all", "--yes", "--no-undo"] for kind in ("dead", "quarantine", "undecodable")),
        ["undecodable", "add", "nope", "--all", "--yes", "--no-undo"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
@pytest.mark.parametrize("partitions", [[], ["--partitions", "2"]], ids=["plain", "partitions"])
def test_a_name_of_which_redis_has_nothing_is_reported(
    run: Run, redis_server: EmbeddedServer, words: list[str], partitions: list[str]
) -> None:
    said = "nope: it has no keys in Redis; these queues have some: redisson-dq queues"
    for as_json in ([], ["--json"]):
        with redis.Redis.from_url(redis_server.url) as admin:
            admin.flushall()
        _, out, err = run(*words, *partitions, *as_json)
        assert [line for line in err.splitlines() if line.startswith(said)], err
        assert "nothing of it" not in out
    # A queue that is there is not mentioned.
    with redis.Redis.from_url(redis_server.url) as admin:
        admin.flushall()
        admin.rpush("nope", "a")
        admin.rpush(partition_names("nope", 2)[1], "a")
    assert "nothing of it" not in run(*words, *partitions)[2]


def test_a_value_in_a_pipe_is_whole(run: Run, redis_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    value = {"@class": "com.acme.shop.billing.Order", "id": 4711, "customer": "Anna", "comment": "leave at the door"}
    with redis.Redis.from_url(redis_server.url) as admin:
        admin.flushall()
        admin.rpush("orders", json.dumps(value))
    told = {words[0]: run(*words)[1] for words in (["list", "orders", "--state", "ready"], ["peek", "orders"])}
    assert {name: json.dumps(value) in out for name, out in told.items()} == {"list": True, "peek": True}
