"""A mark for a mapping that has the fields of an attrs class."""

from __future__ import annotations

__all__ = ["Of"]


class Of:
    """The mark of a mapping that ``fields_of`` of ``redisson_dq.cli.frame`` makes: the fields of an attrs class.

    ``properties`` are properties of the class that are beside them. ``types`` are fields that are added, or that are
    written in another way::

        Annotated[dict[str, Any], Of(Memory, "used", "total")]

    A type of ``types`` may be ``Annotated`` with its description.
    """

    def __init__(self, kind: type, *properties: str, **types: object) -> None:
        self.kind, self.properties, self.types = kind, properties, types
