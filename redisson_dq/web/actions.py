"""The views of actions: the list of all actions, one action that is counted, carried out or undone, and the available
kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

import attrs

from redisson_dq.web.deeds import KINDS, WebDeed
from redisson_dq.web.masks import Masks

__all__ = ["ActionChoice", "ActionView", "ActionsView", "action", "actions", "choices"]

_GOES_ON = ("choosing", "acting", "undoing")


@attrs.frozen(kw_only=True)
class ActionChoice:
    """An action that the user may start here, by a POST to ``links.act(queue)``.

    The form has ``token`` (``site.form_token``), ``action`` (its ``name``), ``state``, and ``id`` once for each item,
    or ``filter``, or ``all=1``. An ``item`` is an id as escaped in paths, which browsers leave unchanged. ``needs``
    names further fields: ``when`` takes a moment (``2026-11-25T09:00:00Z``, epoch ms) or a span (``+5m``, ``-5m``). The
    response is a redirect to the page of the action. That page has the exact count, and nothing is changed before its
    form is posted.
    """

    name: str
    label: str
    right: str
    needs: tuple[str, ...]
    can_undo: bool


@attrs.frozen(kw_only=True)
class ActionView:
    """One action. ``status`` is ``choosing``, ``ready``, ``acting``, ``done``, ``undoing``, ``undone``, ``failed`` or
    ``dropped``.

    ``wanted`` is the exact count once it is ``ready``. ``met`` is how many items were examined, of ``total`` in that
    state when the search began; 0 if unknown. ``done`` items were changed; ``left`` counts the skipped ones by reason.
    ``undone`` were restored. ``problems`` lists ids that name no such item. ``away`` says why it is interrupted: Redis
    is away. ``is_final``: it has no undo. ``goes_on``: ask again in a second. Forms with ``token`` go to
    ``links.action(id, step)``: ``can_do`` is the step ``do``, ``can_undo`` the step ``undo``, ``can_drop`` the step
    ``drop``, which also ends a running action between two batches.
    """

    id: str
    name: str
    label: str
    past: str
    queue: str
    state: str
    filter: str
    ids: tuple[str, ...]
    when: str
    user: str
    at: datetime
    status: str
    wanted: int
    met: int
    total: int
    done: int
    undone: int
    left: Mapping[str, int]
    problems: tuple[str, ...]
    error: str
    away: str
    is_final: bool
    undo_file: str
    goes_on: bool
    can_do: bool
    can_undo: bool
    can_drop: bool


@attrs.frozen(kw_only=True)
class ActionsView:
    """All actions of this dashboard on queues that the user may see, the last one first."""

    rows: tuple[ActionView, ...]


_LEFT = {
    "gone": "moved, taken or changed meanwhile",
    "newer": "recorded by a newer version of the library",
    "unreadable": "in no known format",
    "there": "in the queue as before",
    "again": "offered again since, with an equal id",
    "unsure": "nothing tells whether it was done",
    "ended": "past the end of the lease",
    "lined": "of a queue with keys or limits, where another value has the turn",
}
_MOST_IDS = 20


def action(deed: WebDeed, rights: Collection[str], masks: Masks) -> ActionView:
    """The view of one action. ``rights`` are the user's over its queue."""
    may = deed.kind.right in rights
    return ActionView(
        id=deed.id,
        name=deed.kind.name,
        label=deed.kind.verb,
        past=deed.kind.past,
        queue=deed.queue,
        state=deed.state,
        filter=masks.filter(deed.filter),
        ids=deed.ids[:_MOST_IDS],
        when=deed.when,
        user=deed.user,
        at=deed.at,
        status=deed.status,
        wanted=deed.wanted,
        met=deed.met,
        total=max(deed.total, deed.met) if deed.total else 0,
        done=deed.done,
        undone=deed.undone,
        left={_LEFT.get(reason, reason): count for reason, count in deed.left.items()},
        problems=deed.problems[:_MOST_IDS],
        error=deed.error,
        away=deed.away,
        is_final=not deed.kind.can_undo,
        undo_file="" if deed.undo_file is None else deed.undo_file.name,
        goes_on=deed.status in _GOES_ON,
        can_do=may and deed.status == "ready" and deed.wanted > 0,
        can_undo=may and deed.can_undo,
        can_drop=may and deed.status in ("ready", *_GOES_ON),
    )


def actions(deeds: list[WebDeed], rights: Mapping[str, Collection[str]], masks: Masks) -> ActionsView:
    """The list. ``rights`` are the user's over each queue."""
    return ActionsView(
        rows=tuple(action(each, rights[each.queue], masks) for each in deeds if "view" in rights.get(each.queue, ()))
    )


def choices(state: str, rights: Collection[str]) -> tuple[ActionChoice, ...]:
    """The actions on items in a state, or on a queue (``queue``), that a user may start."""
    return tuple(
        ActionChoice(name=each.name, label=each.verb, right=each.right, needs=each.needs, can_undo=each.can_undo)
        for each in KINDS.values()
        if state in each.states and each.right in rights
    )
