"""Happenings of a client, the observers that get them, and the log.

    def watch(happening):
        match happening:
            case Moved(queue=queue, count=count, late_by=late_by):
                print(f"{queue}: {count} items moved, {late_by} late")

    client = redisson_dq.connect("redis://localhost:6379/0", observer=watch)

Each kind of happening is a frozen class, and is made at one place. A place that is passed often makes it only where
somebody watches. Metrics, traces and displays are observers, and do not belong here.

The ways to follow what a client does:

* An **observer** gets happenings, after the fact. The log is one that is always there.
* A **tally** is an observer in the same list that gets numbers instead of objects, for places where each value costs.
* An **interceptor** (``operations.py``) is called where an operation begins, in its thread or task, and again where it
  ends. A trace needs that: it is the parent of what the operation does, and it may put a context into an offer.
* The **hooks** of a worker (``working/hooks.py``) are the user's functions for the happenings of one worker. They are
  handed on to the observers of its client too.
"""

from redisson_dq.observing import happenings
from redisson_dq.observing.happenings import *
from redisson_dq.observing.observers import Observer, Observers, Tally
from redisson_dq.scheduling.engine import Role

__all__ = ["Observer", "Observers", "Role", "Tally"]
__all__ += happenings.__all__
