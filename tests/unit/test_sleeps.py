"""The sleeps of the tests in real time. Each file has its reason. Other tests wait for events or move a clock."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]

# Reasons.
PACE = "random or small pauses between the steps of a history, so that its calls meet in other orders"
QUIET = "nothing may happen meanwhile, and no event tells of that: the real server, or a real socket, is at rest"
SERVER = "time passes for a server, its ACLs, its pauses, or a process that no test's clock reaches"
LOOK = "the pause between two looks at something that tells nobody of its changes"
WORK = "a handler takes its time, in a process of its own"
REAL = "real time itself is the subject"
SIMULATED = "the loop of a simulated world, where time passes as soon as nothing else can happen; no real time passes"

#: How many sleeps a file has, and the reason. Sleeps of no time are no sleeps. Benchmarks measure real time.
SLEEPS: dict[str, tuple[int, str]] = {
    "conftest.py": (1, LOOK),
    "faults/extra_loads.py": (3, PACE),
    "faults/kit.py": (4, SERVER),
    "faults/lease_loads.py": (3, PACE),
    "faults/loads.py": (13, PACE),
    "faults/process_loads.py": (3, PACE),
    "faults/run.py": (1, PACE),
    "faults/test_cancel_close_and_loop_end.py": (1, PACE),
    "faults/test_cancel_then_leave.py": (1, LOOK),
    "faults/test_clock_steps_under_leases.py": (1, LOOK),
    "faults/test_failover_behind_one_name.py": (3, SERVER),
    "faults/test_hung_server.py": (2, SERVER),
    "faults/test_lasting_refusals.py": (4, REAL),
    "faults/test_pause_while_waiting.py": (1, SERVER),
    "faults/test_refused_commands.py": (1, QUIET),
    "faults/test_waits_of_a_stopped_server.py": (2, SERVER),
    "integration/programs/test_starts_that_fail.py": (1, SERVER),
    "integration/queues/test_blocking.py": (8, QUIET),
    "integration/servers/test_embedded.py": (1, SERVER),
    "integration/queues/test_errors.py": (2, QUIET),
    "integration/waits/test_event_loops.py": (1, PACE),
    "integration/queues/test_growth.py": (2, QUIET),
    "integration/leases/test_leases.py": (2, REAL),
    "integration/leases/test_leases_beside_items.py": (2, PACE),
    "integration/leases/test_leases_under_faults.py": (5, PACE),
    "integration/looking/test_looking.py": (1, LOOK),
    "integration/moving/test_mixed_versions.py": (1, SERVER),
    "integration/programs/test_observing.py": (1, LOOK),
    "integration/moving/test_one_mover.py": (1, QUIET),
    "integration/partitions/test_partitioned_ready.py": (3, PACE),
    "integration/partitions/test_partitions_in_a_cluster.py": (2, PACE),
    "integration/leases/test_renewal.py": (2, LOOK),
    "integration/waits/test_round_robin.py": (3, PACE),
    "integration/queues/test_taking_many.py": (2, PACE),
    "integration/servers/test_topologies.py": (1, PACE),
    "integration/waits/test_waiting_for_many.py": (5, QUIET),
    "integration/waits/test_waiting_for_room.py": (1, QUIET),
    "integration/waits/test_waits_go_on.py": (1, QUIET),
    "integration/waits/test_wakeups.py": (3, QUIET),
    "integration/workers/test_worker.py": (1, PACE),
    "integration/workers/test_worker_acks_along.py": (1, PACE),
    "integration/workers/test_worker_many_queues.py": (1, QUIET),
    "integration/workers/test_worker_outages.py": (2, SERVER),
    "integration/workers/test_worker_stalls.py": (1, LOOK),
    "integration/workers/test_worker_stopping.py": (2, PACE),
    "integration/workers/test_worker_times.py": (2, LOOK),
    "integration/version_process.py": (3, PACE),
    "interop/test_leases_peer.py": (1, PACE),
    "interop/test_processes.py": (1, SERVER),
    "proof/kills.py": (2, SERVER),
    "proof/others.py": (4, SERVER),
    "proof/simulated/loop.py": (1, SIMULATED),
    "proof/simulated/world.py": (6, SIMULATED),
    "proof/trials.py": (6, SERVER),
    "python_calls.py": (1, QUIET),
    "testing/test_running_ahead.py": (1, LOOK),
    "testing/times.py": (1, REAL),
    "unit/cli/test_serving.py": (1, LOOK),
    "unit/test_docs_internals.py": (1, LOOK),
    "unit/test_held_up.py": (2, REAL),
    "unit/test_replies.py": (4, LOOK),
    "unit/test_timer.py": (2, REAL),
    "unit/worker/test_starter.py": (2, LOOK),
    "web/test_web_live.py": (2, LOOK),
    "workers/handlers.py": (1, WORK),
    "workers/measured.py": (1, REAL),
    "workers/of_the_command.py": (2, WORK),
    "workers/under_faults.py": (5, PACE),
    "workers/until_told.py": (2, WORK),
}


def sleeps_of(text: str) -> int:
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "sleep"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in ("time", "asyncio")
        and not (isinstance(node.args[0], ast.Constant) and node.args[0].value == 0)
        for node in ast.walk(ast.parse(text))
    )


def test_each_sleep_has_its_reason() -> None:
    found = {
        path.relative_to(TESTS).as_posix(): count
        for path in sorted(TESTS.rglob("*.py"))
        if "benchmarks" not in path.parts and (count := sleeps_of(path.read_text("utf-8")))
    }
    assert found == {name: count for name, (count, _) in SLEEPS.items()}, (
        "a test waits for an event, or uses redisson_dq.testing.TestClock; a sleep that must be is listed here"
    )
