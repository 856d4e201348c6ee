"""The line of callers that wait for values, and the commands of their connection: decisions without I/O.

Here belong the line of callers, the engines of the ways to wait, and the debts of lost replies. ``engine.py`` is for a
source with a connection of its own: a generator, whose steps are in ``steps.py``. ``watched.py`` is for sources that
share a connection. Time is an argument. The mutex, the inbox and the promises are handed in. Commands, connections and
background tasks belong in ``_async/receiving/``, which carries out the decisions.
"""
