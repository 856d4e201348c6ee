"""Operations for tools that look at queues and repair them: the command line, the dashboard, and yours.

    admin = Admin(client)
    for part in admin.parts("orders", partitions=4):
        print(part.name, part.time_ms(), part.is_paused())

:class:`Admin` has the servers of a client: nodes, clocks, rights, names of queues. :class:`AdminQueue` is one queue:
pages of its items, actions on batches, contents as they are stored in Redis. Both are for threads only.

``entries`` has the types of arguments and results, and parses the bytes of entries. ``refusals`` explains why Redis
refuses a command. ``names`` has names of servers and queues. The programs for operators import only this package and
public handles, values and codecs: ``tests/unit/test_imports.py`` checks that.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redisson_dq.admin.queues import AdminQueue
    from redisson_dq.admin.servers import AdminServers, CommandProbe, KeyCommand, Node
    from redisson_dq.admin.whole import Admin, RawQueues
else:
    from redisson_dq._common.lazy import lazily

    __getattr__, __dir__ = lazily(
        __name__,
        {
            "queues": ("AdminQueue",),
            "servers": ("KeyCommand", "Node", "CommandProbe", "AdminServers"),
            "whole": ("Admin", "RawQueues"),
        },
    )

__all__ = ["Admin", "AdminQueue", "KeyCommand", "Node", "CommandProbe", "RawQueues", "AdminServers"]
