"""One typed function for each script: its arguments, and the meaning of its reply. Each subject has a module."""

from redisson_dq.wire.calls.admission import *
from redisson_dq.wire.calls.any_keys import *
from redisson_dq.wire.calls.browsing import *
from redisson_dq.wire.calls.inspecting import *
from redisson_dq.wire.calls.mending import *
from redisson_dq.wire.calls.moving import *
from redisson_dq.wire.calls.putting_back import *
