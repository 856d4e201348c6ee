"""``pickle`` and ``copy``, which an object with connections cannot answer."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["Bound"]


class Bound:
    """A base of all objects that belong to the connections of one client, and so to one process."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"this {type(self).__name__} belongs to the connections of its process, and cannot be pickled or "
            "copied: pass on the URL and the names, and open it where it is used, as with connect(url)"
        )
