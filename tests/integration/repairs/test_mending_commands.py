"""The commands that change items: their output, their exit codes, and the sessions of docs/repairing.md."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, StringCodec
from redisson_dq.mending import MendedQueue, UndoFile, found_by_id
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import QueueKeys
from tests.cluster import Cluster
from tests.conftest import environment, eventually

PAGE = Path(__file__).parents[3] / "docs" / "repairing.md"
SESSION = re.compile(r"<!-- session: ([\w-]+) -->\n\n```console\n(.*?)```", re.DOTALL)
SESSIONS = dict(SESSION.findall(PAGE.read_text("utf-8")))
KEYS = QueueKeys.of("orders")
HOUR = 3600


@pytest.fixture
def run(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in a directory of its own: exit code, standard output, standard error."""
    monkeypatch.setenv("REDISSON_DQ_URL", url)
    monkeypatch.chdir(tmp_path)

    def started(line: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(shlex.split(line))
        told = capsys.readouterr()
        return code, told.out, told.err

    return started


# -- sessions of the page --------------------------------------------------------------------------------------------
def alike(text: str) -> str:
    """Output without what differs from run to run: times, made ids, spaces of columns."""
    text = re.sub(r"\d{8}-\d{6}-\d{6}", "TIME", text)
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\+00:00", "TIME", text)
    text = re.sub(r"\b[0-9a-f]{16,20}\b", "ID", text)
    text = re.sub(r"\b\d[\d.hms ]*s ago\b", "AGO", text)
    return re.sub(r" +", " ", text)


MENDING = ("cancel", "cancel-by-filter", "pause", "dead", "release", "ack", "undo")


def test_each_session_is_played() -> None:
    assert set(MENDING) == set(SESSIONS)


@pytest.mark.parametrize("name", MENDING)
def test_the_page_shows_what_the_commands_print(
    client: Any, delayed: Any, run: Callable[..., tuple[int, str, str]], name: str
) -> None:
    for i in range(3):
        delayed.offer(f"value-{i}", HOUR, id=f"order-{i}")
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("order-7")
    queue.receive(timeout=5, visibility_timeout=60).reject("no stock")
    delayed.offer("value-8", 0, id="order-8")
    client.delayed_queue("orders").start_moving()
    assert queue.receive(timeout=30, visibility_timeout=60).offer_id == "order-8"
    for session in re.split(r"^\$ redisson-dq ", SESSIONS[name], flags=re.MULTILINE)[1:]:
        line, _, told = session.partition("\n")
        _, out, err = run(line)
        # At a terminal both come in turn: errors first, as the count comes before the work.
        assert alike(err + out) == alike(told)


def test_a_line_end_in_a_name_is_shown_as_an_escape(
    client: Any, run: Callable[..., tuple[int, str, str]], admin: Any
) -> None:
    client.delayed_queue("a\nb", transfer=False).offer("value\nof two lines", HOUR, id="order-1")
    for line in (
        *("pause {} --yes --no-undo", "resume {} --yes --no-undo", "reschedule {} --all --by 1h --yes --no-undo"),
        *("offer {} 1 --text", "stats {}", "queues", "peek {} --count 2", "cancel {} none order-1 --yes --no-undo"),
    ):
        _, out, err = run(line.format(shlex.quote("a\nb")))
        assert r"a\nb" in out + err or line.startswith("peek")
        assert "a\nb" not in out + err
        assert "value\nof" not in out + err


# -- exit codes ------------------------------------------------------------------------------------------------------
def test_a_write_needs_yes_where_no_terminal_is(delayed: Any, run: Callable[..., tuple[int, str, str]]) -> None:
    delayed.offer("value", HOUR, id="order-1")
    code, _, err = run("cancel orders --all")
    assert code == 64
    assert "needs --yes" in err
    assert delayed.size() == 1


@pytest.mark.parametrize(
    "line",
    [
        "cancel orders",
        "cancel orders order-1 --all",
        "cancel orders order-1 --filter 'id = 1'",
        "cancel orders --filter 'id = ' --yes",
        "cancel orders --filter 'id = 1' --codec none --yes",
        "reschedule orders --all",
        "reschedule orders --all --to 2030-01-01T09:00:00Z --by 5m",
        "reschedule orders --all --to 2030-01-01T09:00:00",
        "reschedule orders --all --by soon",
        "cancel orders --all --no-undo --undo-file f",
        "cancel orders --all --rate 0",
        "dead purge orders",
        "pause",
        "pause a b --yes --undo-file f",
    ],
)
def test_arguments_that_do_not_go_together_are_a_usage_error(
    delayed: Any, run: Callable[..., tuple[int, str, str]], line: str
) -> None:
    delayed.offer("value", HOUR, id="order-1")
    assert run(line)[0] == 64
    assert delayed.size() == 1


def test_nothing_to_do_is_fine_and_writes_no_file(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    code, out, err = run("cancel orders --all --yes")
    assert (code, out) == (0, "")
    assert err.endswith("cancel 0 items of orders: nothing to do\n")
    assert list(tmp_path.iterdir()) == []


def test_an_id_that_is_nowhere_makes_the_exit_code_1(delayed: Any, run: Callable[..., tuple[int, str, str]]) -> None:
    delayed.offer("value", HOUR, id="order-1")
    code, out, _ = run("cancel orders order-1 nowhere --yes --json")
    told = json.loads(out)
    assert code == 1
    assert (told["done"], [each["id"] for each in told["problems"]]) == (1, ["nowhere"])


def test_a_file_that_cannot_be_written_changes_nothing(
    delayed: Any, run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    delayed.offer("value", HOUR, id="order-1")
    (tmp_path / "there").write_text("mine")
    assert run("cancel orders --all --yes --undo-file there")[0] == 65
    assert run("cancel orders --all --yes --undo-file no/such/folder/f")[0] == 65
    assert (tmp_path / "there").read_text() == "mine"
    assert delayed.size() == 1


def test_an_undo_of_another_queue_or_server_is_refused(
    delayed: Any, run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    delayed.offer("value", HOUR, id="order-1")
    assert run("cancel orders --all --yes --undo-file f")[0] == 0
    lines = (tmp_path / "f").read_bytes().splitlines(keepends=True)
    header = json.loads(lines[0])
    for change in ({"parts": ["other"]}, {"server": "elsewhere:1"}):
        changed = {key: value for key, value in {**header, **change}.items() if key != "sum"}
        first = (
            json.dumps(
                {**changed, "sum": zlib.crc32(json.dumps(changed, sort_keys=True, separators=(",", ":")).encode())}
            ).encode()
            + b"\n"
        )
        (tmp_path / "f").write_bytes(first + b"".join(lines[1:]))
        told = run("undo f --yes")
        assert told[0] == 65
        assert ("elsewhere:1" in told[2]) == ("--allow-other-server" in told[2]) == ("server" in change)
        assert delayed.size() == 0
    told = run("undo f --yes --allow-other-server")
    assert (told[0], "warning: the file was made on elsewhere:1" in told[2]) == (0, True)
    assert delayed.size() == 1


def test_a_server_that_is_away_and_a_key_of_another_type(
    run: Callable[..., tuple[int, str, str]], admin: Any, tmp_path: Path
) -> None:
    assert run("cancel orders --all --yes --url redis://localhost:1/0 --timeout 0.1")[0] == 69
    admin.set(KEYS.timeout, b"text")
    assert run("cancel orders --all --yes")[0] == 65


def test_partitions_are_found_and_dealt_with_as_one(
    client: Any, run: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    whole = client.delayed_queue("orders", partitions=4, transfer=False)
    for i in range(40):
        whole.offer(f"value-{i}", HOUR, id=f"order-{i}")
    assert "cancel 40 items of orders" in run("cancel orders --all --dry-run")[2]
    assert run("cancel orders order-3 order-4 --yes --undo-file one")[0] == 0
    assert whole.size() == 38
    assert run("cancel orders --all --yes --undo-file all")[0] == 0
    assert whole.size() == 0
    assert run("undo one --yes")[0] == run("undo all --yes")[0] == 0
    assert sorted(item.id for item in whole.items()) == sorted(f"order-{i}" for i in range(40))


def test_a_user_without_the_right_to_write_changes_nothing(
    delayed: Any, run: Callable[..., tuple[int, str, str]], admin: Any, url: str
) -> None:
    delayed.offer("value", HOUR, id="order-1")
    admin.execute_command("ACL", "SETUSER", "looker", "on", ">secret", "~*", "&*", "+@all", "-zrem")
    try:
        code, _, err = run(f"cancel orders --all --yes --url {url.replace('redis://', 'redis://looker:secret@')}")
        assert code == 77
        assert "secret" not in err
        assert delayed.size() == 1
    finally:
        admin.execute_command("ACL", "DELUSER", "looker")


# -- interrupted -----------------------------------------------------------------------------------------------------
def test_ctrl_c_ends_between_batches_with_a_summary(delayed: Any, url: str, tmp_path: Path) -> None:
    delayed.offer_all([(f"value-{i}", HOUR) for i in range(300)])
    command = [sys.executable, "-m", "redisson_dq", *shlex.split("cancel orders --all --yes --rate 100 --undo-file f")]
    environment = {**os.environ, "REDISSON_DQ_URL": url}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as made:
        while delayed.size() == 300:
            assert made.poll() is None
        made.send_signal(signal.SIGINT)
        out, _ = made.communicate(timeout=60)
    assert made.returncode == 130
    left = delayed.size()
    assert 0 < left < 300
    assert f"cancelled {300 - left} of 300 items of orders" in out.decode()
    assert "stopped: the rest is as it was" in out.decode()


@pytest.mark.nightly
def test_a_rate_holds_for_many_items(
    delayed: Any, run: Callable[..., tuple[int, str, str]], admin: Any, tmp_path: Path
) -> None:
    count, rate = 100_000, 20_000
    for begin in range(0, count, 10_000):
        delayed.offer_all([(f"value-{begin + i}", HOUR + i) for i in range(10_000)])
    began = time.monotonic()
    code, out, _ = run(f"reschedule orders --all --by 1h --yes --rate {rate} --undo-file f")
    assert (code, f"rescheduled {count:,} of {count:,} items" in out) == (0, True)
    # The first batch waits for nothing.
    assert time.monotonic() - began > (count - 250) / rate
    assert UndoFile.read(tmp_path / "f").ended
    assert f"put back {count:,} of {count:,}" in run("undo f --yes")[1]
    assert admin.zcard(KEYS.timeout) == count


# -- a cluster -------------------------------------------------------------------------------------------------------
def test_partitions_over_the_masters_of_a_cluster_are_cancelled_and_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        cluster = Cluster(stack, 2)
        url = f"redis+cluster://{cluster.url.removeprefix('redis://').partition('/')[0]}"
        client = stack.enter_context(redisson_dq.connect(url, codec=StringCodec()))
        whole = client.delayed_queue("orders", partitions=4, transfer=False)
        for i in range(40):
            whole.offer(f"value-{i}", HOUR, id=f"order-{i}")
        assert {cluster.owner(part.name) for part in whole.partitions} == {0, 1}
        monkeypatch.setenv("REDISSON_DQ_URL", url)
        assert main(shlex.split("cancel orders --all --yes --undo-file f --json")) == 0
        assert json.loads(capsys.readouterr().out)["done"] == 40
        assert whole.size() == 0
        assert main(shlex.split("undo f --yes")) == 0
        assert sorted(item.id for item in whole.items()) == sorted(f"order-{i}" for i in range(40))
        assert main(shlex.split("pause orders --partitions 4 --yes --no-undo")) == 0
        assert all(part.is_paused() for part in whole.partitions)


# -- what is set aside -----------------------------------------------------------------------------------------------
def test_values_that_are_set_aside_are_shown_decoded_and_named_by_their_bytes(
    run: Callable[..., tuple[int, str, str]], admin: Any
) -> None:
    values = [Kryo5Codec().encode({"sku": "A-1"}), JsonJacksonCodec().encode({"sku": "B-2"}), b"\xff\xfe\x00"]
    admin.rpush(KEYS.undecodable, *values)
    told = json.loads(run("undecodable list orders --json")[1])["items"]
    assert [each["value"] for each in told] == [{"sku": "A-1"}, {"sku": "B-2"}, None]
    assert run("undecodable show orders nowhere")[0] == 1
    code, out, _ = run(f"undecodable show orders {told[2]['id']}")
    assert code == 0
    assert "fffe00" in out
    assert run(f"undecodable purge orders {told[2]['id']} {told[0]['id']} --yes --no-undo")[0] == 0
    assert admin.lrange(KEYS.undecodable, 0, -1) == [values[1]]
    assert run("undecodable redrive orders --filter 'sku = B-2' --yes --no-undo")[0] == 0
    assert admin.lrange(KEYS.ready, 0, -1) == [values[1]]


def test_a_list_of_what_is_set_aside_tells_what_helps(
    client: Any, run: Callable[..., tuple[int, str, str]], admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.rpush(KEYS.quarantine, b"1 junk")
    assert "give them" not in run("dead list orders")[1]
    assert (
        "\nto give them to the queue again: redisson-dq quarantine redrive orders --all --yes\n"
        in (run("quarantine list orders")[1])
    )
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("a value of some length")
    queue.receive(timeout=5, visibility_timeout=60).reject("a reason of some length, as people write them")
    (letter,) = queue.dead_letters()
    monkeypatch.setenv("COLUMNS", "60")
    head, row, *_ = run("dead list orders")[1].splitlines()
    assert head.split() == ["id", "came", "reason", "value"]
    assert row.startswith(f"{letter.id} ")
    assert len(row) <= 60


def test_ready_values_are_set_aside_and_put_back_at_the_head(
    client: Any, run: Callable[..., tuple[int, str, str]], admin: Any
) -> None:
    values = [b"\xff\xfe\x00", b'{"n":1}', b'{"n":2}', b'{"n":3}']
    admin.rpush("orders", *values)
    code, out, err = run("undecodable add orders ready@0 --dry-run")
    assert (code, "orders ready@0: hex fffe00" in err, "set aside 1 ready value of orders" in err) == (0, True, True)
    assert admin.lrange("orders", 0, -1) == values
    code, out, _ = run("undecodable add orders ready@0 ready@1 ready@9 --yes --undo-file f")
    assert (code, "set aside 2 of 2 ready values of orders" in out) == (1, True)
    assert (admin.lrange("orders", 0, -1), admin.lrange(KEYS.undecodable, 0, -1)) == (values[2:], values[:2])
    assert run("undo f --yes")[0] == run("undo f --yes")[0] == 0
    assert (admin.lrange("orders", 0, -1), admin.llen(KEYS.undecodable)) == (values, 0)
    assert run("undecodable add orders --filter 'n >= 2' --look 3 --yes --no-undo")[0] == 0
    assert admin.lrange("orders", 0, -1) == [*values[:2], values[3]]
    assert run("undecodable redrive orders --all --yes --no-undo")[0] == 0
    assert admin.lrange("orders", 0, -1) == [*values[:2], values[3], values[2]]


@pytest.mark.parametrize("line", ["redrive orders --filter 'n < 300'", "purge orders --filter 'n < 300'"])
def test_an_undo_of_several_batches_puts_the_oldest_values_at_the_head_again(
    run: Callable[..., tuple[int, str, str]], admin: Any, line: str
) -> None:
    values = [JsonJacksonCodec().encode({"n": n}) for n in range(310)]
    admin.rpush(KEYS.undecodable, *values)
    assert run(f"undecodable {line} --yes --undo-file f")[0] == 0
    assert admin.lrange(KEYS.undecodable, 0, -1) == values[300:]
    assert run("undo f --yes")[0] == 0
    assert admin.lrange(KEYS.undecodable, 0, -1) == values


def test_an_undo_of_several_batches_makes_values_ready_in_their_order(
    run: Callable[..., tuple[int, str, str]], admin: Any
) -> None:
    values = [b"%d" % n for n in range(310)]
    admin.rpush(KEYS.ready, *values)
    assert run("undecodable add orders --all --yes --undo-file f")[0] == 0
    assert run("undo f --yes")[0] == 0
    assert admin.lrange(KEYS.ready, 0, -1) == values


def test_a_value_that_is_set_aside_makes_room_in_a_bounded_queue(
    client: Any, run: Callable[..., tuple[int, str, str]], admin: Any
) -> None:
    bounded = client.bounded_blocking_queue("orders", transfer=False)
    assert bounded.try_set_capacity(1)
    assert bounded.offer("bad")
    assert not bounded.offer("good")
    assert run("undecodable add orders --all --yes --undo-file f")[0] == 0
    assert bounded.remaining_capacity() == 1
    assert run("undo f --yes")[0] == 0
    assert bounded.remaining_capacity() == 0


# -- what no action touches ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", [KEYS.timeout, KEYS.envelopes])
def test_entries_in_one_key_alone_are_told_and_left(
    delayed: Any, run: Callable[..., tuple[int, str, str]], admin: Any, key: str
) -> None:
    for i in range(3):
        delayed.offer(f"value-{i}", HOUR, id=f"order-{i}")
    (member,) = admin.zrange(KEYS.timeout, 1, 1)
    admin.execute_command(*(["ZREM", key, member] if key == KEYS.timeout else ["LREM", key, 1, member]))
    for line in ("reschedule orders --all --by 1h", "run-now orders --filter 'due > 1s'", "cancel orders --all"):
        code, out, err = run(f"{line} --yes --no-undo --json")
        told = "1 entry is in only one of the two keys of orders, and is left: redisson-dq doctor orders --only torn"
        assert (code, json.loads(out)["torn"], told in err) == (1, 1, True), line
    assert run("cancel orders --all --dry-run")[0] == 1
    code, out, _ = run("doctor orders --only torn-entries")
    assert "torn-entries" in out


def test_entries_in_no_known_format_are_told_and_left(
    delayed: Any, run: Callable[..., tuple[int, str, str]], admin: Any
) -> None:
    delayed.offer("value", HOUR, id="order-1")
    admin.zadd(KEYS.timeout, {b"junk": admin.zscore(KEYS.timeout, admin.zrange(KEYS.timeout, 0, 0)[0])})
    code, out, err = run("reschedule orders --all --by 1h --yes --no-undo --json")
    assert (code, json.loads(out)["done"], json.loads(out)["unknown"]) == (1, 1, 1)
    assert "1 entry of orders is in no known format, and is left: redisson-dq doctor orders --only quarantine" in err


def test_an_id_of_an_entry_in_the_zset_alone_is_done_and_told(
    delayed: Any, run: Callable[..., tuple[int, str, str]], admin: Any
) -> None:
    for i in range(3):
        delayed.offer(f"value-{i}", HOUR, id=f"order-{i}")
    torn, *_ = admin.zrange(KEYS.timeout, 1, 1)
    admin.lrem(KEYS.envelopes, 1, torn)
    for line in ("reschedule orders order-0 order-1 --by 1h", "run-now orders order-1"):
        code, out, err = run(f"{line} --yes --no-undo --json")
        told = json.loads(out)
        assert (code, told["done"], told["torn"]) == (1, told["wanted"], 0)
        assert [(each["id"], each["state"]) for each in told["problems"]] == [("order-1", "torn")]
        assert "order-1: it is only in the timeout zset" in err
        assert "redisson-dq doctor orders --only torn-entries" in err
    # Nothing of it is left then.
    assert run("cancel orders order-1 --yes --no-undo")[0] == 0
    assert run("reschedule orders order-0 --by 1h --yes --no-undo")[0] == 0


def test_an_id_of_an_entry_in_the_list_alone_is_told(
    delayed: Any, run: Callable[..., tuple[int, str, str]], admin: Any
) -> None:
    for i in range(2):
        delayed.offer(f"value-{i}", HOUR, id=f"order-{i}")
    admin.zremrangebyrank(KEYS.timeout, 1, 1)
    for line in ("reschedule orders order-1 --by 1h", "run-now orders order-1", "cancel orders order-1"):
        code, _, err = run(f"{line} --yes --no-undo")
        assert (code, "1 entry is in only one of the two keys of orders, and is left" in err) == (1, True), line


def test_a_lease_that_is_over_is_not_held_and_its_remedy_is_told(
    client: Any, run: Callable[..., tuple[int, str, str]], admin: Any
) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    queue.add("value")
    assert queue.receive(timeout=5, visibility_timeout=0.001)
    eventually(lambda: client.inspect("orders").overdue)
    for verb in ("release", "ack"):
        code, _, err = run(f"{verb} orders --all --yes")
        assert code == 0
        assert "1 lease is over and held by nobody: redisson-dq move orders makes the values ready" in err
        assert f"{verb} 0 held values of orders: nothing to do" in err
    assert run("move orders")[0] == 0
    assert admin.llen("orders") == 1


def test_a_filter_and_an_id_find_an_item_where_it_was_put_off_to(
    client: Any, url: str, run: Callable[..., tuple[int, str, str]]
) -> None:
    """Also those of an entry without a record, as Redisson writes it."""
    client.delayed_queue("orders", transfer=False).offer("ours", HOUR, id="order-1")
    with redisson_dq.connect(url, codec=StringCodec(), envelope="legacy") as other:
        other.delayed_queue("orders", transfer=False).offer("theirs", HOUR)
    assert run("reschedule orders --filter 'due < 2h' --by 5h --yes --no-undo")[0] == 0
    assert "0 of 2 waiting" in run("list orders --filter 'due < 2h'")[1]
    items = json.loads(run("list orders --filter 'due > 4h' --json")[1])["items"]
    assert {each["value"] for each in items} == {"ours", "theirs"}
    for each in items:
        assert run(f"show orders {each['id']}")[0] == 0
        assert run(f"reschedule orders {each['id']} --by 1h --yes --no-undo")[0] == 0
    assert run("cancel orders --filter 'due > 5h' --yes --no-undo --json")[0] == 0
    assert client.delayed_queue("orders", transfer=False).size() == 0


def test_pages_of_what_is_set_aside_lose_nothing(run: Callable[..., tuple[int, str, str]], admin: Any) -> None:
    """With a codec that is named, and with a filter that looks at so many."""
    admin.rpush(KEYS.undecodable, *map(JsonJacksonCodec().encode, ({"n": number} for number in range(25))))
    for more in ("", "--filter 'n >= 3' --look 7"):
        seen: list[Any] = []
        after = ""
        while True:
            code, out, _ = run(f"undecodable list orders --codec json --limit 4 --json {more} {after}")
            told = json.loads(out)
            assert (code, {each["codec_is"] for each in told["items"]} <= {"given"}) == (0, True)
            seen += [each["value"]["n"] for each in told["items"]]
            if told["next"] is None:
                break
            assert (len(told["items"]) == 4) or told["looked"] == 7
            after = f"--after {told['next']}"
        assert seen == list(range(3 if more else 0, 25))
    assert run("undecodable list orders --limit 4")[1].splitlines()[-1] == "continue with --after 4"
    assert "go on" not in run("undecodable list orders --limit 25")[1]
    assert run("undecodable list orders --after soon")[0] == run("undecodable list orders --filter 'n = '")[0] == 64
    assert run("undecodable list orders --codec string --limit 1")[1].splitlines()[1].endswith('"n":0}')


# -- classes and odd names -------------------------------------------------------------------------------------------
def test_a_filter_reads_values_of_the_users_classes(
    run: Callable[..., tuple[int, str, str]], admin: Any, tmp_path: Path
) -> None:
    """Kryo's bytes of a class have no names of fields, so the file that declares it says what is what."""
    (tmp_path / "acme_mended.py").write_text(
        "import attrs\nfrom redisson_dq.java import java_class\n\n"
        "@java_class('com.acme.mended.Packet')\n@attrs.define\nclass Packet:\n    number: int\n    to: str\n"
    )
    classes = "--classes acme_mended.py"
    made = f"--codec kryo5 --class com.acme.mended.Packet {classes}"
    for delay in ("1h", "0"):
        for number in range(3):
            value = json.dumps({"number": number, "to": "Bern"})
            assert run(f"offer orders {shlex.quote(value)} --delay {delay} {made}")[0] == 0
    assert run(f"cancel orders --filter 'number = 1 and to = Bern' {classes} --yes --no-undo --json")[0] == 0
    assert admin.zcard(KEYS.timeout) == 4
    assert "1 item of" in run(f"run-now orders --filter 'number = 2 and due > 5m' {classes} --dry-run")[2]
    admin.rpush(KEYS.undecodable, unwrap(admin.zrange(KEYS.timeout, 0, 0)[0])[1])
    (kept,) = json.loads(run("undecodable list orders --json")[1])["items"]
    for line in ("list orders", f"show orders {kept['id']}"):
        (row,) = json.loads(run(f"undecodable {line} {classes} --json")[1])["items"]
        assert row["value"] == {"@class": "com.acme.mended.Packet", "number": 0, "to": "Bern"}
    for line in (
        "cancel",
        "reschedule --by 5m",
        "dead redrive",
        "quarantine purge",
        "undecodable purge",
        "release",
        "ack",
    ):
        assert run(f"{line} orders --filter 'id = 1' --classes gone.py --yes")[0] == 64


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("my orders", "order 1"),
        ("it's", 'a "quoted" $HOME `id`'),
        ("-orders", "-x"),
        ("orders", "--all"),
        ("größe", "a\nb\tc"),
        ("a;b&c|d", "{id} {until} %s \\"),
    ],
)
def test_what_a_problem_names_can_be_pasted_into_a_shell(client: Any, name: str, id: str) -> None:
    """A shell and the program read the command as the queue and the id."""
    delayed, queue = client.delayed_queue(name), client.blocking_queue(name)
    delayed.offer("held", 0, id="first")
    held = queue.receive(timeout=10, visibility_timeout=60)
    delayed.offer("held", 0, id=id)
    letter = queue.receive(timeout=10, visibility_timeout=60)
    whole = MendedQueue(client, name)
    selection, (leased, unknown) = found_by_id(whole, [id, "nowhere"])
    selection.__exit__()
    letter.reject("no stock")
    selection, (dead,) = found_by_id(whole, [id])
    selection.__exit__()
    for problem, pattern, words in (
        (leased, r"(redisson-dq release .*) gives a stuck", [name, id]),
        (dead, r"(redisson-dq dead redrive .*), or dead purge", [name, id]),
        (unknown, r"(redisson-dq list .*) shows those", [name]),
    ):
        found = re.search(pattern, problem.text, re.DOTALL)
        assert found is not None
        told = subprocess.run(
            ["bash", "-c", f"redisson-dq() {{ printf '%s\\0' \"$@\"; }}; {found[1]}"], capture_output=True, check=True
        ).stdout.decode()
        arguments = [each for each in told.split("\0")[:-1] if each not in ("--", "--yes")]
        assert arguments[-len(words) :] == words
        assert ("--" in told.split("\0")) == any(each.startswith("-") for each in words)
    held.ack()


# -- undo files on a full disk, and signals at any moment ------------------------------------------------------------
def started(line: str, folder: Path, url: str, most: int | None = None) -> subprocess.Popen[str]:
    """Starts a command whose files may have so many bytes at most."""

    def limited() -> None:
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return subprocess.Popen(
        [sys.executable, "-m", "redisson_dq", *shlex.split(line), "--yes", "--url", url],
        cwd=folder,
        # Else the compiled form of a module may be cut off, and every later process would read that.
        env={**environment(), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited,
    )


@pytest.mark.parametrize(
    "most",
    [
        30_000,
        pytest.param(100, marks=pytest.mark.nightly),
        pytest.param(500, marks=pytest.mark.nightly),
        pytest.param(60_000, marks=pytest.mark.nightly),
    ],
)
def test_an_undo_file_on_a_full_disk_has_all_that_was_done(delayed: Any, url: str, tmp_path: Path, most: int) -> None:
    """The batch that does not fit is not done. A file whose head does not fit is not left behind."""
    delayed.offer_all([(f"value-{number}", HOUR) for number in range(900)])
    dues = {item.id: item.due for item in delayed.items(0, 999)}
    run = started("cancel orders --all --undo-file f", tmp_path, url, most)
    _, told = run.communicate(timeout=60)
    assert run.returncode == 65, told
    assert "cannot be written" in told
    assert ("to take back the part that was done: redisson-dq undo f --yes" in told) == (most > 100)
    assert (tmp_path / "f").exists() == (most > 100)
    done = 900 - delayed.size()
    # A script that takes long does the first part of its batch, and the rest is a batch of its own.
    assert (0 < done < 900) if most > 500 else done == 0
    for _ in range(2 if most > 100 else 0):
        undo = started("undo f", tmp_path, url)
        undo.communicate(timeout=60)
        assert undo.returncode == 0
    assert {item.id: item.due for item in delayed.items(0, 999)} == dues


@pytest.mark.nightly
def test_a_signal_at_any_moment_leaves_nothing_half_done(client: Any, url: str, tmp_path: Path) -> None:
    """Thirty runs, and as many moments. The undo file takes back exactly what was done."""
    choose = random.Random(34)
    delayed = client.delayed_queue("orders", transfer=False)
    delayed.offer_all([(f"value-{number}", HOUR) for number in range(5000)])
    dues = {item.id: item.due for item in delayed.items(0, 9999)}
    codes = set()
    for number in range(30):
        verb = choose.choice(["cancel", "reschedule --by 1h"])
        run = started(f"{verb} orders --all --undo-file f{number}", tmp_path, url)
        by = choose.choice([signal.SIGINT, signal.SIGTERM])
        with suppress(subprocess.TimeoutExpired):
            run.wait(choose.uniform(0.0, 2.0))
        run.send_signal(by)
        out, told = run.communicate(timeout=60)
        # Before the program has begun, Python itself ends by the signal, or cannot start for it.
        assert run.returncode in (0, 128 + by, -by) or "Fatal Python error: init_" in told, told
        codes.add(run.returncode)
        if (tmp_path / f"f{number}").exists():
            undo = started(f"undo f{number}", tmp_path, url)
            out, told = undo.communicate(timeout=60)
            assert undo.returncode == 0, told
        assert {item.id: item.due for item in delayed.items(0, 9999)} == dues, (verb, number, out, told)
    assert codes & {130, 143}
