"""The scripts' headers and their typed functions agree."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq.calls import walks
from redisson_dq.calls.history import events_from
from redisson_dq.calls.items import Target
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.calls.recurring import following, offered_again
from redisson_dq.calls.settling import Settling
from redisson_dq.codecs import StringCodec
from redisson_dq.scheduling.recurrence import Recurrence
from redisson_dq.scripts import script as script_module
from redisson_dq.scripts.__main__ import main
from redisson_dq.scripts.script import Script, ScriptError, load, names
from redisson_dq.wire import calls, commands
from redisson_dq.wire.calls.mending import Aside, Met
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.keys import DeadKeys, LeaseKeys, QueueKeys
from redisson_dq.wire.request import Request

KEYS = QueueKeys.of("orders")


def when_full(request: Request[Any]) -> Request[Any]:
    assert request.when_full is not None
    return request.when_full


ONE = {"orders": "list"}
TWO = {"orders": "list", "bills": "list"}
LEASES = LeaseKeys(queue=KEYS, dead=DeadKeys.belonging_to("orders"))
TARGET = Target(given_id="42")
MET = Met(member=wrap(Envelope.CURRENT, b"12345678", b"value"), score=b"5", place=3)
ASIDE = Aside(element=b"value", id=b"id")
CLIENT = redisson_dq.Client(redis.Redis(port=1), codec=StringCodec())
QUEUE = CLIENT.blocking_queue("orders", transfer=False).requests
BOUNDED = CLIENT.bounded_blocking_queue("orders", transfer=False).requests
DELAYED = CLIENT.delayed_queue("orders", transfer=False).requests
SOURCE = OpenQueue("orders", StringCodec(), CLIENT.runtime.options).lease_source(5)
SETTLING = Settling(SOURCE, "orders")
DAILY = Recurrence.checked("orders", every=60)
ADVANCE = following(CLIENT.runtime.options, "orders", KEYS, ("daily", DAILY.to_json(), 60_000), 60_000_000)
assert ADVANCE is not None
#: The scripts that calls of a queue and its waits send.
OF_QUEUES: dict[str, Request[Any]] = {
    "contains_ready": QUEUE.contains_all(["a"]),
    "copy": QUEUE.copy("bills", replace=True),
    "dump": QUEUE.dump(),
    "expire": QUEUE.expire(5),
    "memory": QUEUE.size_in_memory(),
    "move_bounded": BOUNDED.move("bills", from_end="last", to_end="first"),
    "offer_bounded": BOUNDED.offer("a"),
    "persist": QUEUE.clear_expire(),
    "remove_ready": QUEUE.remove_all(["a"]),
    "rename": QUEUE.rename("bills"),
    "restore": QUEUE.restore(b"dump", replace=True),
    "set_capacity": BOUNDED.try_set_capacity(5),
    "take_bounded": BOUNDED.poll(5),
    "time_to_live": QUEUE.expire_time(),
    "cancel": DELAYED.cancel("42"),
    "cancel_recurring": DELAYED.cancel_recurring("daily"),
    "clear": DELAYED.clear(),
    "contains": DELAYED.contains("a"),
    "next_due": DELAYED.next_due(),
    "offer": DELAYED.offer("a", 5),
    "offer_all": DELAYED.offer_all([("a", 5)])[0],
    "offer_in_context": DELAYED.offer_all([("a", 5)], context={"trace": "7"})[0],
    "offer_item": DELAYED.offer("a", 5, id="42"),
    "overdue": DELAYED.overdue(),
    "poll": DELAYED.poll(3),
    "poll_last_to": DELAYED.poll_last_and_offer_first_to("bills"),
    "read_waiting": DELAYED.read_all(),
    "recur": offered_again(OpenQueue("orders", StringCodec(), CLIENT.runtime.options), "a", "daily", DAILY, 5),
    "advance": ADVANCE,
    "recurring": DELAYED.recurring(0, 9),
    "remove": DELAYED.remove("a"),
    "reschedule": DELAYED.reschedule("42", 5),
    "read_history": events_from(OpenQueue("orders", StringCodec(), CLIENT.runtime.options), "0", "", 500),
    "set_history": DELAYED.set_history(1000),
    "size": DELAYED.size(),
    "take_due": DELAYED.take_due(),
    "waiting_part": next(walks.waiting(KEYS)),
    "ack_and_receive": SOURCE.ack_and_receive([b"id"], 5)[0],
    "admit": SOURCE.admit(5, [calls.LimitWords(id=b"0" * 16)], [calls.Seen(digest="0" * 32)]),
    "lease_due": SOURCE.lease_due(calls.DueRange(since_ms=None, until_ms=5, offset=0, limit=9), 1000),
    "peek": SOURCE.peek(5),
    "receive": SOURCE.receive(5),
    "ack": SETTLING.ack([b"id"]),
    "extend": SETTLING.extend([b"id"], 5),
    "hold": SETTLING.fence(b"id", []).hold(KEYS.fence, True),
    "dead_letters": QUEUE.dead_letters(),
    "in_flight": QUEUE.in_flight(),
    "find_item": DELAYED.find("42"),
    "inspect": QUEUE.inspect(),
    "items": DELAYED.items(0, 9),
    "stats": QUEUE.stats(),
    "in_flight_size": QUEUE.in_flight_size(),
    "purge_dead": QUEUE.purge_dead(limit=5),
    "redrive": QUEUE.redrive(["ab"], limit=5),
    "reject": SETTLING.reject([b"id"], "why"),
}
REQUESTS: dict[str, Request[Any]] = {
    **OF_QUEUES,
    "browse_dead": calls.browse_dead(LEASES, 0, 9, 256),
    "browse_held": calls.browse_held(KEYS, None, 9, 256),
    "browse_list": calls.browse_list(KEYS.ready, 0, 9, 256),
    "browse_parked": calls.browse_parked(KEYS, (b"0", b"pmember"), 9, 256),
    "browse_waiting": calls.browse_waiting(KEYS, (b"5", b"member"), 9, 256),
    "timeline": calls.timeline(KEYS, [1000, 60_000]),
    "due_spans": calls.due_spans(KEYS, [1_700_000_000_000, 1_700_000_060_000], shown=100, head=256),
    "exchange": calls.exchange(ONE, [[("-l", "orders", b"value", b"")]]),
    "give_back": calls.give_back(LEASES, Envelope.CURRENT, [b"id"], counted=True),
    "hand_over": calls.hand_over(KEYS, "client"),
    "mend": calls.mend(LEASES, b"12345678", "cancel", 0, 1000, [MET]),
    "mend_ack": calls.mend_ack(LEASES, b"12345678", [b"id"]),
    "mend_aside": calls.mend_aside(LEASES, b"12345678", "dead", "purge", 1000, [ASIDE]),
    "mend_find": calls.mend_find(LEASES, TARGET.words(), 1000),
    "mend_letters": calls.mend_letters(LEASES, [("0" * 32, 0)]),
    "mend_walk": calls.mend_walk(KEYS, b""),
    "missing_rights": calls.missing_rights(["orders"], ["LLEN", "MEMORY USAGE"]),
    "unknown_commands": calls.unknown_commands(["orders"], ["LLEN", "MEMORY USAGE"]),
    "move": when_full(commands.move("orders", "bills", "first", "last")),
    "page": calls.page("orders", None, 5),
    "progress": calls.progress(KEYS, "6b0fa1f2a27ef2b3", "{}"),
    "push": when_full(commands.set_aside("orders", [b"value"])),
    "put_back": calls.put_back(KEYS, b"12345678", b"", "first", [b"value"]),
    "release": calls.release(KEYS, b"nonce", b"", 1),
    "resume": calls.resume(KEYS),
    "return_arrivals": calls.return_arrivals(KEYS, 5),
    "sample": calls.sample(KEYS, 200, 10),
    "run_command": calls.run_command(commands.length_of("orders")),
    "tidy": calls.tidy(KEYS),
    "unmend": calls.unmend(KEYS, b"12345678", "cancel", 1000, [(MET, "")]),
    "unmend_aside": calls.unmend_aside(LEASES, b"12345678", "dead", "purge", [ASIDE]),
    "unrelease": calls.unrelease(KEYS, b"12345678", [(b"id", 5, b"", b"value")]),
    "transfer": calls.transfer(KEYS, 100, 1000, "client", cluster=False),
}

#: Both try commands that they are given.
TRYING = {"run_command", "unknown_commands"}
# A script may also take the key of another queue.
OTHERS = {"destination": "bills", **attrs.asdict(LEASES.dead)}


def test_every_script_has_one_function() -> None:
    assert names() == sorted(REQUESTS)
    functions = {name: inspect.signature(each) for name, each in vars(calls).items() if inspect.isfunction(each)}
    typed = {name for name, each in functions.items() if str(each.return_annotation).startswith("Request")}
    # What a plain command does while there is memory has its function there.
    assert typed | {"move", "push"} == REQUESTS.keys() - OF_QUEUES.keys()


def test_a_header_is_complete_and_names_keys_of_a_queue() -> None:
    of_a_queue = {field.name for field in attrs.fields(QueueKeys)} | OTHERS.keys()
    for script in map(load, names()):
        header = script.header
        assert {"KEYS", "RETURN", "COST"} <= header.keys(), script.name
        assert all(header.values()), script.name
        assert script.summary.endswith("."), script.name
        assert set(script.keys) <= of_a_queue, script.name


def test_a_function_sends_the_keys_its_header_names() -> None:
    for name, request in REQUESTS.items():
        script = load(name)
        assert request.script is script, name
        count, *rest = request.words
        named = [OTHERS.get(key) or getattr(KEYS, key) for key in script.keys] or list(request.types)
        assert count == len(named), name
        assert rest[: len(named)] == named, name


@pytest.mark.parametrize("name", names())
def test_a_script_and_what_it_includes_use_each_key_it_is_given(name: str) -> None:
    script = load(name)
    # The first line gives each of them a name, too.
    text = script.source.partition("\n")[2] if script.source.startswith("local keys") else script.source
    text = re.sub(r"^local keys = .*", "", text, flags=re.MULTILINE)
    numbers = {int(number) for number in re.findall(r"\bKEYS\[(\d+)\]", text)}
    used = {key for number, key in enumerate(script.keys, 1) if number in numbers}
    used |= set(re.findall(r"\bkeys\.(\w+)", text))
    if "ipairs(KEYS)" in script.source:
        used |= set(script.keys)
    if script.header["KEYS"] == "any":
        assert not used
        assert "KEYS" in script.source or name in TRYING
    else:
        assert set(script.keys) <= used


def calls_of(name: str) -> list[str]:
    """The arguments of each ``redis.call`` and ``redis.pcall`` of a script."""
    code = re.sub(r"'[^']*'", lambda text: re.sub(r"[()]", "", text[0]), load(name).source)
    found = []
    for start in re.finditer(r"redis\.p?call\(", code):
        end, depth = start.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        found.append(code[start.end() : end - 1].strip())
    return found


#: Those in which the key of each command is written ``KEYS[1]``, ``KEYS[2]``, or there is none.
WITH_NUMBERS = {
    *("browse_parked", "contains", "contains_ready", "dead_letters", "due_spans", "hand_over", "hold", "in_flight"),
    *("in_flight_size", "items", "mend_letters", "mend_walk", "missing_rights", "move", "move_bounded", "next_due"),
    *("offer", "offer_all", "offer_bounded", "overdue", "progress", "push", "read_history", "read_waiting"),
    *("recurring", "resume", "return_arrivals", "set_capacity", "set_history", "size", "timeline", "waiting_part"),
}


def test_a_script_names_the_command_of_each_call() -> None:
    """The proxies of Alibaba Cloud's clusters refuse a command in a variable, and a call in a call."""
    said = {(name, each) for name in set(names()) - TRYING for each in calls_of(name)}
    assert {(name, each) for name, each in said if not re.match(r"'[A-Z]+'(?:,|$)", each) or "redis." in each} == set()


