"""``redisson-dq migrate``: moves a queue to another name, server, codec, form or number of partitions."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from redisson_dq._common.texts import counted
from redisson_dq._operations.shell import command_line, url_words
from redisson_dq.cli.frame import (
    FINE,
    PROBLEM,
    SECONDS,
    BoundedNumber,
    Consent,
    Output,
    Server,
    classes_option,
    fields_of,
    hint_on_error,
    json_option,
    load_classes,
    other_server_option,
    progress,
    queue_argument,
    refuse_part_of_cluster,
    say,
    server_options,
    stopping,
    tell_outage,
    write_options,
)
from redisson_dq.errors import ArgumentError

if TYPE_CHECKING:
    from redisson_dq.cli.documents.moving import MigratePlanDocument
    from redisson_dq.migrating import Journal, MigrationPlan, QueueSite, Recoding

__all__ = ["command"]

# The pauses, in seconds, before it asks again whether another client has a queue open.
_UNTIL_UNSUBSCRIBED = (0.0, 0.05, 0.2, 0.5, 1.0)
#: The options that the journal keeps, so that a migration is resumed with them.
_KEPT = (
    "queue",
    "to_name",
    "from_codec",
    "to_codec",
    "to_envelope",
    "to_partitions",
    "to_json",
    "classes",
    "min_replicas",
)


# The fields of a plan in a journal, with their JSON types.
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(_KEPT, (str, type(None))),
    **dict.fromkeys(("queue", "from_server", "to_server"), (str,)),
    **dict.fromkeys(("to_partitions", "min_replicas"), (int, type(None))),
    "classes": (list,),
}


def _is_one(value: object, kinds: tuple[type, ...]) -> bool:
    """Whether a value has one of these types, and its texts can be encoded in UTF-8."""
    texts = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    if not all(isinstance(each, str) and each.isprintable() for each in texts):
        return False
    return type(value) in kinds and not (isinstance(value, int) and not 1 <= value <= 1024)


@attrs.frozen(kw_only=True)
class _Wanted:
    """The options that determine the target of the items."""

    queue: str
    to_name: str | None
    from_codec: str | None
    to_codec: str | None
    to_envelope: Any
    to_partitions: int | None
    to_json: str | None
    classes: tuple[str, ...]
    min_replicas: int | None

    def check(self, to_url: str | None) -> None:
        """Raises click.UsageError for options that do not go together."""
        to_name = self.to_name if self.to_name != self.queue else None
        elsewhere = to_name or to_url or self.to_json or self.to_partitions is not None
        if not elsewhere and not self.to_envelope and not self.to_codec:
            raise click.UsageError(
                "choose where the items go: --to-name, --to-url, --to-partitions, --to-json, or --to-envelope"
            )
        if self.to_json and (self.to_name or to_url or self.to_codec or self.to_envelope or self.to_partitions):
            raise click.UsageError("--to-json takes the items out of Redis, and goes with no other --to option")
        if self.to_codec and not elsewhere:
            raise click.UsageError(
                "--to-codec needs --to-name or --to-url: in one queue nobody could tell values of the old codec from "
                "those of the new one"
            )


@click.command(help="Move all items of a queue elsewhere, or to another form, while producers and consumers run.")
@queue_argument
@click.option("--to-name", metavar="NAME", help="The name of the other queue.")
@click.option("--to-url", metavar="URL", help="The server of the other queue.")
@click.option("--from-codec", metavar="NAME", help="The codec of the values (Kryo5Codec).")
@click.option("--to-codec", metavar="NAME", help="Write the values with this codec, such as JsonJacksonCodec.")
@classes_option
@click.option("--to-envelope", type=click.Choice(["legacy", "current", "lean"]), help="The form of the entries.")
@click.option(
    "--to-partitions",
    metavar="N",
    type=BoundedNumber(int, 1, 1024, "a number of partitions"),
    help="The number of partitions of the other queue; 1 for none.",
)
@click.option("--to-json", metavar="FILE", help="Take the items out of Redis, into a file of JSON lines.")
@click.option(
    "--min-replicas",
    metavar="N",
    type=BoundedNumber(int, 1, what="a number of replicas"),
    help="Continue after a batch when N replicas have it.",
)
@click.option("--journal", metavar="FILE", help="The new file of the migration's journal (QUEUE-migration.jsonl).")
@click.option("--resume", metavar="FILE", help="Continue a stopped migration from its journal.")
@other_server_option("Resume although the journal is of another server or address.")
@click.option("--follow", is_flag=True, help="Keep forwarding until Ctrl-C or SIGTERM.")
@click.option("--quiet", metavar="S", type=SECONDS, default=1.0, help="End when nothing has arrived for S seconds (1).")
@write_options()
@server_options
@json_option
def command(
    journal: str | None,
    resume: str | None,
    to_url: str | None,
    allow_other_server: bool,
    follow: bool,
    quiet: float,
    consent: Consent,
    server: Server,
    output: Output,
    **options: Any,
) -> int:
    """Plans, asks, then moves. 1 where an item stays."""
    from redisson_dq.admin import Admin
    from redisson_dq.durability import Durability
    from redisson_dq.migrating import Journal, Migration, ToFile, plan

    if allow_other_server and resume is None:
        raise click.UsageError("--allow-other-server goes with --resume")
    resumed = None if resume is None else click.get_current_context().with_resource(Journal.resumed(Path(resume)))
    wanted = _wanted(options, resumed, to_url)
    with _both(server, to_url) as (client, other):
        sources, recoding, decode = _decided(wanted, client, other)
        where = f"{Admin(other).where} {[site.name for site in recoding.targets]}"
        servers = {"from_server": Admin(client).where, "to_server": Admin(other).where}
        if resumed is not None:
            _check_servers(resumed, servers, allow_other_server)
        in_place = wanted.to_json is None and [each.raw for each in sources] == [each.raw for each in recoding.targets]
        in_place = in_place and client is other
        if in_place and wanted.to_codec and resumed is None:
            raise click.UsageError(f"--to-codec: {wanted.queue} has these partitions already; name another queue")
        planned = plan(sources, recoding, in_place=in_place)
        if not output.as_json:
            _show_plan(output, planned, wanted.queue)
        total = sum(planned.counts.values())
        if not consent.given(f"move {total:,} items of {wanted.queue} to {wanted.to_json or where}"):
            if output.as_json:
                told: MigratePlanDocument = {"plan": planned}
                output.document(**told)
            return PROBLEM if planned.refused else FINE
        kept = {name: getattr(wanted, name) for name in _KEPT} | servers
        name = re.sub(r"[^\w.-]", "_", wanted.queue)
        path = Path(journal or f"{name}-migration.jsonl")
        to_file = ToFile(Path(wanted.to_json), decode) if wanted.to_json else None
        with (
            contextlib.nullcontext() if to_file is None else to_file.alone(),
            resumed or Journal.begun(path, _new_id(), kept) as noted,
            progress("moving", total) as shown,
            hint_on_error(lambda: _to_go_on(wanted.queue, noted.path, to_url), but_not=ArgumentError),
        ):
            migration = Migration(
                sources,
                recoding,
                journal=noted,
                to_file=to_file,
                durable=Durability(wanted.min_replicas) if wanted.min_replicas else None,
                progress=lambda kind, count: shown.add(count),
                away=tell_outage,
            )
            before = sum(migration.moved().values())
            shown.expect(total + before)
            shown.add(before)
            with stopping() as stop:
                done = migration.run(quiet=quiet, follow=follow, stop=stop)
        is_unmoved = not wanted.to_json and not done.stopped and _is_unmoved(other, recoding.targets)
    if output.as_json:
        output.document(**fields_of(done, nobody_moves=is_unmoved, journal=str(noted.path)))
    else:
        kinds = sorted(done.moved.keys() | done.left.keys())
        output.table(
            ["kind", "moved", "left"], [(each, done.moved.get(each, 0), done.left.get(each, 0)) for each in kinds]
        )
        for reason, count in done.refused.items():
            output.text(f"{count:,} stay: {reason}")
        if is_unmoved:
            name = wanted.to_name or wanted.queue
            move = command_line("move", [name], ["--follow", *url_words("--url", to_url)], of_server=to_url is None)
            output.command(f"items wait in {name}, and no client has it open; until a service opens it, run", move)
    if done.stopped:
        say(_to_go_on(wanted.queue, noted.path, to_url), error=True)
        return stop.code
    return PROBLEM if done.left or done.refused else FINE


def _is_unmoved(client: Any, targets: Sequence[QueueSite]) -> bool:
    """Whether items wait in one of the queues, and no client has it open to move them."""
    # The migration itself has had the queues open. Its subscription ends a moment later.
    for pause in _UNTIL_UNSUBSCRIBED:
        time.sleep(pause)
        waiting = [each for each in client.stats(*(each.name for each in targets)).values() if each.waiting]
        if not waiting or any(each.subscribers == 0 for each in waiting):
            return bool(waiting)
    return False


def _wanted(options: dict[str, Any], resumed: Journal | None, to_url: str | None) -> _Wanted:
    if resumed is None:
        wanted = _Wanted(**options)
    else:
        wrong = next((name for name, kinds in _TYPES.items() if not _is_one(resumed.plan.get(name, ...), kinds)), None)
        if wrong is not None:
            raise ArgumentError(f"the journal {str(resumed.path)!r} cannot be used: {wrong!r} of its plan is broken")
        if options["queue"] != resumed.plan["queue"]:
            raise click.UsageError(f"the journal is about {resumed.plan['queue']}")
        wanted = _Wanted(**{name: resumed.plan[name] for name in _KEPT})
    wanted.check(to_url)
    return wanted


def _check_servers(resumed: Journal, servers: dict[str, str], is_allowed: bool) -> None:
    """The journal's numbers of batches are only valid for its two servers: elsewhere a batch may be lost or doubled."""
    from redisson_dq.admin.names import may_be_one

    for name, option in (("from_server", "--url"), ("to_server", "--to-url")):
        noted, now = resumed.plan[name], servers[name]
        if may_be_one(noted, now):
            continue
        told = f"the journal {str(resumed.path)!r} is about {noted}, and {option} is {now}"
        if not is_allowed:
            raise click.UsageError(
                f"{told}; nothing was changed; give the URL of the migration, or use --allow-other-server if "
                "all data has moved there, or that is another address of one server"
            )
        say(f"warning: {told}", error=True)


