"""One caller's look at many sources, in one round trip for each node."""

from __future__ import annotations

from collections.abc import Sequence

from redisson_dq._async.receiving.receivers import Receivers
from redisson_dq._redis import passes
from redisson_dq.errors import RedissonDQError
from redisson_dq.waiting.line import Lifeline
from redisson_dq.wire.blocking import Source
from redisson_dq.wire.taken import Taken

__all__ = ["look_at_all"]


async def look_at_all(
    receivers: Receivers, wanted: Sequence[tuple[Source, int]], lifelines: list[Lifeline]
) -> list[Taken]:
    """Takes up to so many values of each source, in the order of the sources. It waits for nothing but the replies.

    For sources with a look. The values of each source are the caller's once it has called ``keep()`` on its lifeline.
    The lifelines come into ``lifelines`` in the order of the sources, before anything is sent. The receiver of a source
    sends a request again whose reply was lost. Its callers get the values then; without one they go back. A source that
    Redis refuses for a while gives nothing. Any other refusal raises when all replies have been handled. The caller
    lets go of the other sources' values then.
    """
    of = [receivers.of(source) for source, _ in wanted]
    lifelines += [Lifeline() for _ in wanted]
    mine = lifelines[len(lifelines) - len(wanted) :]
    sent = [
        receiver.looks.begin(count, lifeline) for receiver, (_, count), lifeline in zip(of, wanted, mine, strict=True)
    ]
    try:
        outcomes = await receivers.connections.run_many(list(sent), transaction=False)
    except BaseException as error:
        for receiver, lifeline in zip(of, mine, strict=True):
            receiver.looks.miss(lifeline, error, again=True)
        raise
    taken: list[Taken] = []
    refusal: RedissonDQError | None = None
    for receiver, lifeline, outcome in zip(of, mine, outcomes, strict=True):
        if isinstance(outcome, RedissonDQError):
            receiver.looks.miss(lifeline, outcome, again=True)
            refusal = refusal or (None if passes(outcome) else outcome)
        else:
            taken += receiver.looks.end(lifeline, outcome)
    if refusal is not None:
        raise refusal
    return taken