def test_the_scripts_that_the_oldest_proxies_take() -> None:
    """Up to Redis 5.0.7 they refuse a key in a variable, too. docs/troubleshooting.md names the setting."""
    without_key = ("TIME", "PUBLISH", "PUBSUB")
    literal = re.compile(rf"'(?:{'|'.join(without_key)})'|'[A-Z]+', KEYS\[\d+\](?:,|$)")
    assert {name for name in names() if all(map(literal.match, calls_of(name)))} == WITH_NUMBERS


def test_the_scripts_without_a_command_that_writes() -> None:
    """A user without any right to write may call them."""
    looks = {"contains", "contains_ready", "dump", "in_flight", "in_flight_size", "inspect", "memory"}
    looks |= {"mend_letters", "missing_rights", "page"}
    looks |= {"browse_held", "browse_list", "browse_parked", "browse_waiting", "due_spans", "timeline"}
    looks |= {"next_due", "overdue", "read_history", "read_waiting", "recurring", "sample", "size", "stats"}
    looks |= {"time_to_live", "waiting_part"}
    assert {name for name in names() if load(name).only_reads} == looks


def test_the_channel_is_not_taken_for_a_key() -> None:
    assert KEYS.channel not in REQUESTS["offer"].types


def test_the_scripts_know_nothing_of_the_packages_above_them() -> None:
    folder = Path(script_module.__file__).parent
    imported = [
        line for path in folder.glob("*.py") for line in re.findall(r"^(?:from|import) .*", path.read_text(), re.M)
    ]
    assert imported
    assert [line for line in imported if re.match(r"from \.\.|(from|import) redisson_dq(?!\.scripts)", line)] == []


