"""Actions on items: chosen and counted first, then carried out, and taken back on request.

Here belongs the way of one action through the dashboard. Its pages are in ``web/actions.py`` and ``web/views.py``, and
the work on items is done in ``mending/``. Nothing here knows of HTTP.

- ``kinds.py`` is the table of all kinds of actions, and one action with its figures.
- ``ledger.py`` lists the actions of one dashboard, and lets each go on from one state to the next.
- ``choosing.py`` finds the items, ``acting.py`` acts on them and puts them back, ``offering.py`` makes new values.
- ``auditing.py`` writes the log of actions.

One deed goes through these states:

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
