"""Whether a module is imported for the sake of its worker, which the module must not start meanwhile."""

from __future__ import annotations

import contextvars

__all__ = ["is_importing"]

#: Set by ``redisson-dq worker``. A worker that ran would hold up the end of the import.
is_importing: contextvars.ContextVar[bool] = contextvars.ContextVar("redisson_dq_importing", default=False)