# -- includes --------------------------------------------------------------------------------------------------------

# In bytes. When you change a script, set its limit again, a little above its size.
LARGEST = {
    "admit": 80_500,
    "mend": 49_000,
    "transfer": 46_000,
    "lease_due": 43_500,
    "peek": 44_000,
    "give_back": 39_500,
    "cancel": 38_500,
    "mend_ack": 32_000,
    "offer_item": 33_000,
    "take_due": 33_000,
    "reject": 31_500,
    "ack": 31_000,
    "reschedule": 30_500,
    "receive": 28_000,
    "remove": 25_000,
    "mend_aside": 23_500,
    "take_bounded": 20_000,
    "unmend": 19_500,
    "unmend_aside": 19_000,
    "tidy": 18_500,
    "ack_and_receive": 18_000,
    "remove_ready": 18_000,
    "poll_last_to": 18_000,
    "offer_in_context": 18_000,
    "recur": 17_500,
    "redrive": 16_000,
    "poll": 16_000,
    "mend_walk": 16_000,
    "unrelease": 15_500,
    "inspect": 13_500,
    "purge_dead": 12_500,
    "mend_find": 13_000,
    "items": 12_500,
    "offer_all": 12_500,
    "advance": 12_500,
    "clear": 12_500,
    "find_item": 12_500,
    "offer": 11_500,
    "cancel_recurring": 11_500,
    "contains": 11_500,
    "extend": 11_500,
    "waiting_part": 11_500,
    "sample": 11_500,
    "stats": 10_000,
    "read_waiting": 8_500,
    "browse_dead": 6_500,
}
LARGE = 6_000


