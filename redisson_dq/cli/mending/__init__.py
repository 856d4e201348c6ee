"""The commands that change items: ``cancel``, ``reschedule``, ``run-now``, ``pause``, ``resume``, ``dead``,
``quarantine``, ``undecodable``, ``release``, ``ack`` and ``undo``.

Each module has one command. ``_choosing.py`` has the options that select items. ``_doing.py`` has the steps from the
count to the summary. The work is done in ``redisson_dq.mending``.
"""
