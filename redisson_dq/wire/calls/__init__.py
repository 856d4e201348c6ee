"""One typed function for each script: its arguments, and the meaning of its reply. Each subject has a module."""

from redisson_dq.wire.calls.admission import *
from redisson_dq.wire.calls.browsing import *
from redisson_dq.wire.calls.due import *
from redisson_dq.wire.calls.inspecting import *
from redisson_dq.wire.calls.items import *
from redisson_dq.wire.calls.leases import *
from redisson_dq.wire.calls.mending import *
from redisson_dq.wire.calls.migrating import *
from redisson_dq.wire.calls.moving import *
from redisson_dq.wire.calls.putting_back import *
from redisson_dq.wire.calls.recurring import *
from redisson_dq.wire.calls.rights import *
