"""``redisson-dq plan``: the memory, CPU, network, masters, partitions and processes that a load needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from redisson_dq.cli.frame import FINE, PROBLEM, Amount, BoundedNumber, Output, Seconds, fields_of, json_option

if TYPE_CHECKING:
    from redisson_dq.planning import LoadPlan

__all__ = ["command"]

_AMOUNT, _BYTES = Amount(), Amount(whole=True)


@click.command(
    help="""Estimate the Redis and the processes that a load needs. Needs no Redis.

    Amounts are numbers such as 5000, 5k or 10MB, and times are such as 90, 1h30m or 30d. docs/scaling.md says how the
    figures were measured. The exit code is 1 if the given partitions or consumers cannot carry the load.
    """
)
@click.option("--rate", metavar="N", type=_AMOUNT, required=True, help="Items offered each second.")
@click.option("--delay", metavar="S", type=Seconds(zero=True), required=True, help="The mean delay of an item.")
@click.option("--size", metavar="BYTES", type=_BYTES, required=True, help="The bytes of an encoded value.")
@click.option("--items", metavar="N", type=_BYTES, help="Items that wait at a time (rate times delay).")
@click.option("--envelope", type=click.Choice(("mirrored", "lean")), default="mirrored", help="Entries (mirrored).")
@click.option("--codec", metavar="NAME", default="kryo5", help="The codec of the values (kryo5).")
@click.option("--batch", metavar="N", type=_BYTES, default=1, help="Values that one call offers or takes (1).")
@click.option("--mixed-delays", is_flag=True, help="Items are not due in the order of their offers.")
@click.option("--visibility-timeout", metavar="S", type=Seconds(), help="Receive under a lease of S seconds.")
@click.option("--partitions", metavar="N", type=BoundedNumber(int, 1, 1024), help="Partitions (as many as needed).")
@click.option("--consumers", metavar="N", type=BoundedNumber(int, 1), help="Processes that take (as many as needed).")
@click.option("--replicas", metavar="N", type=BoundedNumber(int, 0, 100), default=0, help="Replicas of a master (0).")
@click.option("--history", metavar="N", type=_BYTES, default=0, help="Items of which a history is kept (0).")
@click.option("--memory", metavar="BYTES", type=_BYTES, help="Memory of a master (16GB).")
@click.option("--network", metavar="BYTES", type=_BYTES, help="Bytes a second of a master, each way (125MB).")
@json_option
def command(codec: str, memory: int | None, network: int | None, output: Output, **load: Any) -> int:
    """Prints the plan. 1 where the given partitions or consumers do not carry the load."""
    from redisson_dq.browsing.recognising import codec_named
    from redisson_dq.planning import Load, Machine, plan

    given = {"memory": memory, "network": network}
    machine = Machine(**{name: value for name, value in given.items() if value is not None})
    found = plan(Load(codec=codec_named(codec) or codec, **load), machine)
    if output.as_json:
        bytes_used = fields_of(found.memory, "used", "total")
        output.document(**fields_of(found, memory=bytes_used, first_wall=found.first_wall.name))
    else:
        _show(found, output)
    return PROBLEM if found.problems else FINE


def _show(found: LoadPlan, output: Output) -> None:
    from redisson_dq.planning import percent

    memory = found.memory
    output.fields(
        [
            ("waiting", found.waiting),
            ("memory", _amount(memory.total)),
            ("  entries", f"{_amount(memory.entries)}, {memory.entries / max(1, found.waiting):,.0f} bytes an item"),
            ("  leases", _amount(memory.leases)),
            ("  history", _amount(memory.history)),
            ("  servers, connections", _amount(memory.base)),
            ("  fragmentation", _amount(memory.fragmentation)),
            ("  replication buffers", _amount(memory.replication)),
            ("  snapshot, AOF rewrite", _amount(memory.rewrite)),
            ("CPU of Redis", f"{100 * found.cpu:,.1f} % of a thread, {found.item.server_us:,.0f} us an item"),
            ("network in", f"{_amount(found.network_in)}/s"),
            ("network out", f"{_amount(found.network_out)}/s"),
            ("append-only file", f"{_amount(found.log)}/s"),
            ("masters", found.masters),
            ("partitions", found.partitions),
            ("processes of consumers", f"{found.consumers:,}, beside the work of the handlers"),
            ("processes of producers", found.producers),
        ]
    )
    output.text()
    rows = []
    for wall in found.walls:
        first, *others = wall.moved_by or ("",)
        rows += [(wall.name, percent(wall.share), first), *(("", "", each) for each in others)]
    output.table(["limit, first met first", "of one master", "moved by"], rows)
    for problem in found.problems:
        output.text(problem, style="bold red")


def _amount(count: float) -> str:
    """Bytes with three digits and a unit: ``9.84 GB``."""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if count < 999.5:
            return f"{count:,.0f} bytes" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} EB"