def test_an_assembled_script_is_as_large_as_it_has_to_be() -> None:
    sizes = {name: len(load(name).source.encode()) for name in names()}
    assert {name: size for name, size in sizes.items() if size >= LARGEST.get(name, LARGE)} == {}
    assert {name: sizes[name] for name, largest in LARGEST.items() if sizes[name] <= 0.75 * largest} == {}


def test_no_value_is_packed() -> None:
    """Lua's ``..`` copies a value of 10 MB in 10 ms. ``struct.pack`` copies it byte by byte, in 70 ms."""
    assert [name for name in names() if re.search(r"pack\([^)]*, value\)", load(name).source)] == []


def includes() -> list[str]:
    """The names of all includes."""
    return sorted(path.stem for path in (Path(script_module.__file__).parent / "include").glob("*.lua"))


def test_each_include_is_a_part_of_some_script() -> None:
    used = {part for name in names() for part in load(name).includes}
    assert used == set(includes())


def test_a_script_includes_whatever_it_calls() -> None:
    """Lua would find out only in the line that calls it."""
    known = {"if", "and", "or", "not", "while", "until", "return", "elseif"}
    known |= {"function", "ipairs", "pairs", "unpack", "tonumber", "type", "error", "select", "pcall"}
    for name in names():
        code = re.sub(r"'[^']*'", "", load(name).source)
        called = set(re.findall(r"(?<![\w.:])([a-z_]\w*)\(", code))
        defined = set(re.findall(r"local (?:function )?(\w+)", code)) | set(re.findall(r"function\((\w+)\)", code))
        arguments = {word for named in re.findall(r"function [\w.]*\(([^)]*)\)", code) for word in named.split(", ")}
        assert called - defined - arguments - known == set(), name


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Script]]:
    """Assembles a script of other files: its text, and those of includes by name."""

    def assemble(text: str, **others: str) -> Script:
        folder = tmp_path / "include"
        folder.mkdir()
        for name, include in others.items():
            (folder / f"{name}.lua").write_text(include)
        (tmp_path / "made.lua").write_text(text)
        monkeypatch.setattr(resources, "files", lambda package: tmp_path)
        return load("made")

    load.cache_clear()
    yield assemble
    load.cache_clear()


