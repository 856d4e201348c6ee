"""The dashboard: web pages that show queues, and on request change them. ``redisson-dq dashboard`` serves them.

    app = FastAPI()
    app.mount("/queues", redisson_dq.web.app(client, hosts=["shop.example.com"], auth=authorize))

It needs the extra ``dashboard``: Starlette, Jinja2, and uvicorn for the command.

Pages, the rights to see them, and the live stream belong here. Reading queues belongs in ``browsing/`` and ``doctor/``,
changing items in ``mending/``. Each view has one module without HTTP, which builds a frozen view-model. It is rendered
by ``templates/<view>.html`` and as JSON.

- ``application.py`` is the Starlette application, with the table of all routes. ``routing.py`` has one route and one
  request. ``views.py`` implements the routes. ``dashboard.py`` has their shared parts.
- ``frame.py`` is the frame of all pages, with the templates.
- ``serving.py`` is the port of the command, with its limits. ``logins.py`` keeps sessions and counts wrong passwords.
  ``lines.py`` is the log of actions, logins and refusals.
- ``guard.py`` checks hosts and origins, and sends the headers of every response. ``access.py`` has users and rights.
- ``fleet.py``, ``queue.py``, ``timeline.py``, ``items.py``, ``item.py``, ``doctor.py``, ``actions.py`` are the views.
- ``snapshots.py`` reads all queues at most once a second, and ``live.py`` sends the changes to all tabs.
- ``classes.py`` finds the classes of a sample of values, for the timeline.
- ``deeds/`` carries out actions. ``masks.py`` hides fields. ``paths.py`` writes names into URLs.
"""

from __future__ import annotations

import importlib.util

_MISSING = [name for name in ("starlette", "jinja2") if importlib.util.find_spec(name) is None]
if _MISSING:
    raise ModuleNotFoundError(
        f"redisson_dq.web needs {' and '.join(_MISSING)}: pip install starlette jinja2 uvicorn", name=_MISSING[0]
    )

from redisson_dq.web.access import Basic, Token  # noqa: E402 - after the check
from redisson_dq.web.application import app  # noqa: E402

__all__ = ["Basic", "Token", "app"]