def _to_go_on(queue: str, journal: Path, to_url: str | None) -> str:
    options = ["--resume", str(journal), *url_words("--to-url", to_url), "--yes"]
    return f"to go on: {command_line('migrate', [queue], options)}"


def _new_id() -> str:
    import secrets

    return secrets.token_hex(4)


@contextlib.contextmanager
def _both(server: Server, to_url: str | None) -> Iterator[tuple[Any, Any]]:
    """The clients of the two servers; the same client if the servers are the same."""
    with server.client() as client:
        refuse_part_of_cluster(client)
        if to_url is None:
            yield client, client
        else:
            with attrs.evolve(server, url=to_url, redisson_config=None).client() as other:
                refuse_part_of_cluster(other)
                yield client, other


def _decided(wanted: _Wanted, client: Any, other: Any) -> tuple[list[QueueSite], Recoding, Any]:
    from redisson_dq import codecs, partition_names
    from redisson_dq.browsing.values import make_codec, plain_value
    from redisson_dq.migrating import QueueSite, Recoding, sites_of

    load_classes(tuple(wanted.classes))
    sources = sites_of(client, wanted.queue)
    old = make_codec(wanted.from_codec) if wanted.from_codec else codecs.Kryo5Codec()
    new = make_codec(wanted.to_codec) if wanted.to_codec else None
    name = wanted.to_name or wanted.queue
    count = wanted.to_partitions
    if (count is None and other is not client) or wanted.to_name or count == 1:
        targets = [QueueSite.of(other, name)] if count in (None, 1) else []
    else:
        targets = sources
    if count is not None and count > 1:
        targets = [QueueSite.of(other, each) for each in partition_names(name, count)]
    recoding = Recoding(old if new else None, new, wanted.to_envelope, targets)
    return sources, recoding, lambda data: plain_value(old.decode(data))


def _show_plan(output: Output, planned: MigrationPlan, queue: str) -> None:
    kinds = sorted(planned.counts.keys() | planned.refused.keys())
    output.table(
        ["kind", "to move", "cannot be converted"],
        [(each, planned.counts.get(each, 0), planned.refused.get(each, 0)) for each in kinds],
    )
    for reason, count in planned.reasons.items():
        output.text(f"{count:,} cannot be converted: {reason}")
    if planned.in_flight:
        held = counted(planned.in_flight, "value is", "values are")
        output.text(f"{held} in flight: the migration waits for acks and for the ends of leases")
        output.command("to see the leases", command_line("list", [queue], ["--state", "in-flight"]))
    output.text(f"{counted(planned.batches, 'batch', 'batches')}, about {planned.seconds:,} s")
