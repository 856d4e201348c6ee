"""Checks of time: clocks, the events that wake clients, and scripts that keep Redis busy."""

from __future__ import annotations

from collections.abc import Iterator

from redisson_dq._operations.shell import command_line
from redisson_dq.admin.names import names_of
from redisson_dq.doctor.findings import RECENTLY_S, CannotRun, Finding, redis_cli, server_problem, server_warning
from redisson_dq.doctor.sight import MOST_NAMED, Sight

__all__ = ["clock", "keyspace_events", "slow_scripts"]

# An unusual difference of two clocks, in seconds.
_CLOCK_S = 1.0
# A script that takes longer than this delays all others, in us.
_SLOW_US = 100_000


def clock(sight: Sight) -> Iterator[Finding]:
    """The clocks of the servers, of this machine and of Java's movers agree."""
    for node in sight.nodes:
        ahead, took = sight.clock_ahead_s(node)
        if abs(ahead) > _CLOCK_S + took:
            yield server_warning(
                check="clock",
                text=f"the clock of {node.name} is {abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} this one",
                evidence={"ahead_s": round(ahead, 3), "server": node.name},
                shown_by="redis-cli TIME",
                commands=("timedatectl set-ntp true",),
            )
    try:
        slow = sight.slow_log
    except CannotRun as error:
        sight.note(f"the clocks of Java's movers are not seen: {error}")
        return
    # Redisson's transfer passes its own time as an argument. The slow log has it beside the server's time.
    for node, (_, at_s, _, words, *more) in slow:
        if not _is_transfer(words):
            continue
        ahead = int(words[-2]) / 1000 - int(at_s)
        # The log has whole seconds.
        if not -_CLOCK_S <= ahead - 0.5 <= _CLOCK_S + 0.5 and sight.server_now_s - at_s < RECENTLY_S:
            who = more[0].decode(errors="replace") if more else "unknown"
            yield server_warning(
                check="clock",
                text=f"the clock of the Redisson at {who} is {ahead:.0f} s off that of {node.name}",
                evidence={"ahead_s": round(ahead, 1), "client": who, "server": node.name},
                shown_by=redis_cli("SLOWLOG", "GET"),
                commands=("timedatectl set-ntp true",),
            )
            return


def _is_transfer(words: list[bytes]) -> bool:
    """Whether this is a transfer of Redisson: three keys, its time in epoch ms, a limit."""
    return (
        len(words) == 8
        and words[0].upper() in (b"EVAL", b"EVALSHA")
        and any(word.startswith(b"redisson_delay_queue_timeout:") for word in words)
        and words[-1].isdigit()
        and words[-2].isdigit()
        and len(words[-2]) == 13
    )


def keyspace_events(sight: Sight) -> Iterator[Finding]:
    """Redis publishes the keyspace events that clients with wakeups="keyspace" wait for."""
    heard = {name.decode() for node in sight.nodes for name in sight.ask("PUBSUB", "CHANNELS", "__key*@*", node=node)}
    of_queues = sorted(name for name in heard if "redisson_delay_queue_timeout:" in name)
    if not of_queues:
        return
    for node in sight.nodes:
        reply = sight.ask("CONFIG", "GET", "notify-keyspace-events", node=node)
        flags = reply[1].decode() if len(reply) > 1 else ""
        if "K" not in flags or not ("z" in flags or "A" in flags):
            yield server_problem(
                check="keyspace-events",
                text=f"clients wait for keyspace events, and {node.name} publishes none: its flags are {flags!r}",
                evidence={"notify_keyspace_events": flags, "channels": of_queues[:5], "server": node.name},
                shown_by=redis_cli("CONFIG", "GET", "notify-keyspace-events"),
                commands=(redis_cli("CONFIG", "SET", "notify-keyspace-events", "Kz"),),
                others=None,
            )


def slow_scripts(sight: Sight) -> Iterator[Finding]:
    """No script on a queue has kept Redis busy for long within the last hour."""
    worst: dict[str, tuple[int, str]] = {}
    queues: dict[str, set[str]] = {}
    count: dict[str, int] = {}
    for node, (_, at_s, took_us, words, *_) in sight.slow_log:
        is_script = words[0].upper() in (b"EVAL", b"EVALSHA", b"EVAL_RO", b"EVALSHA_RO", b"FCALL")
        of_queue = any(word.startswith((b"redisson_delay_queue", b"redisson_dq_")) for word in words)
        if is_script and of_queue and took_us >= _SLOW_US and sight.server_now_s - at_s < RECENTLY_S:
            worst[node.name] = max(worst.get(node.name, (0, "")), (took_us, words[1].decode(errors="replace")[:60]))
            count[node.name] = count.get(node.name, 0) + 1
            queues.setdefault(node.name, set()).update(map(sight.name_of, names_of(words)))
    for server, (took_us, script) in worst.items():
        yield server_warning(
            check="slow-scripts",
            text=f"scripts on queues have kept {server} busy for up to {took_us / 1000:.0f} ms",
            evidence={"longest_ms": round(took_us / 1000), "script": script, "count": count[server], "server": server},
            shown_by=redis_cli("SLOWLOG", "GET", 128),
            commands=(
                command_line("move", sorted(queues[server])[:MOST_NAMED] or ["*"], ["--follow"]),
                redis_cli("SLOWLOG", "RESET"),
            ),
            others=tuple(sorted(queues[server])),
        )
