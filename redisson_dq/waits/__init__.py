"""Decides how callers wait for values: who is next, which command is sent, what is put back. No I/O.

* ``line.py`` has the callers, in their order. Start there, with :class:`Waiter` and :class:`Lifeline`.
* ``engine.py`` waits on a source with a connection of its own: a generator, whose steps are in ``steps.py``.
  ``asking.py`` has its commands beside the blocking one.
* ``watched.py`` waits on a source that shares a connection, ``rotation.py`` on several such sources for one line.
* ``troubles.py`` has what both do when values go back, and when Redis refuses or is away.
* ``debts.py`` has the requests whose replies were lost.

A *pop* takes a value out of its list. A *lease* is taken in two steps: the blocking command sets the value aside in
another list, and a request sent *behind* it gives the lease. A *look* is a request that does not block. It finds what
is ready, and what was set aside.

Time is an argument. The mutex, the inbox and the promises are handed in. Commands, connections and background tasks
belong in ``_async/receiving/``, which carries out the decisions: ``receiver.py`` serves the callers, ``pump.py`` the
engine, ``lookout.py`` and ``clerk.py`` the watched sources, and ``put_backs.py`` sends values back to their queue.

**A caller is cancelled while a reply is under way.** What happens to the value?

1. The caller says that it leaves (:meth:`Waiter.leave`). One that vanishes without notice drops its :class:`Lifeline`,
   and the :class:`Farewell` reports the same. A background task takes it out of the line (``Receiver.gone``,
   :meth:`Line.leave`).
2. The command is not cancelled with it. No caller reads the connection, the pumper does (:meth:`WaitEngine.run`). When
   nobody else waits, the blocking command is ended from another connection (:meth:`WaitEngine.end`). Redis then
   replies with nothing, or with the value that it had taken by then.
3. The pumper reads the reply and gives the value to the next caller (:meth:`Line.give`). When there is none, the value
   becomes surplus (``WaitEngine._give``). It goes back to where it came from before any other command is sent
   (``Troubles._put_back``), unless a caller comes first and takes it.
4. The value came first: the caller has its answer, and has not kept it (:meth:`Lifeline.keep`). Then :meth:`Line.leave`
   gives the value back, and it goes on as in 3. A value that was kept is the caller's, until an interrupted call lets
   go of it (:meth:`Lifeline.let_go`).
5. The connection breaks under the reply. A request that can be repeated is owed until its reply was read
   (``debts.py``). The next connection sends it again, and gets the same value. A plain pop cannot be repeated: a value
   in a reply that is lost is lost. docs/guarantees.md says so.
6. A caller that sends its own request (``receiving/looks.py``) leaves the request to the debts
   (:meth:`Debts.leave_request`). It is sent again, and its values go on as in 3.
7. A source shares its connection: the lookout reads the reply, and :meth:`SharedSources.settle` gives the value out, or
   puts it away. A connection that breaks leaves the request to the debts too (:meth:`WatchedSource.lose_at`).
"""
