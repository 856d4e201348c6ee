"""``redisson-dq offer``: puts values into a queue, from arguments, standard input or a file of any size."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import click

from redisson_dq.cli.frame import (
    DATA,
    FINE,
    Output,
    Seconds,
    Server,
    found_partitions,
    hint_on_error,
    json_option,
    load_classes,
    partitions_option,
    progress,
    queue_argument,
    say,
    server_options,
)
from redisson_dq.cli.looking._values import ValueChoice, value_options
from redisson_dq.errors import ArgumentError

if TYPE_CHECKING:
    from redisson_dq import Client
    from redisson_dq.cli.documents.values import OfferDocument

__all__ = ["command"]

# How many values are sent in one round trip, all or none.
_BATCH = 500


@click.command(
    help="""Offer values to QUEUE.

    VALUE is JSON. Without VALUE, or with -, each line of standard input is one. The codec and the envelope are those of
    the items that QUEUE has, and Redisson's defaults where it has none.
    """
)
@queue_argument
@click.argument("given", metavar="[VALUE]...", nargs=-1)
@click.option("--file", metavar="FILE", type=click.File("r", encoding="utf-8"), help="Each line of FILE is a value.")
@click.option("--delay", metavar="S", type=Seconds(zero=True), help="Due after S seconds: 90, 5m, 2h.")
@click.option("--id", metavar="ID", help="The id of the item. An id that exists already is refused.")
@click.option("--class", "java_class", metavar="NAME", help="Each JSON object has the fields of this Java class.")
@click.option("--text", is_flag=True, help="Each VALUE, or line, is plain text, not JSON.")
@click.option(
    "--envelope",
    type=click.Choice(["current", "legacy"]),
    help="legacy is for Redisson up to 3.21.0.",
)
@value_options
@partitions_option
@server_options
@json_option
def command(
    queue: str,
    given: tuple[str, ...],
    file: IO[str] | None,
    delay: float | None,
    id: str | None,
    java_class: str | None,
    text: bool,
    envelope: str | None,
    values: ValueChoice,
    partitions: int | None,
    server: Server,
    output: Output,
) -> int:
    """Carry out ``offer``: 0, or 65 for a line of which no value can be made. The values before it are offered."""
    if file is not None and given:
        raise click.UsageError("VALUE and --file both give values: use one of them")
    lines: Iterator[str] = iter(given) if given and given != ("-",) else _lines(file or sys.stdin)
    from redisson_dq.mending.making import codec_of, envelope_of

    load_classes(values.classes)
    with server.client() as looking:
        count = found_partitions(looking, queue, partitions, may_be_missing=True)
        codec = values.codec or codec_of(looking, queue, count)
        envelope = envelope or envelope_of(looking, queue, count)
    from redisson_dq.browsing.values import make_codec

    with server.client(codec=make_codec(codec), envelope=envelope) as client:
        offered, failure = _offered(client, queue, count, _values(lines, java_class, text), delay, id)
    if output.as_json:
        told: OfferDocument = {
            "queue": queue,
            "offered": offered,
            "codec": codec,
            "envelope": envelope,
            "error": failure,
        }
        output.document(**told)
    else:
        output.text(f"{offered:,} offered to {queue} with {codec}")
    if failure is not None:
        say(f"redisson-dq offer: error: {failure}", error=True)
        return DATA
    return FINE


def _lines(source: IO[str]) -> Iterator[str]:
    with contextlib.closing(source) if source is not sys.stdin else contextlib.nullcontext():
        for line in source:
            if line.strip():
                yield line.rstrip("\r\n")


class _BadLineError(Exception):
    """A line that is not JSON, or from which no value can be made."""


def _values(lines: Iterator[str], java_class: str | None, text: bool) -> Iterator[Any]:
    from redisson_dq.mending.making import made_value

    for number, line in enumerate(lines, 1):
        if text:
            yield line
            continue
        try:
            made = made_value(json.loads(line), java_class)
        except ArgumentError as error:
            raise _BadLineError(f"value {number}: {error}") from None
        except RecursionError:
            raise _BadLineError(f"value {number} is nested too deep; --text offers it as a text") from None
        except ValueError as error:
            raise _BadLineError(f"value {number} is not JSON: {error}; --text offers it as a text") from None
        yield made


def _offered(
    client: Client, queue: str, partitions: int | None, values: Iterator[Any], delay: float | None, id: str | None
) -> tuple[int, str | None]:
    """How many were offered, and why no more were."""
    offered, failure = 0, None
    before = hint_on_error(lambda: f"offered before: {offered:,}", but_not=click.UsageError)
    with progress("offering") as told, before:
        while failure is None:
            batch = []
            try:
                for each in islice(values, _BATCH):
                    batch.append(each)
            except _BadLineError as error:
                failure = str(error)
            if not batch:
                break
            _put(client, queue, partitions, batch, delay, id)
            if id is not None and next(values, None) is not None:
                raise click.UsageError("--id names one item, but there are several values")
            offered += len(batch)
            told.add(len(batch))
    return offered, failure


def _put(
    client: Client, queue: str, partitions: int | None, batch: list[Any], delay: float | None, id: str | None
) -> None:
    if delay is None and id is None:
        if partitions is None:
            client.blocking_queue(queue, transfer=False).add_all(batch)
        else:
            whole = client.blocking_queue(queue, transfer=False, partitions=partitions)
            for each in batch:
                whole.add(each)
        return
    delayed: Any
    if partitions is None:
        delayed = client.delayed_queue(queue, transfer=False)
    else:
        delayed = client.delayed_queue(queue, transfer=False, partitions=partitions)
    if id is None:
        delayed.offer_all((each, delay or 0) for each in batch)
        return
    if len(batch) > 1:
        raise click.UsageError("--id names one item, but there are several values")
    delayed.offer(batch[0], delay=delay or 0, id=id)
