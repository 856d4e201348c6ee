"""Carries requests to Redis and brings back results or our errors. Nothing is ever silently sent twice."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any, TypeVar, Union

from redis.asyncio import ConnectionPool
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterDownError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from redisson_dq._async.connecting.batches import Batch, exchange_many
from redisson_dq._async.connecting.explaining import explained
from redisson_dq._async.connecting.pools import Pools
from redisson_dq._async.connecting.servers import Servers
from redisson_dq._async.connecting.transactions import Transactions
from redisson_dq._async.connecting.undecodable import UndecodableLists
from redisson_dq._concurrency import AsyncWork
from redisson_dq._redis import (
    cannot_connect,
    is_out_of_memory,
    lacks_rights,
    says_not_here,
    translate,
)
from redisson_dq.calls.confirming import check_confirmed, subject
from redisson_dq.calls.explaining import runs_no_scripts
from redisson_dq.durability import Confirmed, Durability
from redisson_dq.errors import RedisConnectionError, RedissonDQError
from redisson_dq.observing import Observers, Sent
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scripts.script import Script
from redisson_dq.wire import commands
from redisson_dq.wire.request import Request, durability_of, packed

__all__ = ["Connections"]

T = TypeVar("T")

logger = logging.getLogger("redisson_dq")

#: A reply or an error, and the confirmation of the change where it was requested.
_Answer = tuple[Any, Union[Confirmed, Exception, None]]

#: Callbacks of each sending, when the bytes are ready and before the reply is read, and in how many seconds the reply
#: has to come.
_How = tuple[Union[AsyncWork, None], Union[AsyncWork, None], Union[float, None]]

# A slot under migration answers at the second try. More tries are for a slot that moves again meanwhile.
_REDIRECTIONS = 8
_PAUSE_WHILE_MIGRATING = 0.05


def _was_left(pool: Any, number: int) -> bool:
    """Whether the connections of a pool were given up since its address had this number."""
    return bool(pool.address.number != number)


class Connections(Pools):
    """Runs requests, each on a pooled connection of our own."""

    def __init__(self, servers: Servers, clock: Clock, observers: Observers, longest_block: float = 30.0) -> None:
        super().__init__(servers, clock, observers, longest_block)
        # The channels that this client may not publish on, as Redis has said.
        self._unheard: set[bytes] = set()
        self._transactions = Transactions(self)
        #: Whether scripts that only read are called by EVALSHA_RO first: the user was last allowed only that, or only
        #: looks. A user who may only read is refused EVALSHA, and the server notes each refusal in ``ACL LOG``.
        self.only_looks = False
        # Whether the user may write to lists, as far as is known.
        self._may_write = True
        #: The lists of values that could not be read.
        self.undecodable = UndecodableLists(self)
        #: The looks that follow when this client announces something itself, by the channels that it does not hear now.
        self.unheard: dict[str, Callable[[], None]] = {}
        #: Gets a queue's channel, and a due time that a call of this client has put in and not announced.
        self.untold: Callable[[Any, int], None] | None = None
        #: A one-shot hook after the next successful offer. It raises no error of this library.
        self.behind_next: AsyncWork | None = None

    async def run(
        self,
        request: Request[T],
        *,
        when_closed: bool = False,
        before_sending: AsyncWork | None = None,
        after_sending: AsyncWork | None = None,
        within: float | None = None,
        at_hand: bool = False,
        node: ConnectionPool | None = None,
    ) -> T:
        """One round trip (two when the server does not know the script yet).

        ``when_closed``: the request is sent even after :meth:`aclose`. ``before_sending`` is called when the connection
        and the bytes are ready, each time that they are sent, and ``after_sending`` before the reply is read. With
        ``within`` the reply has to come in this many seconds, and a condition that would pass is an error. With
        ``at_hand`` nothing is waited for but that reply: without an idle connection nothing is sent. ``node`` is the
        one that has to answer, where the key does not decide. Raises RedisConnectionError, WrongTypeError,
        RedisReplyError, ClosedError.
        """
        if self._closed or self._process != os.getpid():
            self._check_closed(when_closed=when_closed)
        for begin in request.on_sending:
            begin()
        try:
            how = before_sending, after_sending, within
            if not self.observers.heard[Sent]:
                reply, confirmed = await self._ask(request, how, node, at_hand=at_hand)
            else:
                with self.observers.exchange([(request.name, request.keys)], self.clock):
                    reply, confirmed = await self._ask(request, how, node, at_hand=at_hand)
            announces = request.script is not None and request.script.announces
            result = self.parsed(request, reply) if announces else request.parse(reply)
            if request.durable is not None:
                check_confirmed(request, result, confirmed)
            # A caller that is cancelled during the work would lose values that it has taken.
            if self.behind_next is not None and request.on_sending and not request.aside:
                # Another thread may have taken the work meanwhile.
                work, self.behind_next = self.behind_next, None
                if work is not None:
                    await work()
            return result
        except ResponseError as error:
            if request.when_full is not None and is_out_of_memory(error):
                return await self.run(request.when_full, when_closed=when_closed)
            raise await explained(self, request, error) from error

    def _check_closed(self, *, when_closed: bool) -> None:
        if not (when_closed and self.is_of_this_process):
            self.check()

    def parsed(self, request: Request[T], reply: Any) -> T:
        """The result of a reply. Warns once for each channel on which Redis refused to publish."""
        if request.script is None or not request.script.announces:
            return request.parse(reply)
        if self.unheard:
            self._hear_itself(request)
        # Redis ends an array at its first nil.
        refusal, channel, untold, *result = reply
        if untold and self.untold is not None:
            self.untold(dict(zip(request.script.keys, request.words[1:], strict=False))["channel"], int(untold))
        if refusal and channel not in self._unheard:
            self._unheard.add(channel)
            logger.warning(
                "channel %r: Redis refuses to publish: %s; changes are still made, but they do not wake other "
                "clients; the user needs the right to PUBLISH there",
                channel.decode(errors="replace"),
                refusal.decode(errors="replace"),
            )
        return request.parse(result[0] if result else None)

    def _hear_itself(self, request: Request[Any]) -> None:
        """Looks at the queue if this request has published something on a channel that the client is not subscribed
        to.
        """
        assert request.script is not None
        keys = dict(zip(request.script.keys, request.words[1:], strict=False))
        # A script that brings a queue another name has the channel among its arguments.
        channels = [keys[name] for name in ("channel", "capacity_channel") if name in keys] or list(self.unheard)
        for channel in channels:
            changed = self.unheard.get(str(channel))
            if changed is not None:
                changed()

    async def run_quietly(self, request: Request[T], within: float) -> T | None:
        """The result of a request that is not reported to observers; None when it has failed or taken too long."""
        try:
            reply, _ = await self._ask(request, (None, None, within), None, at_hand=True)
            return self.parsed(request, reply)
        except (RedissonDQError, RedisError, OSError) as error:
            logger.debug("%s was not answered: %s", request.name, error)
            return None

    async def check_server(self, key: str) -> None:
        """Asks whether the server of this list still takes writes. One that does not ends all connections to it.

        For a client that only listens and reads for a long time: a replica answers such commands too. A blocked pop
        asks by itself, when it is sent again. The nodes of a cluster say where a key lives. Raises
        RedisConnectionError.
        """
        if self.is_cluster or not self._may_write or (await self.pool_of(key)).address.is_asked:  # type: ignore[attr-defined]
            return
        try:
            await self.check_pause(key)
            await self.run(commands.write_nothing(key))
        except RedisConnectionError:
            raise
        except RedissonDQError as error:
            self._may_write = not lacks_rights(error)
            logger.debug("list %r: a write that changes nothing was refused: %s", key, error)

    async def run_many(
        self, requests: list[Request[Any]], *, transaction: bool = False, in_order: bool = False
    ) -> list[Any]:
        """Results, or the errors in their place, in the order of the requests. One round trip, whatever the number of
        nodes: all of them work at the same time.

        Texts of scripts are longer than all else, so they are sent only ``in_order``. Otherwise the requests whose
        scripts a server does not know are sent again with texts, when the others were carried out.

        Raises an error that keeps everything from being sent: RedisConnectionError, ClosedError, CrossSlotError.
        """
        self.check()
        by_pool: dict[int, tuple[ConnectionPool, list[int]]] = {}
        for place, request in enumerate(requests):
            pool = await self.pool_of(request.key)
            by_pool.setdefault(id(pool), (pool, []))[1].append(place)
        if transaction and len(by_pool) > 1:
            raise translate(ResponseError("CROSSSLOT"), "a transaction")
        for request in requests:
            for begin in request.on_sending:
                begin()
        parts = list(by_pool.values())
        if not self.observers.heard[Sent]:
            answers = await self._run_together(requests, parts, transaction, in_order)
        else:
            with self.observers.exchange([(each.name, each.keys) for each in requests], self.clock) as errors:
                answers = await self._run_together(requests, parts, transaction, in_order)
                errors[:] = [reply if isinstance(reply, Exception) else None for reply, _ in answers]
        results: list[Any] = []
        is_down = is_refused = False
        for request, (reply, confirmed) in zip(requests, answers, strict=True):
            # One has already waited for a cluster that serves nobody, or was sent again to a server on which the user
            # may run no script. The others would do so one after the other.
            known = (is_down and isinstance(reply, ClusterDownError)) or (is_refused and runs_no_scripts(reply))
            result = await self._result_of(request, reply, transaction or known, confirmed)
            cause = result.__cause__ if isinstance(result, RedissonDQError) else None
            is_down = is_down or isinstance(cause, ClusterDownError)
            is_refused = is_refused or runs_no_scripts(cause)
            results.append(result)
        return results

    async def _run_together(
        self,
        requests: list[Request[Any]],
        parts: list[tuple[ConnectionPool, list[int]]],
        transaction: bool,
        in_order: bool,
    ) -> list[_Answer]:
        """The answers of requests, in their order. ``parts`` has the places of those that go to one node."""
        if transaction and requests:
            replies, confirmed = await self._transactions.replies(requests)
            return [(reply, confirmed) for reply in replies]
        batches = [
            Batch(
                pool,
                packed(chosen := [requests[i] for i in places], only_looks=self.only_looks, in_order=in_order),
                durability_of(chosen),
            )
            for pool, places in parts
        ]
        await exchange_many(self, batches, "a pipeline")
        unsent = [batch.error for batch in batches if batch.error and not batch.sent]
        if unsent and len(unsent) == len(batches):
            raise unsent[0]
        answers: list[_Answer] = [(None, None)] * len(requests)
        for batch, (_, places) in zip(batches, parts, strict=True):
            # The answers of other nodes are kept. They may be values that exist nowhere else any more.
            for i, place in enumerate(places):
                answers[place] = batch.replies[i] if i < len(batch.replies) else batch.error, batch.confirmed
        if not in_order:
            await self._teach(requests, parts, answers)
        return answers

    async def _teach(
        self, requests: list[Request[Any]], parts: list[tuple[ConnectionPool, list[int]]], answers: list[_Answer]
    ) -> None:
        """Sends the requests again whose scripts were unknown. No server carried them out."""
        unknown = {place for place, (reply, _) in enumerate(answers) if isinstance(reply, NoScriptError)}
        again = [(pool, left) for pool, places in parts if (left := [i for i in places if i in unknown])]
        if not again:
            return
        try:
            told = await self._run_together(requests, again, transaction=False, in_order=True)
        except RedissonDQError as error:
            told = [(error, None)] * len(requests)
        for place in unknown:
            answers[place] = told[place]

    async def _result_of(
        self, request: Request[Any], reply: Any, is_final: bool, confirmed: Confirmed | Exception | None
    ) -> Any:
        """``is_final``: the request is not sent again by itself."""
        try:
            if isinstance(reply, (AskError, TryAgainError, ClusterDownError, NoScriptError)) and not is_final:
                # The node did not carry it out. Sent by itself, it is redirected. (The call that carried its script's
                # text belonged to another slot, and was redirected.)
                return await self.run(request)
            if isinstance(reply, NoPermissionError) and request.script and request.script.only_reads and not is_final:
                # Sent by itself, it may be called by EVALSHA_RO.
                return await self.run(request)
            if isinstance(reply, ResponseError):
                if request.when_full is not None and is_out_of_memory(reply) and not is_final:
                    return await self.run(request.when_full)
                return await explained(self, request, reply)
            if isinstance(reply, Exception):
                return reply
            result = self.parsed(request, reply)
            check_confirmed(request, result, confirmed)
            return result
        except RedissonDQError as error:
            return error

    async def _ask(self, request: Request[Any], how: _How, node: ConnectionPool | None, *, at_hand: bool) -> _Answer:
        """The reply, and the confirmation of the change where it was requested."""
        within, asking = how[-1], False
        if at_hand and self.permits.locked():
            raise RedisConnectionError("all connections to Redis are busy")
        pool = node or self._servers.only or await self.pool_of(request.key)
        for attempt in range(_REDIRECTIONS):
            number = pool.address.number  # type: ignore[attr-defined]
            try:
                async with self.permits:
                    return await self._once(pool, request, how, at_hand=at_hand, asking=asking)
            except AskError as error:
                # The node that answered does not serve the slot any more (MOVED) or this key (ASK): nothing was done.
                asking = not isinstance(error, MovedError)
                pool = await self.pool_at(error, request.key)
            except (TryAgainError, ClusterDownError):
                if within is not None or attempt == _REDIRECTIONS - 1:
                    raise
                await self.clock.async_sleep(_PAUSE_WHILE_MIGRATING * (attempt + 1))
                await self.refresh()
                pool = await self.pool_of(request.key)
                asking = False
            except RedisConnectionError as error:
                if error.maybe_done or node is not None:
                    raise
                # Nothing was sent. After a failover another node has the slot.
                gone, pool = pool, await self.pool_of(request.key)
                if pool is gone and (attempt or not _was_left(pool, number)):
                    raise
                asking = False
            except ResponseError as error:
                # Nothing was done. A new connection may lead to another server.
                if attempt or within is not None or not (says_not_here(error) and _was_left(pool, number)):
                    raise
        raise ResponseError("the cluster redirected the request too often")

    async def _once(
        self, pool: ConnectionPool, request: Request[Any], how: _How, *, at_hand: bool, asking: bool
    ) -> _Answer:
        try:
            connection: Any = await (pool.open_connection() if at_hand else pool.get_connection())  # type: ignore[attr-defined]
        except (RedisError, OSError) as error:
            raise await self.broken(error, cannot_connect(pool, error)) from error
        if connection is None:
            raise RedisConnectionError("no connection to Redis is open and idle")
        try:
            script = request.script
            if script is None:
                if asking:
                    await connection.exchange(("ASKING",))
                reply = await connection.exchange(request.words, *how)
            elif script.only_reads:
                reply = await self._looked(connection, script, request.words, how, asking=asking)
            else:
                reply = await self._called(connection, script, "", request.words, how, asking=asking)
            # On the same connection: Redis waits for the changes of the connection that asks.
            confirmed = None if request.durable is None else await self._confirmed(connection, request.durable)
            return reply, confirmed
        except ResponseError:
            raise
        except (RedisError, OSError) as error:
            if at_hand:
                # A cluster whose node hangs would not say who owns its slots now, either.
                raise translate(error, subject(request), sent=True) from error
            raise await self.broken(error, subject(request), sent=True) from error
        except BaseException:
            # Cancelled or interrupted. A late reply would be taken for that of the next request.
            await connection.disconnect()
            raise
        finally:
            await (self.give_back(pool, connection) if self._closed else pool.release(connection))

    async def _looked(self, connection: Any, script: Script, words: tuple[Any, ...], how: _How, *, asking: bool) -> Any:
        # A user who may only read the keys is refused EVALSHA, as Redis asks for the right to write them. From Redis 7
        # on such a user may call a script by EVALSHA_RO.
        ways = ("_RO", "") if self.only_looks else ("", "_RO")
        refusal: ResponseError | None = None
        for suffix in ways:
            try:
                reply = await self._called(connection, script, suffix, words, how, asking=asking)
                self.only_looks = suffix == "_RO"
                return reply
            except ResponseError as error:
                is_refused = isinstance(error, NoPermissionError) or "unknown command" in str(error)
                if refusal is not None and is_refused:
                    raise refusal from None
                if not is_refused:
                    raise
                refusal = error
        raise AssertionError("the second way returns or raises")

    async def _called(
        self, connection: Any, script: Script, suffix: str, words: tuple[Any, ...], how: _How, *, asking: bool
    ) -> Any:
        # A node that takes a slot over serves one command after each ASKING.
        if asking:
            await connection.exchange(("ASKING",))
        try:
            return await connection.exchange((f"EVALSHA{suffix}", script.sha, *words), *how)
        except NoScriptError:
            # The script did not run. EVAL carries the text, so a SCRIPT FLUSH in between does not matter.
            if asking:
                await connection.exchange(("ASKING",))
            return await connection.exchange((f"EVAL{suffix}", script.source, *words), *how)

    async def _confirmed(self, connection: Any, durable: Durability) -> Confirmed | Exception:
        try:
            return durable.confirmed(await connection.exchange(durable.words))
        except (ResponseError, BusyLoadingError) as error:
            return error
