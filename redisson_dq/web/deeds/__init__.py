"""Actions on items: selected and counted first, then carried out, and undone on request.

The life of one action in the dashboard belongs here. Its pages are in ``web/actions.py`` and ``web/views.py``, and
the work on items is done in ``mending/``. Nothing here depends on HTTP.

- ``kinds.py`` is the table of all kinds of actions, and one action with its figures.
- ``ledger.py`` lists the actions of one dashboard, and moves each from one state to the next.
- ``choosing.py`` finds the items, ``acting.py`` acts on them and puts them back, ``offering.py`` makes new values.
- ``auditing.py`` writes the log of actions.

A deed has these states:

============  ======================================================================================================
``choosing``  a walk looks for the items; ``met`` and ``wanted`` grow
``ready``     the exact number is known, and the items are kept by their bytes; nothing was changed
``acting``    batch after batch is acted on; ``done`` grows. An item that has changed since it was chosen is left
``done``      it ended; ``can_undo`` where an undo file has it
``undoing``   the undo goes on
``undone``    the undo ended; ``undone`` of them were put back
``failed``    ``error`` says why. The part that was done can be undone
``dropped``   nobody carried it out within ten minutes, or somebody dropped it
============  ======================================================================================================
"""

from redisson_dq.web.deeds.kinds import KINDS, DeedKind, WebDeed
from redisson_dq.web.deeds.ledger import Deeds

__all__ = ["KINDS", "DeedKind", "Deeds", "WebDeed"]
