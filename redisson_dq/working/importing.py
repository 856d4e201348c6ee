"""Whether a module is imported for the sake of its worker, which the module must not start meanwhile."""

from __future__ import annotations

import contextvars

__all__ = ["is_importing"]

#: Set by ``redisson-dq worker``. A worker that ran would keep the import from its end.
is_importing: contextvars.ContextVar[bool] = contextvars.ContextVar("redisson_dq_importing", default=False)
