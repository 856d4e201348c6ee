"""The bytes of entries, and the results of operations on them: for tools that read and write contents themselves."""

from __future__ import annotations

from redisson_dq.calls.history import LONGEST_MS, MOST_EVENTS, OF_AN_ITEM, kept_in
from redisson_dq.calls.inspecting import figures_together
from redisson_dq.calls.items import Found, Page
from redisson_dq.wire.calls import DoneMark, DueSpans, Entry, ExchangeStep, FoundPage, Sampled, SampledHolder
from redisson_dq.wire.calls.mending import Aside, AsideAction, AsideKind, FoundAnywhere, Mended, Met, WaitingAction
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.envelope import Envelope, Quarantined, unwrap, wrap
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.leases import LeaseRecord

__all__ = [
    "Aside",
    "AsideAction",
    "AsideKind",
    "DoneMark",
    "DueSpans",
    "Entry",
    "Envelope",
    "ExchangeStep",
    "Found",
    "FoundAnywhere",
    "FoundPage",
    "LONGEST_MS",
    "LeaseRecord",
    "MOST_EVENTS",
    "Mended",
    "Met",
    "OF_AN_ITEM",
    "Page",
    "Quarantined",
    "QueueKeys",
    "Sampled",
    "SampledHolder",
    "WaitingAction",
    "figures_together",
    "kept_in",
    "unwrap",
    "whole_ms",
    "wrap",
]
