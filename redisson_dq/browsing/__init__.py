"""Reads the items of a queue in any state, page by page. It changes nothing, and starts nothing.

Reading pages, recognising the codec of a value, showing values and filtering items belong here. The commands
``queues``, ``list``, ``show`` and ``peek`` use it, and so may a web page. Nothing here parses the arguments of a
command or prints. Each script reads at most 500 entries and about 1 MB, however many there are.

- ``overviews.py`` lists the queues of a server; the partitions of a queue count as one.
- ``nodes.py`` detects a server that is one node of a cluster.
- ``partitions.py`` finds how many partitions a queue has.
- ``pages.py`` reads one page of the items in a state. ``rows.py`` is one item. ``one.py`` finds one item by its id.
- ``recognising.py`` says which codecs may have written some bytes, and how sure that is.
- ``values.py`` decodes a value, and turns it into plain mappings, lists and scalars.
- ``timelines.py`` counts items by their due times.
- ``filters.py`` reads a filter such as ``order.id = 42 and late > 5m``, and applies it to a row.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redisson_dq.browsing.filters import Filter, FilterError
    from redisson_dq.browsing.nodes import cluster_url
    from redisson_dq.browsing.one import TooFar, find_row
    from redisson_dq.browsing.overviews import Overview, figures_of, grouped, overview
    from redisson_dq.browsing.pages import SeenPage, browse, cursor_at, names_of_parts
    from redisson_dq.browsing.partitions import exists, partitions_of
    from redisson_dq.browsing.recognising import Candidate, recognise
    from redisson_dq.browsing.rows import STATES, SeenIn, SeenItem, SeenOn
    from redisson_dq.browsing.timelines import SPANS, DueTimes, due_times
    from redisson_dq.browsing.values import DecodedValue, ValueReader
else:
    from redisson_dq._common.lazy import lazily

    # A caller that only reads figures needs no codecs.
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "filters": (
                "Filter",
                "FilterError",
            ),
            "nodes": ("cluster_url",),
            "one": (
                "TooFar",
                "find_row",
            ),
            "overviews": (
                "Overview",
                "figures_of",
                "grouped",
                "overview",
            ),
            "pages": (
                "SeenPage",
                "browse",
                "cursor_at",
                "names_of_parts",
            ),
            "partitions": ("exists", "partitions_of"),
            "recognising": (
                "Candidate",
                "recognise",
            ),
            "rows": (
                "STATES",
                "SeenIn",
                "SeenOn",
                "SeenItem",
            ),
            "timelines": (
                "SPANS",
                "DueTimes",
                "due_times",
            ),
            "values": (
                "DecodedValue",
                "ValueReader",
            ),
        },
    )

__all__ = [
    "SPANS",
    "STATES",
    "Candidate",
    "DecodedValue",
    "DueTimes",
    "Filter",
    "FilterError",
    "SeenIn",
    "SeenOn",
    "Overview",
    "SeenPage",
    "SeenItem",
    "TooFar",
    "ValueReader",
    "browse",
    "cluster_url",
    "cursor_at",
    "due_times",
    "exists",
    "figures_of",
    "find_row",
    "grouped",
    "names_of_parts",
    "overview",
    "partitions_of",
    "recognise",
]
