"""The benchmark of peers: its arithmetic, and a small run of only this library, which needs nothing installed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import attrs
import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.benchmarks.kept import Kept
from tests.benchmarks.measures import SYNC
from tests.benchmarks.peers import command
from tests.benchmarks.peers.commands import connections, watched
from tests.benchmarks.peers.environments import INSIDE
from tests.benchmarks.peers.figures import (
    Lateness,
    Mark,
    PeerSettings,
    drain,
    due_within,
    lateness,
    lead_seconds,
    parse_ends,
    parse_marks,
)
from tests.benchmarks.peers.goals import goals
from tests.benchmarks.peers.killed import again
from tests.benchmarks.peers.peer import PEERS, WORKER, Peer
from tests.benchmarks.peers.ready import Ready, rate
from tests.benchmarks.peers.report import peers_markdown
from tests.benchmarks.peers.results import PeerFigures
from tests.benchmarks.peers.run import measure

SMALL = PeerSettings(
    jobs=40,
    seconds=0.5,
    warm_up=5,
    load=500,
    idle_seconds=0.5,
    settle_seconds=0.1,
    after_seconds=0.2,
    enqueued=50,
    pings=50,
    drained=100,
    orphaned=5,
    kill_seconds=1.0,
    ready=200,
    stored=100,
    busy=100,
    stopped=20,
    held=4,
    imports=1,
)


def test_a_line_that_is_still_written_is_left_out() -> None:
    assert parse_marks("0 None 1000\n7 2 3000\n8 2 40") == [Mark(0, None, 1000), Mark(7, 2, 3000)]


def test_an_end_has_an_attempt_where_the_library_tells_it() -> None:
    assert parse_ends("0 None\n7 2\n8 ") == [(0, None), (7, 2)]


def test_the_rate_leaves_out_the_start() -> None:
    # The second process begins after the first tenth.
    assert rate([Mark(number, None, 1_000_000 if number == 0 else 2_000_000 + number) for number in range(11)]) == 1e6


def test_a_job_comes_again_when_it_begins_after_the_kill() -> None:
    marks = [Mark(0, None, 900), Mark(1, None, 950), Mark(0, None, 1_500), Mark(0, None, 1_900), Mark(1, None, 3_000)]
    assert again(marks, 1_000) == [0.0005, 0.002]


def test_lateness_is_that_of_the_first_time_and_leaves_out_the_warm_up() -> None:
    marks = [Mark(0, None, 5), Mark(0, 10, 10_400), Mark(1, 20, 19_999), Mark(0, 10, 99_000)]
    found = lateness(marks, 4, behind_ms=3, load=4.5)
    assert found.lateness_us == [400, -1]
    assert (found.handled, found.early, found.lost, found.twice) == (2, 1, 2, 1)
    assert (found.behind_ms, found.load) == (3, 4.5)


def test_a_drain_is_measured_from_its_moment_to_the_first_and_the_last() -> None:
    found = drain([Mark(0, 10, 12_000), Mark(1, 10, 9_000), Mark(2, 10, 40_500)], 5)
    assert (found.first_ms, found.last_ms) == (-1.0, 30.5)
    assert (found.jobs, found.handled, found.early, found.twice) == (5, 3, 1, 0)


def test_a_drain_of_which_nothing_came_has_no_times() -> None:
    found = drain([Mark(0, None, 5)], 5)
    assert (found.handled, found.first_ms, found.last_ms) == (0, None, None)


def test_every_peer_gets_the_same_due_times_and_every_repetition_others() -> None:
    jobs = due_within(1_000, 50, 2.0, repetition=0)
    assert jobs == due_within(1_000, 50, 2.0, repetition=0)
    assert jobs != due_within(1_000, 50, 2.0, repetition=1)
    assert [number for number, _ in jobs] == list(range(50))
    assert all(due_ms is not None and 1_000 < due_ms <= 3_000 for _, due_ms in jobs)


def test_a_slow_producer_gets_more_time() -> None:
    assert lead_seconds(1000, 500.0) == 5.0
    assert lead_seconds(1000, 50_000.0) == 1.04


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_has_a_script_and_what_its_environment_needs(peer: Peer) -> None:
    assert (INSIDE / f"{peer.module}{peer.environment.ending}").exists()
    folder = INSIDE.parent / "requirements"
    wanted = {f"{peer.name}{ending}" for ending in peer.environment.requirements}
    assert {path.name for path in folder.iterdir() if path.stem == peer.name} == wanted
    assert bool(wanted) == peer.own_environment


def test_every_requirements_file_is_that_of_a_peer() -> None:
    files = {path.stem for path in (INSIDE.parent / "requirements").iterdir()}
    assert files == {peer.name for peer in PEERS if peer.own_environment}


def test_peers_are_chosen_by_name() -> None:
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    assert [peer.name for peer in parser.parse_args(["--peers", "rq,celery"]).peers] == ["rq", "celery"]
    assert parser.parse_args([]).peers == PEERS


def test_an_unknown_peer_is_told_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["--peers", "sidekiq"])
    assert "no peer 'sidekiq'; there are redisson_dq, " in capsys.readouterr().err


def test_commands_inside_scripts_are_not_what_clients_send() -> None:
    with EmbeddedServer() as server, redis.Redis.from_url(server.url, socket_timeout=None) as admin:
        with redis.Redis.from_url(server.url) as client:
            client.ping()
            (address,) = connections(admin) - {admin.client_info()["addr"]}
            with watched(admin) as sent:
                client.eval("for i = 1, 3 do redis.call('ZADD', KEYS[1], i, i) end", 1, "key")
                client.zcard("key")
    assert sent == {(address, "EVAL"): 1, (address, "ZCARD"): 1}


@pytest.mark.nightly
def test_a_small_run_of_this_library_handles_everything_once(tmp_path: Path) -> None:
    said: list[str] = []
    kept = Kept(tmp_path, resume=False)
    with EmbeddedServer() as server:
        found = measure(server, [peer for peer in PEERS if peer.name == SYNC], SMALL, said.append, kept)
        fewer = attrs.evolve(SMALL, load=0, drained=0, orphaned=0)
        found += measure(server, [peer for peer in PEERS if peer.name == WORKER], fewer, said.append, kept)

    assert [one.peer for one in found] == [SYNC, WORKER]
    for one in found:
        assert (one.lateness.handled, one.lateness.early, one.lateness.twice) == (SMALL.jobs, 0, 0)
        assert one.commands_to_enqueue == 1.0
        assert one.commands_to_handle > 1.0
    first, second = found
    assert first.lateness_under_load is not None
    assert first.lateness_under_load.handled == SMALL.jobs
    assert first.drain is not None
    assert (first.drain.handled, first.drain.early, first.drain.twice) == (SMALL.drained, 0, 0)
    assert first.orphaned == SMALL.orphaned
    assert (first.ready, first.commands_busy, first.stopped, first.killed) == (None, None, None, [])
    assert (second.lateness_under_load, second.drain, second.orphaned) == (None, None, None)
    assert second.ready is not None
    assert min(second.ready.one, second.ready.two) > 0
    assert second.commands_busy is not None
    assert second.stopped is not None
    assert (second.stopped.in_time, second.stopped.lost, second.stopped.cut, second.stopped.counted) == (True, 0, 0, 0)
    assert [(one.supervised, one.handled) for one in second.killed] == [(False, SMALL.held), (True, SMALL.held)]
    assert second.footprint is not None
    assert second.footprint.import_seconds > 0
    assert set(second.ready.slots) == {8, 100}
    assert min(second.ready.slots.values()) > 0
    assert set(first.stored) == {"mirrored", "lean"}
    assert (
        len("0 1800000000000")
        < first.stored["lean"]
        < first.stored["mirrored"]
        == pytest.approx(second.stored[""], rel=0.1)
    )
    assert len(said) == 21
    assert peers_markdown(found, SMALL).count(f"| {WORKER} | ") == 8
    assert json.loads(json.dumps(found, default=attrs.asdict))[0]["peer"] == SYNC
    verdicts = {goal.text: goal.verdict for goal in goals(found)}
    assert verdicts[f"{WORKER}: SIGTERM under load loses nothing, cuts nothing short and counts nothing"] == "met"
    assert verdicts[f"{WORKER}: more jobs a second in one process than every task queue"] == "not measured"


def test_the_best_of_the_task_queues_is_what_the_worker_is_held_against() -> None:
    def one(name: str, jobs_a_second: float) -> PeerFigures:
        return attrs.evolve(_figures(name, 0, lateness([], 0)), ready=Ready(one=jobs_a_second, two=1.0))

    found = {goal.text: goal for goal in goals([one("rq", 30), one("huey", 90), one(SYNC, 500), one(WORKER, 89)])}
    goal = found[f"{WORKER}: more jobs a second in one process than every task queue"]
    assert (goal.found, goal.verdict) == ("89.00, huey 90.00", "missed")


def _figures(name: str, repetition: int, timed: Lateness) -> PeerFigures:
    return PeerFigures(
        peer=name,
        repetition=repetition,
        versions={"made-up": "1.0"},
        pings=None,
        enqueued=100.0,
        enqueued_in_bulk=None,
        lateness=timed,
        lateness_under_load=None,
        commands_to_enqueue=2.0,
        commands_to_handle=3.5,
        idle={"BLPOP": 2.0, "PING": 1.0},
        drain=None,
        orphaned=None,
    )


def test_a_repeated_figure_shows_its_spread_and_a_missing_one_a_dash() -> None:
    passes = [lateness([Mark(0, 10, 10_000 + late)], 1, behind_ms=late - 400) for late in (400, 600)]
    figures = [_figures("made up", number, one) for number, one in enumerate(passes)]
    lines = peers_markdown(figures, PeerSettings(load=0, drained=0, orphaned=0)).splitlines()
    figure = "0.50 (0.40 to 0.60)"
    assert f"| made up | {figure} | {figure} | {figure} | {figure} | 2 | 0 | 0 |" in lines
    assert "| made up | 100 | - | - | - |" in lines
    assert "| made up | 2.00 | 3.50 | 3.0 | BLPOP, PING |" in lines
    assert lines[-2] == "- made up: made-up 1.0"
    assert lines[-1] == "- Beware: made up was still enqueueing 200 ms after the first job was due."
