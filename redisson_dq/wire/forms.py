"""The forms in which this library stores data in Redis, each with its versions, and the error for a newer one.

Two versions of the library run side by side in every deployment. So each form has a number, and a reader knows a number
that is newer than its own:

- A text in form 1 begins with a digit or with one letter and a space. Any other form begins with ``v``, its number and
  a space, whatever follows: ``v2 ...``. ``scripts/include/forms.lua`` looks for that.
- The form of an entry is the length of its id, its first byte. A newer form has a longer id than any before.
- A rule of a recurring offer is JSON, and its field ``v`` is the number.

A key whose form is not in this table has one form for good. A change that needs another one takes another key, another
field or another first letter, which older versions do not touch.

**To change a form:** docs/wire-versions.md. ``tests/integration/names/test_forms.py`` has samples of
each, and fails when a form changes under its old number.
"""

from __future__ import annotations

import logging
import re

import attrs

__all__ = ["FORMS", "TOLD", "Form", "newer_form", "newer_text", "tell_newer"]

logger = logging.getLogger("redisson_dq")

_NEWER = re.compile(rb"v(\d{1,9}) ")
#: The warnings that this process has logged: the key, its name and the form.
TOLD: set[tuple[str, str, int]] = set()
_MOST_TOLD = 10_000


@attrs.frozen
class Form:
    """The form of one key, or of one kind of its fields: the newest version that is read, and the one that is written.

    A new form is read by one release and written by the next, or where an option asks for it.
    """

    what: str
    reads: int
    writes: int


#: By the name of the key in QueueKeys or DeadKeys. The forms of entries are the lengths of their ids.
FORMS = {
    "timeout": Form("an entry", reads=10, writes=10),
    "records": Form("a record of an item", reads=1, writes=1),
    "deliveries": Form("a record of a delivery", reads=1, writes=1),
    "dead_info": Form("a dead letter", reads=1, writes=1),
    # Form 2 is for offers with missed=.
    "recurring": Form("the rule of a recurring offer", reads=2, writes=1),
}
# Entries that were set aside are in a key of their own.
_WHAT = {name: form.what for name, form in FORMS.items()} | {"newer": FORMS["timeout"].what}
_READS = {name: form.reads for name, form in FORMS.items()} | {"newer": FORMS["timeout"].reads}


def newer_form(text: bytes) -> int | None:
    """The number of a text that a newer version wrote; None for any other text."""
    found = _NEWER.match(text)
    return int(found[1]) if found else None


def newer_text(queue: str, key: str, name: str, form: int | None) -> str:
    """The error for data in a newer form. ``name`` is that of the key in :data:`FORMS`."""
    return (
        f"queue {queue!r}: the key {key!r} holds {_WHAT[name]} in form {form}, which a newer version of redisson-dq "
        f"wrote; this one reads forms up to {_READS[name]}. It was left as it is. Upgrade this client"
    )


def tell_newer(queue: str, key: str, name: str, form: int | None) -> None:
    """Logs an error, once a process for each key and form."""
    told = (key, name, form or 0)
    if told not in TOLD:
        if len(TOLD) >= _MOST_TOLD:
            TOLD.clear()
        TOLD.add(told)
        logger.error("%s", newer_text(queue, key, name, form))