def test_an_include_stands_once_behind_those_it_calls(files: Callable[..., Script]) -> None:
    script = files(
        "-- KEYS: ready\n-- INCLUDE: b, a\nreturn a() + b()\n",
        a="local function a() return not keys.timeout and #keys.ready end\n",
        b="-- INCLUDE: a\nlocal function b() return a() end\n",
    )
    assert script.includes == ("a", "b")
    assert script.source.count("local function a()") == 1
    assert script.source.startswith("local keys = {ready = KEYS[1]}\nlocal function a()")


def test_an_include_of_a_later_line_stands_there(files: Callable[..., Script]) -> None:
    script = files(
        "-- KEYS: ready\n-- INCLUDE: a\nif a() then\n  return 1\nend\n-- INCLUDE: b\nreturn b()\n",
        a="local function a() end\n",
        b="-- INCLUDE: a\nlocal function b() return a() end\n",
    )
    assert script.includes == ("a", "b")
    assert [script.source.index(text) for text in ("function a", "if a", "function b", "return b")] == sorted(
        script.source.index(text) for text in ("function a", "if a", "function b", "return b")
    )
    assert script.source.count("function a") == 1


@pytest.mark.parametrize(
    ("text", "others", "message"),
    [
        (
            "-- INCLUDE: a\na()",
            {"a": "-- INCLUDE: b\nlocal function a() b() end", "b": "-- INCLUDE: a\nlocal function b() a() end"},
            "a -> b -> a need each other",
        ),
        ("-- INCLUDE: a\na()", {"a": "-- INCLUDE: a\nlocal function a() a() end"}, "a -> a need each other"),
        ("-- INCLUDE: a\nreturn 1 -- a()", {"a": "local function a() end"}, "'made' includes 'a' and calls nothing"),
        (
            "-- INCLUDE: a\na()",
            {"a": "-- INCLUDE: b\nlocal function a() end", "b": "local function b() end"},
            "include 'a' includes 'b' and calls nothing",
        ),
        ("-- INCLUDE: gone\ngone()", {}, "there is no include 'gone'"),
        ("-- KEYS: ready\n-- INCLUDE: a\na()", {"a": "local function a() b(keys.timeout) end"}, "no key .'timeout'"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(
    files: Callable[..., Script], text: str, others: dict[str, str], message: str
) -> None:
    with pytest.raises(ScriptError, match=message):
        files(text, **others)


def test_a_development_command_prints_the_assembled_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["scripts", *arguments])
        main()
        return capsys.readouterr().out

    listed = printed().splitlines()
    assert [line.split()[0] for line in listed] == names()
    for line, script in zip(listed, map(load, names()), strict=True):
        does, cost = line.split(maxsplit=2)[2].rsplit("; ", 1)
        assert script.summary.startswith(does), line
        assert script.header["COST"].startswith(cost), line
    assert "\n-- KEYS: ready, arrivals, timeout, " in printed("transfer")
    assert printed("transfer").endswith(f"\n{load('transfer').source}")
    with pytest.raises(SystemExit):
        printed("transfers")
    assert "there is no script transfers" in capsys.readouterr().err


# A line with one of these works out a time, or compares.
ESTIMATE = re.compile(r"\w+_us\b|\bslowness\b|\bguess\b|\bbytes_of_one\b|[<>]")


def unrounded(line: str) -> bool:
    """Whether a division of this line is in no math.floor(...) and no math.ceil(...)."""
    rounds: list[bool] = []
    for part in re.findall(r"\w*\(|\)|/", re.sub(r"'[^']*'", "", line)):
        if part.endswith("("):
            rounds.append(part in ("floor(", "ceil("))
        elif part == ")":
            rounds.pop()
        elif not any(rounds):
            return True
    return False


def test_a_quotient_is_made_whole_where_it_is_worked_out() -> None:
    """Redis takes no other count, place or rank. So each division is rounded, or gives a time that Redis never sees."""
    lines = {line.strip() for name in names() for line in load(name).source.splitlines() if "/" in line}
    assert {line for line in lines if unrounded(line) and not ESTIMATE.search(line)} == set()


def test_what_is_made_whole() -> None:
    assert unrounded("local count = 1000 / pace")
    assert unrounded("local count = math.max(100, math.floor(a) + size / 2)")
    assert not unrounded("local count = math.max(100, math.floor((size - 1) / 2))")


def test_an_exclusive_bound_has_a_number() -> None:
    """Redis reads a bare parenthesis as 0. Valkey 9.2 refuses it in ZCOUNT and ZRANGEBYSCORE."""
    unknown = set()
    for name in (*(f"{name}.lua" for name in names()), *(f"include/{name}.lua" for name in includes())):
        text = resources.files("redisson_dq.scripts").joinpath(name).read_text("utf-8")
        bounds = re.findall(r"'\((.*?)'(?: \.\. ([\w.\[\]#]+)(\()?)?", re.sub(r"--.*", "", text))
        unknown |= {(name, behind) for said, behind, called in bounds if not said and not called}
    assert unknown == EXCLUSIVE


#: The scores that follow a parenthesis: texts of numbers, or texts that were compared with '' before.
EXCLUSIVE = {
    *(("due_spans.lua", score) for score in ("now", "ARGV[FIRST]", "above")),
    ("inspect.lua", "till"),
    ("page.lua", "score"),
    ("timeline.lua", "before"),
    ("include/behind.lua", "score"),
    ("include/due_between.lua", "since"),
    ("include/find.lua", "score"),
    ("include/figures.lua", "last"),
    ("include/walk.lua", "cursor.met.score"),
    # A bound of members begins with the digits of a value.
    ("include/whereabouts.lua", ""),
}


def test_a_server_with_other_longs_is_refused_before_anything_is_done() -> None:
    """Those of a 32-bit build, and of builds for Windows, have four bytes."""
    guarded = {name for name in names() if "return redis.error_reply('LONGSIZE" in load(name).source}
    packing = {name for name in names() if re.search(r"(?:un)?pack\('[^']*(?:L|<I8)", load(name).source[200:])}
    assert guarded == packing
    assert {"offer", "offer_all", "transfer", "receive", "ack", "give_back", "poll", "take_due"} <= guarded
    assert all(load(name).source.startswith("if #struct.pack('L', 0) ~= 8 then\n") for name in guarded)
