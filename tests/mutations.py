"""Shows that the tests notice defects: breaks one line at a time, and requires that a test fails for it.

    python -m tests.mutations              all of them
    python -m tests.mutations --only head  those whose name has this in it

Each mutation names the test that has to fail. It is made in a copy of the tree, so nothing here changes. Every named
test has to pass in an unchanged copy first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import attrs

__all__ = ["MUTATIONS", "ROOT", "Mutation"]

ROOT = Path(__file__).resolve().parent.parent

_ENGINE = "redisson_dq/scheduling/engine.py"
_INCLUDE = "redisson_dq/scripts/include"
_RECEIVING = "redisson_dq/_async/receiving"
_MOVING = "redisson_dq/_async/moving"


@attrs.frozen
class Mutation:
    """``line`` occurs once in the file ``path``, and becomes ``broken``. ``test`` is the pytest name of a test."""

    name: str
    path: str
    line: str
    broken: str
    test: str


MUTATIONS = [
    Mutation(
        "limits by key: a value that is called up loses its place",
        f"{_INCLUDE}/lines.lua",
        "  if not keeps then",
        "  if true then",
        "tests/integration/workers/test_order_of_keys.py::test_a_value_called_up_keeps_its_place_until_it_begins",
    ),
    Mutation(
        "limits by key: values that are called up turn round",
        f"{_INCLUDE}/lines.lua",
        "state == 'ready' and keeps and not in_turn.none_ready() then",
        "false then",
        "tests/integration/workers/test_order_of_keys.py::test_values_that_are_called_up_one_after_the_other",
    ),
    Mutation(
        "limits by key: a value that finds no slot loses its place",
        f"{_INCLUDE}/by_key.lua",
        "  if had then",
        "  if false then",
        "tests/integration/workers/test_order_of_keys.py::test_a_value_that_finds_its_slot_taken_keeps_its_place",
    ),
    Mutation(
        "limits: a call that has not looked for slots says that no value waits for one",
        "redisson_dq/scripts/peek.lua",
        "  return {0, shown(most), -2}",
        "  return {0, shown(most), -1}",
        "tests/integration/workers/test_admission_machine.py::test_another_program_takes_the_value_that_was_called_up",
    ),
    Mutation(
        "rates by key: a new value takes the token of one that waits",
        "redisson_dq/scripts/admit.lua",
        "if not (v.before or bucket.tokens < 1 or",
        "if not (bucket.tokens < 1 or",
        "tests/integration/workers/test_order_of_keys.py::test_a_new_value_takes_no_token_of_one_that_waits",
    ),
    Mutation(
        "limits by key: a value called up is behind a new one",
        "redisson_dq/scripts/admit.lua",
        "if not v.line or v.in_turns then",
        "if not v.had or not v.line or v.in_turns then",
        "tests/integration/workers/test_order_of_keys.py::test_a_value_called_up_comes_to_another_client_after_a_new_one",
    ),
    Mutation(
        "limits by key: what is handed back loses its place",
        "redisson_dq/scripts/give_back.lua",
        "d.turn = d.turn or lined and not counted and not crashed and '' or nil",
        "d.turn = d.turn",
        "tests/integration/workers/test_order_of_keys.py::test_what_a_worker_hands_back_when_it_stops_is_first",
    ),
    Mutation(
        "metrics: the counts of a dead process stay",
        "redisson_dq/prometheus/merging.py",
        "self._ended.add(self._pages.pop(process, []), lasting_alone=True)",
        "self._pages.pop(process, [])",
        "tests/unit/prometheus/test_merging.py::test_the_counts_of_a_dead_process_stay_and_its_gauges_go",
    ),
    Mutation(
        "metrics: the names of handlers have an end",
        "redisson_dq/prometheus/counting.py",
        "if len(self.handlers) >= MOST_HANDLERS:",
        "if False:",
        "tests/unit/prometheus/test_counting.py::test_a_queue_has_at_most_60_time_series",
    ),
    Mutation(
        "metrics: a round trip is for a hundred queues",
        "redisson_dq/prometheus/collector.py",
        "_AT_ONCE = 100\n",
        "_AT_ONCE = 1000\n",
        "tests/integration/programs/test_prometheus.py::test_a_scrape_is_one_round_trip_for_a_hundred_queues",
    ),
    Mutation(
        "metrics: an item that was kept out is no offer",
        "redisson_dq/calls/offers.py",
        "if outcome is not OfferOutcome.KEPT:",
        "if outcome:",
        "tests/integration/programs/test_prometheus.py::test_a_client_that_offers_and_takes",
    ),
    Mutation(
        "metrics: what somebody has paused is not overdue",
        "redisson_dq/prometheus/alerts.yml",
        "redisson_dq_overdue_oldest_seconds > 30 unless redisson_dq_paused == 1",
        "redisson_dq_overdue_oldest_seconds > 30",
        "tests/unit/prometheus/test_alerts.py::test_each_fires_in_its_case_alone",
    ),
    Mutation(
        "traces: a trace of the user's own in context= wins",
        "redisson_dq/otel/interceptor.py",
        "carries = operation.carries and not self._carrier.is_taken(operation.context)",
        "carries = operation.carries",
        "tests/integration/programs/test_otel.py::test_the_users_own_trace_wins",
    ),
    Mutation(
        "traces: a context that leaves no room goes alone",
        "redisson_dq/otel/carrying.py",
        "return both if _fits(both) else given",
        "return both",
        "tests/integration/programs/test_otel.py::test_a_context_that_leaves_no_room_goes_alone",
    ),
    Mutation(
        "traces: an interceptor that raises changes nothing",
        "redisson_dq/observing/operations.py",
        "if may_be_of_a_signal(error):",
        "if True:",
        "tests/integration/programs/test_otel.py::test_an_exporter_that_raises_never_reaches_the_queue",
    ),
    Mutation(
        "traces: a handler whose time is over has failed, whatever it returns",
        "redisson_dq/_async/worker/performing.py",
        "                if self.table.is_late:",
        "                if False:",
        "tests/integration/programs/test_otel.py::test_a_handler_whose_time_is_over_has_an_error",
    ),
    Mutation(
        "worker: a value that is let past its handler's limit takes a token",
        "redisson_dq/working/admission.py",
        "if handler.admission is not None and handler.admission.has_limit and not self._is_passed(handler)",
        "if handler.admission is not None and handler.admission.has_limit",
        "tests/integration/workers/test_worker_limits.py::test_a_busy_handler_with_a_limit_holds_up_no_other",
    ),
    Mutation(
        "worker: values of a busy handler come again at one time, however many they are",
        "redisson_dq/working/roster.py",
        "self.last_parked = max(now + pause, self.last_parked) + count * _APART",
        "self.last_parked = now + pause",
        "tests/unit/working/test_roster.py::test_parked_values_come_again_in_their_order_and_at_most_100_a_second",
    ),
    Mutation(
        "worker: a handler that is full again after a free slot is passed at once",
        "redisson_dq/working/roster.py",
        "            if not self.gathered:\n                self.moment = None",
        "            pass",
        "tests/unit/working/test_roster.py::test_a_handler_that_is_full_for_a_moment_holds_up_the_others",
    ),
    Mutation(
        "worker: nobody asks for the leases of a lost reply",
        "redisson_dq/_async/worker/acks_along.py",
        "self._runtime.receivers.of(source).recover(again())",
        "pass",
        "tests/integration/workers/test_worker_acks_along.py::test_a_connection_that_breaks_at_the_call",
    ),
    Mutation(
        "worker: acks stay where they are while nobody receives",
        "redisson_dq/_async/worker/fetching.py",
        "                    wait.along.pass_on()",
        "                    pass",
        "tests/integration/workers/test_worker_acks_along.py::test_what_is_done_of_a_batch_is_acked_while_on_failed_runs",
    ),
    Mutation(
        "worker: a slot that another queue frees wakes nobody",
        "redisson_dq/working/queues.py",
        "self._dirty.update(dict.fromkeys(self.waits) if self._is_alone else self._unmet)",
        "pass",
        "tests/integration/workers/test_worker_many_queues.py::test_a_slot_that_one_queue_frees_is_for_any_other",
    ),
    Mutation(
        "worker: a value that finds no slot is handled all the same",
        "redisson_dq/_async/worker/fetching.py",
        "has_slot=free is None or len(came) < free",
        "has_slot=True",
        "tests/integration/workers/test_worker_many_queues.py::test_a_value_that_finds_no_slot_goes_back_to_its_place",
    ),
    Mutation(
        "engine: a subscription during a transfer is ignored",
        _ENGINE,
        "(State.MOVING, Trigger.SUBSCRIBED): (State.MOVING_AGAIN, ()),",
        "(State.MOVING, Trigger.SUBSCRIBED): (State.MOVING, ()),",
        "tests/unit/test_engine.py::test_a_subscription_confirmed_during_a_transfer_leads_to_another_one",
    ),
    Mutation(
        "engine: the latest announcement during a transfer counts",
        _ENGINE,
        "self._noted_ms = due_ms if self._noted_ms is None else min(self._noted_ms, due_ms)",
        "self._noted_ms = due_ms if self._noted_ms is None else max(self._noted_ms, due_ms)",
        "tests/unit/test_engine.py::test_the_earliest_of_many_announcements_during_a_transfer_counts",
    ),
    Mutation(
        "driver: each keyspace event leads to a look of its own",
        f"{_MOVING}/transfer_driver.py",
        "if task is not None and not task.looking:",
        "if task is not None:",
        "tests/unit/test_transfer_driver.py::test_many_events_lead_to_one_look",
    ),
    Mutation(
        "driver: a queue that it never led is handed over too",
        f"{_MOVING}/transfers.py",
        "for task in tasks if task.engine.led]",
        "for task in tasks]",
        "tests/unit/test_transfer_driver.py::test_a_queue_that_it_never_led_is_not_handed_over",
    ),
    Mutation(
        "probe: a server that is away gets a PING each second",
        f"{_MOVING}/probe.py",
        "if not self._is_away:",
        "if True:",
        "tests/unit/test_transfer_driver.py::test_while_redis_is_away_probes_come_soon_and_without_a_ping",
    ),
    Mutation(
        "clock: a slow answer counts like a fast one",
        "redisson_dq/scheduling/server_clock.py",
        "self.ahead_us, self.learned_us = min(highest_us, known_us), read_us",
        "self.ahead_us, self.learned_us = highest_us, read_us",
        "tests/unit/test_server_clock.py::test_the_fastest_way_counts_and_a_slow_answer_changes_nothing",
    ),
    Mutation(
        "engine: a reserve waits no longer than the mover",
        _ENGINE,
        "self._patience_us = self._reserve_us + min(now_us - sent_us, _LONGEST_ROUND_TRIP_US)",
        "self._patience_us = 0",
        "tests/unit/test_engine.py::test_a_reserve_waits_longer_than_the_due_time",
    ),
    Mutation(
        "offer_all: the first value counts as the head",
        f"{_INCLUDE}/add_many.lua",
        "if dues[i] < dues[head] then",
        "if false then",
        "tests/integration/queues/test_queues.py::test_only_a_new_head_is_announced",
    ),
    Mutation(
        "offer_all: a delay is rounded by itself",
        f"{_INCLUDE}/add_many.lua",
        "ceil((now_us + ceil(dues[i] * 1000000 - 0.001)) / 1000)",
        "ceil(now_us / 1000) + ceil(dues[i] * 1000)",
        "tests/integration/moving/test_clock.py::test_only_the_sum_of_clock_and_span_is_rounded",
    ),
    Mutation(
        "offer_all: as many as the queue takes are one too few",
        f"{_INCLUDE}/limit.lua",
        "count_held() + count <= largest",
        "count_held() + count < largest",
        "tests/integration/queues/test_settings_of_a_queue.py::test_offer_all_beyond_the_largest_size",
    ),
    Mutation(
        "inspect: a lease counts as the next value that waits",
        f"{_INCLUDE}/figures.lua",
        "return redis.call('ZCOUNT', keys.timeout, from, till) > math.max(0, math.min(held, leases))",
        "return redis.call('ZCOUNT', keys.timeout, from, till) > 0",
        "tests/integration/looking/test_inspect.py::test_what_receivers_hold",
    ),
    Mutation(
        "inspect: leases whose entries are gone hide the next value that waits",
        f"{_INCLUDE}/figures.lua",
        "local leases = redis.call('ZCOUNT', keys.leases, from, till) - gone",
        "local leases = redis.call('ZCOUNT', keys.leases, from, till)",
        "tests/integration/looking/test_inspect.py::test_leases_whose_entries_are_gone",
    ),
    Mutation(
        "inspect: a key of another type fails the whole call",
        f"{_INCLUDE}/figures.lua",
        "if is_wrong[key] or not size_of[key] then",
        "if not size_of[key] then",
        "tests/integration/looking/test_inspect.py::test_a_key_of_another_type",
    ),
    Mutation(
        "stats: leases whose entries are gone cost as much as they are many",
        "redisson_dq/scripts/stats.lua",
        "tell_waiting(now_ms, MOST_GONE)",
        "tell_waiting(now_ms)",
        "tests/integration/looking/test_stats.py::test_the_cost_does_not_grow_with_leases",
    ),
    Mutation(
        "stats: a user who may only read asks for each queue alone",
        "redisson_dq/wire/request.py",
        'suffix = "_RO" if only_looks and script.only_reads else ""',
        'suffix = ""',
        "tests/integration/looking/test_stats.py::test_a_user_who_may_only_look",
    ),
    Mutation(
        "health: each call sends a look of its own while Redis stands still",
        "redisson_dq/_async/checkup.py",
        "if current is None or current[0].is_answered:",
        "if True:",
        "tests/integration/servers/test_health.py::test_a_server_that_stands_still",
    ),
    Mutation(
        "health: a node that is down hides the queues of the others",
        "redisson_dq/_async/checkup.py",
        "if self.connections.is_cluster or not isinstance(self.error, RedisConnectionError):",
        "if not isinstance(self.error, RedisConnectionError):",
        "tests/integration/servers/test_health.py::test_a_cluster",
    ),
    Mutation(
        "queue_names: a name that begins and ends with a hash tag loses both",
        "redisson_dq/wire/names.py",
        'if rest.startswith("{") and rest.endswith("}") and "{" not in rest[1:]:',
        'if rest.startswith("{") and rest.endswith("}"):',
        "tests/integration/queues/test_queue_names.py::test_the_way_back_from_each_key",
    ),
    Mutation(
        "looks: a user who may only read the keys is refused",
        "redisson_dq/_async/connecting/connections.py",
        'ways = ("_RO", "") if self.only_looks else ("", "_RO")',
        'ways = ("", "")',
        "tests/integration/looking/test_inspect.py::test_a_user_who_may_only_look",
    ),
    Mutation(
        "transfer: what is not due is delivered",
        "redisson_dq/scripts/transfer.lua",
        "redis.call('ZCOUNT', keys.timeout, '-inf', now_ms)",
        "redis.call('ZCARD', keys.timeout)",
        "tests/integration/moving/test_passes.py::test_few_are_left_to_lrem_without_a_pass",
    ),
    Mutation(
        "transfer: a delivered item stays in the list of entries",
        f"{_INCLUDE}/deliver.lua",
        "close_up(places, others)",
        "close_up({}, {})",
        "tests/integration/moving/test_passes.py::test_few_are_left_to_lrem_without_a_pass",
    ),
    Mutation(
        "transfer: an item that is due alone stays in the list of entries",
        "redisson_dq/scripts/transfer.lua",
        "redis.call('LREM', keys.envelopes, from, member)",
        "redis.call('LLEN', keys.envelopes)",
        "tests/integration/queues/test_queues.py::test_an_item_arrives_when_it_is_due_and_not_before",
    ),
    Mutation(
        "transfer: a paused queue delivers",
        "redisson_dq/scripts/transfer.lua",
        "if paused then",
        "if false then",
        "tests/integration/queues/test_settings_of_a_queue.py::test_a_pause_is_seen_everywhere_and_holds_delivery_alone",
    ),
    Mutation(
        "transfer: nobody takes over from a dead mover",
        f"{_INCLUDE}/mover.lua",
        "return overdue and moved_us + 0 < now_us - GRACE_US and 'mover' or 'reserve', tonumber(announced_us)",
        "return 'reserve', tonumber(announced_us)",
        "tests/integration/moving/test_one_mover.py::test_a_mover_that_stands_still_is_replaced_and_comes_back_as_one_of_the_others",
    ),
    Mutation(
        "transfer: the mover forgets when it told the others, and tells them of each item",
        f"{_INCLUDE}/mover.lua",
        "return 'mover', tonumber(announced_us)",
        "return 'mover', 0",
        "tests/integration/moving/test_one_mover.py::test_items_that_follow_each_other_closely_need_no_message_each",
    ),
    Mutation(
        "receiving: nobody looks for what a lost reply told of",
        "redisson_dq/waits/debts.py",
        "self.requests.append(request)",
        "pass",
        "tests/unit/waits/test_wait_engine.py::test_whatever_happens_the_promises_hold",
    ),
    Mutation(
        "receiving: a caller is given more than its limit",
        "redisson_dq/waits/line.py",
        "values = values[waiter.limit :]",
        "values = values[waiter.limit + 1 :]",
        "tests/unit/waits/test_line.py::test_each_is_given_up_to_its_limit_in_the_order_of_coming",
    ),
    Mutation(
        "receiving: what a caller who left was given is lost",
        f"{_RECEIVING}/receiver.py",
        "self._distribute(self.line.leave(waiter))",
        "self.line.leave(waiter)",
        "tests/integration/queues/test_taking_many.py::test_what_cancelled_tasks_had_goes_back_in_order",
    ),
    Mutation(
        "receiving: a look of its own makes a connection, and a server that stands still holds it up",
        f"{_RECEIVING}/looks.py",
        "within=within, at_hand=True",
        "within=within",
        "tests/faults/test_hung_server.py::test_a_receive_that_expects_more_waits_for_no_connection",
    ),
    Mutation(
        "receiving: a value that cannot be read keeps its caller beyond the timeout",
        f"{_RECEIVING}/receiver.py",
        "_ASIDE_TIMEOUT if deadline is None else time_left(deadline, self._clock)",
        "_ASIDE_TIMEOUT",
        "tests/faults/test_hung_server.py::test_a_value_that_cannot_be_read_delays_nobody",
    ),
    Mutation(
        "receiving: what goes back does so in another order",
        "redisson_dq/waits/steps.py",
        'self.surplus.sort(key=attrgetter("number"))',
        'self.surplus.sort(key=attrgetter("number"), reverse=True)',
        "tests/integration/queues/test_taking_many.py::test_what_cancelled_tasks_had_goes_back_in_order",
    ),
    Mutation(
        "receiving: others look behind a value that goes back",
        "redisson_dq/waits/engine.py",
        "return self.is_running and not self.is_idle",
        "return False",
        "tests/faults/test_surplus_of_a_round.py::test_what_stands_behind_such_a_value_comes_after_it",
    ),
    Mutation(
        "receiving: a request that a caller has noted waits behind a blocking command",
        "redisson_dq/waits/engine.py",
        "return any(request is not behind for request in self.debts.requests)",
        "return False",
        "tests/unit/waits/test_wait_engine.py::test_a_request_that_is_noted_beside_a_blocking_command_is_another_one",
    ),
    Mutation(
        "receiving: values are lost when something fails before they are handed out",
        "redisson_dq/waits/engine.py",
        "        finally:\n            self._give(values)",
        "        finally:\n            pass",
        "tests/integration/waits/test_waits_go_on.py::test_a_value_that_is_handed_out_while_something_fails_is_handed_out_once",
    ),
    Mutation(
        "receiving: a caller is told that nothing is there, and its command has failed",
        "redisson_dq/waits/troubles.py",
        "another command was sent.\n        self.line.broke()",
        "another command was sent.",
        "tests/unit/waits/test_wait_engine.py::test_no_caller_hears_that_nothing_is_there_from_a_command_that_failed",
    ),
    Mutation(
        "receiving: a pump finds out by itself that a look could not reach its source",
        f"{_RECEIVING}/round_robin.py",
        "pump.met(_of_queue(error, key, may_take=may_take))",
        "pass",
        "tests/integration/waits/test_round_robin.py::test_a_caller_whose_look_broke_off_is_told_of_the_outage",
    ),
    Mutation(
        "observers: a command that waits is told like any other",
        "redisson_dq/_async/connecting/dedicated.py",
        "self._clock, waits=True)",
        "self._clock)",
        "tests/integration/programs/test_observing.py::test_a_command_that_waits",
    ),
    Mutation(
        "receiving: a full server ends a wait by a transaction alone",
        "redisson_dq/_async/connecting/dedicated.py",
        "elif refusal is not None and is_out_of_memory(refusal):",
        "elif False:",
        "tests/faults/test_full_server.py::test_waits_go_on_when_a_transaction_is_refused",
    ),
    Mutation(
        "receiving: a lookout that breaks drops the commands of the next one",
        "redisson_dq/waits/watched.py",
        "if self.lookout is not lookout:",
        "if False:",
        "tests/unit/waits/test_shared_lines.py::"
        "test_a_lookout_that_breaks_takes_no_reply_from_the_lookout_that_a_key_has_moved_to",
    ),
    Mutation(
        "receiving: a source that Redis refused counts as watched for ever",
        "redisson_dq/waits/watched.py",
        "self.lookout, self.left, self.is_key_watched = None, None, False",
        "self.lookout = None",
        "tests/unit/waits/test_shared_sources.py::test_a_source_that_redis_refused_for_a_while_is_watched_again",
    ),
    Mutation(
        "receiving: a source is watched, and values have to go back",
        "redisson_dq/waits/watched.py",
        "left == 0 and not (self.debts or self.backs.are_left or self.line.closed)",
        "left == 0",
        "tests/unit/waits/test_shared_sources.py::"
        "test_a_value_that_goes_back_while_its_source_is_asked_goes_back_behind_that",
    ),
    Mutation(
        "receiving: a full server's pause proves that nothing is there",
        "redisson_dq/waits/asking.py",
        "before the next one.\n        self.line.broke()",
        "before the next one.",
        "tests/unit/waits/test_wait_engine.py::"
        "test_a_caller_whose_command_found_no_memory_is_told_nothing_before_another_look",
    ),
    Mutation(
        "receiving: the list that gave keeps its turn",
        "redisson_dq/waits/rotation.py",
        "self._order = self._order[behind:] + self._order[:behind]",
        "pass",
        "tests/integration/waits/test_round_robin.py::test_the_list_behind_the_one_that_gave_last_comes_first",
    ),
    Mutation(
        "receiving: the first list gives everything",
        "redisson_dq/waits/rotation.py",
        "return [wanted // count + (rank < wanted % count) for rank in range(count)]",
        "return [1 if rank else wanted for rank in range(count)]",
        "tests/integration/waits/test_round_robin.py::test_lists_give_the_same_share",
    ),
    Mutation(
        "observers: a client without observers tells of its requests",
        "redisson_dq/_async/connecting/connections.py",
        "            if not self.observers.heard[Sent]:\n                reply, confirmed",
        "            if False:\n                reply, confirmed",
        "tests/integration/programs/test_observing.py::test_nothing_is_made_where_nobody_watches",
    ),
    Mutation(
        "observers: an error of one comes out",
        "redisson_dq/observing/observers.py",
        "except BaseException as error:\n                    # A signal",
        "except OSError as error:\n                    # A signal",
        "tests/unit/test_observers.py::test_the_first_error_of_each_is_logged",
    ),
    Mutation(
        "observers: a call of one is told to all",
        "redisson_dq/observing/observers.py",
        "if not self or self.is_telling_here:",
        "if not self:",
        "tests/unit/test_observers.py::test_happenings_of_other_threads_are_told_meanwhile",
    ),
    Mutation(
        "observers: a lost lease is told each time",
        "redisson_dq/calls/lease.py",
        "            self._is_told_lost = True\n",
        "",
        "tests/integration/programs/test_observing.py::test_a_lease_that_is_not_renewed_any_more",
    ),
    Mutation(
        "log: a happening is made for a line that nobody wants",
        "redisson_dq/observing/log.py",
        "return None if found is None else partial(found.logger.isEnabledFor, found.level)",
        "return None if found is None else lambda: True",
        "tests/integration/programs/test_logging.py::test_nothing_is_made_for_a_line_that_nobody_wants",
    ),
    Mutation(
        "log: a mask that fails shows its error",
        "redisson_dq/observing/observers.py",
        'return f"({type(error).__name__} in log_values=)"',
        'return f"({error} in log_values=)"',
        "tests/unit/test_log.py::test_values_are_shown_on_demand",
    ),
    Mutation(
        "settings: a setting of Redisson that cannot be taken over is left out",
        "redisson_dq/_redisson_config/taking.py",
        "        raise self._wrong(name, refused.why)",
        "        return",
        "tests/unit/test_redisson_config.py::test_a_setting_that_cannot_be_taken_over_is_named",
    ),
    Mutation(
        "settings: a Sentinel is asked with the password of its master",
        "redisson_dq/_redis/urls.py",
        'if name.startswith(("socket_", "ssl"))}',
        'if name != "db"}',
        "tests/unit/test_urls.py::test_a_sentinel_is_asked_without_the_masters_password",
    ),
    Mutation(
        "server check: the clock of a server that is behind is not told",
        "redisson_dq/observing/server_advice.py",
        "if abs(ahead_us) > _DIFFERENCE_US:",
        "if ahead_us > _DIFFERENCE_US:",
        "tests/unit/test_server_advice.py::test_the_clock",
    ),
    Mutation(
        "faults: a message of RESP3 is no reply",
        "redisson_dq/testing/faults/_link.py",
        "is_reply = not self._is_subscribed and not frame.startswith(_MESSAGE)",
        "is_reply = not self._is_subscribed",
        "tests/testing/test_strangers.py::test_messages_between_replies_of_resp3",
    ),
    Mutation(
        "faults: a client that has left ends its connection alone",
        "redisson_dq/testing/faults/_proxy.py",
        "                with contextlib.suppress(OSError):\n                    self._link(client)",
        "                self._link(client)",
        "tests/testing/test_strangers.py::test_a_client_that_has_left_before_it_is_served",
    ),
    Mutation(
        "test clock: a move that did not rest lets no transfer run ahead",
        "redisson_dq/testing/_clock.py",
        "        finally:\n            self._lines.ahead_until_us = 0",
        "        finally:\n            pass",
        "tests/testing/test_clock_of_tests.py::test_a_move_that_did_not_come_to_rest_allows_no_transfer_to_run_ahead",
    ),
    Mutation(
        "tests at a URL: each process has a database",
        "redisson_dq/testing/_server.py",
        'first = parse_url(url).get("db") or 0',
        "first = 0",
        "tests/testing/test_beside.py::test_each_process_has_a_database_of_its_own",
    ),
    Mutation(
        "security: a foreign member of any length ends a script",
        "redisson_dq/scripts/include/find.lua",
        "  if #id > 255 then",
        "  if false then",
        "tests/integration/names/test_foreign_members.py::test_garbage_in_a_key_stops_no_script",
    ),
    Mutation(
        "security: a member that nobody has announced keeps a client from its own items",
        "redisson_dq/scripts/include/head.lua",
        "  untold = math.min(untold or due, due)\n",
        "",
        "tests/integration/moving/test_untold_heads.py::test_a_client_keeps_the_times_that_it_has_put_in",
    ),
    Mutation(
        "security: a key that is no whole text stops a worker",
        "redisson_dq/working/limits.py",
        'texts.encode("utf-8", "replace")',
        "texts.encode()",
        "tests/unit/working/test_admitting.py::test_any_text_may_be_a_key",
    ),
    Mutation(
        "security: a name leads to another queue's keys",
        "redisson_dq/wire/names.py",
        "while (owner := _owner_of(raws[-1])) is not None:",
        "while False and (owner := _owner_of(raws[-1])) is not None:",
        "tests/security/test_names_that_share_keys.py::test_no_other_name_leads_past_the_rights",
    ),
    Mutation(
        "security: a user sees any queue",
        "redisson_dq/web/dashboard.py",
        "            user = await self.access.check(request, user, page.right, queue)\n",
        "",
        "tests/web/test_web_rights.py::test_every_route_with_every_role_by_every_method",
    ),
    Mutation(
        "security: findings name queues of others",
        "redisson_dq/web/seeing.py",
        "if self.all or (found.others is not None and self.may(found.others)):",
        "if True:",
        "tests/web/test_web_names.py::test_no_answer_names_a_queue_of_others",
    ),
    Mutation(
        "security: a stream survives the logout",
        "redisson_dq/web/live.py",
        "if not await self._is_let_in():",
        "if False:",
        "tests/web/test_web_rights.py::test_a_stream_ends_with_its_login",
    ),
    Mutation(
        "security: a masked field is shown",
        "redisson_dq/web/masks.py",
        "return _folded(name) in self._names",
        "return False",
        "tests/web/test_web_canaries.py::test_no_route_shows_it",
    ),
    Mutation(
        "security: a history tells of a value that was replaced",
        "redisson_dq/web/masks.py",
        "reason=each.reason and HIDDEN",
        "reason=each.reason",
        "tests/web/test_web_masks.py::test_the_events_of_an_item_show_no_hidden_value",
    ),
    Mutation(
        "security: a size tells the length of a masked field",
        "redisson_dq/web/masks.py",
        'hidden=("size",) if self else ()',
        "hidden=()",
        "tests/web/test_web_canaries.py::test_no_size_tells_the_length_of_a_masked_field",
    ),
    Mutation(
        "security: a refused action is not in the log",
        "redisson_dq/web/guard.py",
        'if scope["method"] not in _READS and message["status"] >= 400:',
        "if False:",
        "tests/web/test_web_rights.py::test_a_post_that_was_refused_is_in_the_log",
    ),
    Mutation(
        "security: the version is told before the login",
        "redisson_dq/web/dashboard.py",
        'version="" if known is None else __version__',
        "version=__version__",
        "tests/web/test_web_rights.py::test_nobody_learns_of_the_server_before_the_login",
    ),
    Mutation(
        "security: passwords are guessed at speed",
        "redisson_dq/web/logins.py",
        "return max(map(self._left, self._keys(address, user)))",
        "return 0",
        "tests/web/test_web_rights.py::test_wrong_passwords_are_logged_without_values_and_slowed_down",
    ),
    Mutation(
        "security: half a head keeps its connection",
        "redisson_dq/web/serving.py",
        "            if self.cycle is None or self.cycle.response_complete:\n",
        "            if False:\n",
        "tests/web/test_web_ports.py::test_a_head_that_does_not_end_is_dropped",
    ),
    Mutation(
        "security: a form of any size is read before the login",
        "redisson_dq/web/routing.py",
        "if len(data) > most_bytes:",
        "if False:",
        "tests/web/test_web_rights.py::test_the_form_of_the_login_is_small",
    ),
    Mutation(
        "security: a form of another site is taken",
        "redisson_dq/web/guard.py",
        "return _foreign(headers, host)",
        "return None",
        "tests/web/test_web_rights.py::test_a_form_of_another_site_is_refused",
    ),
    Mutation(
        "security: any host name reaches the dashboard",
        "redisson_dq/web/guard.py",
        "        if not self._is_known(name):",
        "        if False:",
        "tests/web/test_web_rights.py::test_another_host_name_is_refused",
    ),
    Mutation(
        "security: any host name reaches a port of a command",
        "redisson_dq/cli/serving.py",
        "return is_loopback(name) if self._is_local else is_inner(name)",
        "return True",
        "tests/unit/cli/test_serving.py::test_the_host_of_a_request_decides_who_is_answered",
    ),
    Mutation(
        "security: keys that form a chain are read",
        "redisson_dq/codecs/hashes.py",
        "        if len(hashes) > _SHORT_CHAIN:",
        "        if False:",
        "tests/unit/codecs/test_codec_chains.py::test_a_chain_of_keys_is_refused_or_takes_few_steps",
    ),
    Mutation(
        "security: layers of compression have a bound each",
        "redisson_dq/codecs/budget.py",
        "    if found is not None:\n",
        "    if False:\n",
        "tests/unit/codecs/test_codec_layers.py::test_layers_have_one_number_together",
    ),
    Mutation(
        "security: a compressed value takes any memory",
        "redisson_dq/codecs/budget.py",
        "if cost > self.left:",
        "if False:",
        "tests/unit/codecs/test_codec_layers.py::test_a_value_takes_no_more_memory_than_allowed",
    ),
    Mutation(
        "security: small elements are not counted",
        "redisson_dq/codecs/budget.py",
        "return found if found is not None and _FOR_EACH_BYTE * len(data) > found.left else None",
        "return None",
        "tests/unit/codecs/test_codec_bombs.py::test_small_elements_take_no_more_than_allowed",
    ),
    Mutation(
        "security: elements without bytes are not counted",
        "redisson_dq/codecs/kryo5/reader.py",
        "return None if self.is_counting else budget",
        "return None",
        "tests/unit/codecs/test_codec_bombs.py::test_elements_without_bytes_count_in_the_memory_of_a_value",
    ),
    Mutation(
        "security: an error quotes what is encrypted",
        "redisson_dq/codecs/encrypted.py",
        "raw = self._written(value)",
        "raw = self._inner.encode(value)",
        "tests/unit/codecs/test_codec_encrypted.py::test_an_error_of_the_inner_codec_tells_nothing_of_the_value",
    ),
    Mutation(
        "security: a key of an encrypted value is in Redis",
        "redisson_dq/working/admission.py",
        "is_secret=key_id_of(data) is not None",
        "is_secret=False",
        "tests/unit/working/test_admitting.py::test_no_word_of_an_encrypted_value_is_in_redis",
    ),
    Mutation(
        "security: a value is markup of a page",
        "redisson_dq/web/frame.py",
        "autoescape=True",
        "autoescape=False",
        "tests/web/test_web_looking.py::test_whole_numbers_keep_their_digits_and_markup_is_text",
    ),
    Mutation(
        "security: a value turns a terminal around",
        "redisson_dq/_operations/shell.py",
        "return _UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)",
        "return text",
        "tests/security/test_code_points.py::test_ignorable_code_points_are_escaped",
    ),
    Mutation(
        "security: a file with values is everybody's",
        "redisson_dq/_operations/files.py",
        "O_EXCL, 0o600)",
        "O_EXCL, 0o644)",
        "tests/security/test_files_of_others.py::test_files_with_values_are_their_owners_alone",
    ),
    Mutation(
        "security: a file is written through a link",
        "redisson_dq/_operations/files.py",
        'getattr(os, "O_NOFOLLOW", 0)',
        "0",
        "tests/security/test_files_of_others.py::test_no_file_is_written_through_a_link",
    ),
    Mutation(
        "security: a file with a second name gets values",
        "redisson_dq/_operations/files.py",
        "if found.st_nlink > 1:",
        "if False:",
        "tests/security/test_files_of_others.py::test_what_somebody_has_put_in_its_place_gets_no_values",
    ),
    Mutation(
        "security: a crafted export is Python's error",
        "redisson_dq/migrating/file.py",
        'raise FileError(f"a line of it cannot be read: {error!r}") from error',
        "raise",
        "tests/security/test_files_of_others.py::test_crafted_files_are_errors_of_ours",
    ),
    Mutation(
        "security: an alias is the name of a setting",
        "redisson_dq/_redisson_config/reading.py",
        '            if name.id != "scalar":',
        "            if False:",
        "tests/unit/test_redisson_config.py::test_a_list_or_a_mapping_is_no_name",
    ),
    Mutation(
        "security: anybody's X-Forwarded headers count",
        "redisson_dq/web/serving.py",
        "forwarded_allow_ips=list(proxies)",
        'forwarded_allow_ips="*"',
        "tests/web/test_web_ports.py::test_headers_of_forwarding_count_from_a_proxy_that_was_named",
    ),
    Mutation(
        "security: a proxy is taken for this machine",
        "redisson_dq/web/guard.py",
        "if self._is_open and any(each in headers for each in _FORWARDED):",
        "if False:",
        "tests/web/test_web_rights.py::test_without_a_login_no_proxy_shows_the_pages_to_others",
    ),
    Mutation(
        "security: an error shows the password of a URL",
        "redisson_dq/_redis/settings.py",
        'return re.sub(r"(?s)^((?:rediss?(?:\\+\\w+)?|unix)://)?.*@", r"\\1***@", url).partition("?")[0]',
        "return url",
        "tests/security/test_passwords.py::test_a_url_that_leads_nowhere",
    ),
    Mutation(
        "security: a certificate is not checked",
        "redisson_dq/_redis/urls.py",
        "client = of.redis.from_url(url, **options)",
        'client = of.redis.from_url(url, **options, ssl_cert_reqs="none", ssl_check_hostname=False)',
        "tests/security/test_tls.py::test_a_server_that_is_not_the_right_one_is_not_talked_to",
    ),
    Mutation(
        "security: a field holds any class",
        "redisson_dq/codecs/jackson/reading/dispatch.py",
        "and not value_is_assignable(value, declared.name):",
        "and False:",
        "tests/unit/codecs/test_codec_declared_types.py::test_a_field_holds_its_declared_type_alone",
    ),
    Mutation(
        "security: keys of one hash are read",
        "redisson_dq/codecs/hashes.py",
        "            self._left -= len(different) * _parts(key)\n",
        "",
        "tests/unit/codecs/test_codec_hostile.py::test_keys_and_elements_of_one_hash_are_refused",
    ),
]


# Every case of a test, including nightly ones: by day, the only flavour that runs may not reach the broken line.
_EVERY_CASE = ("-m", "")
_ALL_SECONDS, _NONE_SELECTED = 3600, 5


def broken_tree(where: Path, mutation: Mutation | None) -> Path:
    """A copy of the tree, with one line broken, and the generated package made of it."""
    for name in ("redisson_dq", "tests", "interop", "docs", ".ci", "pyproject.toml", "README.md"):
        source = ROOT / name
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "target")
            shutil.copytree(source, where / name, ignore=ignored)
        else:
            shutil.copy(source, where / name)
    if mutation is not None:
        path = where / mutation.path
        text = path.read_text("utf-8")
        assert text.count(mutation.line) == 1, f"{mutation.path} has {text.count(mutation.line)} times: {mutation.line}"
        path.write_text(text.replace(mutation.line, mutation.broken), "utf-8")
        subprocess.run([sys.executable, ".ci/unasync.py"], cwd=where, check=True, stdout=subprocess.DEVNULL)
    return where


def run_tests(tree: Path, tests: Iterable[str], *cases: str, seconds: int = 300) -> subprocess.CompletedProcess[str]:
    options = ["-q", "-x", "--no-header", "-p", "no:cacheprovider", *cases]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    # A wait that never ends is a failure too. The bound is far above what the slowest of these tests needs.
    return subprocess.run(
        ["timeout", "--kill-after=10", str(seconds), *command],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="the mutations whose name has this in it")
    wanted = parser.parse_args().only
    chosen = [mutation for mutation in MUTATIONS if wanted in mutation.name]
    with tempfile.TemporaryDirectory() as place:
        # The cases of the day are enough to see that the tests pass, where a test has some.
        whole, tests = broken_tree(Path(place), None), sorted({mutation.test for mutation in chosen})
        done = run_tests(whole, tests, seconds=_ALL_SECONDS)
        if done.returncode == _NONE_SELECTED:
            done = run_tests(whole, tests, *_EVERY_CASE, seconds=_ALL_SECONDS)
        if done.returncode != 0:
            sys.exit(f"the tests fail without any mutation:\n{done.stdout}{done.stderr}")
    unnoticed = 0
    for mutation in chosen:
        with tempfile.TemporaryDirectory() as place:
            done = run_tests(broken_tree(Path(place), mutation), [mutation.test], *_EVERY_CASE)
        # 1: tests failed. 124: a test waited for an event that never came. Any other code says nothing about the test.
        is_noticed = done.returncode in (1, 124)
        unnoticed += not is_noticed
        print(f"{'noticed' if is_noticed else 'NOT NOTICED'}: {mutation.name} ({mutation.test})", flush=True)
        if not is_noticed and done.returncode != 0:
            print(done.stdout, done.stderr, sep="\n")
    if unnoticed:
        sys.exit(f"{unnoticed} of {len(chosen)} mutations were not noticed")


if __name__ == "__main__":
    main()
