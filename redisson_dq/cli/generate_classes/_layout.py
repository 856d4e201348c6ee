"""Lays code out as ``ruff format`` does at its own line length. Only for such code as these modules consist of."""

from __future__ import annotations

import re

__all__ = ["field_line", "fitted"]

_WIDTH = 88
_INDENT = 4
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[\[({]|[\])}]|, ')


def fitted(code: str, *, indent: int = 0, before: int = 0, after: int = 0) -> str:
    """Code that ends with a bracket: on one line if it fits there, else the bracket's content on lines of its own.

    ``before`` and ``after`` are the columns of the text on these lines.
    """
    if before + len(code) + after <= _WIDTH:
        return code
    head, items, tail = _last_bracket(code)
    inner = indent + _INDENT
    margin = "\n" + " " * inner
    if not items:
        return code
    display = tail == "}" or head.endswith("=[")  # a dict or a list: each item on a line of its own
    if len(items) == 1 and not display:
        body = fitted(items[0], indent=inner, before=inner)
    elif inner + len(", ".join(items)) <= _WIDTH and not display:
        body = ", ".join(items)
    else:
        body = margin.join(fitted(item, indent=inner, before=inner, after=1) + "," for item in items)
    return head + margin + body + "\n" + " " * indent + tail


def field_line(name: str, annotation: str, value: str | None) -> str:
    """A field in a class's body, without the indent of its first line."""
    tail = "" if value is None else f" = {value}"
    if _INDENT + len(f"{name}: {annotation}{tail}") <= _WIDTH:
        return f"{name}: {annotation}{tail}"
    inner = 2 * _INDENT
    margin = "\n" + " " * inner
    call, bracket, arguments = (value or "").partition("(")
    if bracket and _INDENT + len(f"{name}: {annotation} = {call}(") <= _WIDTH:
        return f"{name}: {annotation} = {call}({margin}{arguments[:-1]}\n{' ' * _INDENT})"
    if value is not None and _INDENT + len(f"{name}: {annotation} = (") <= _WIDTH:
        return f"{name}: {annotation} = ({margin}{value}\n{' ' * _INDENT})"
    if inner + len(annotation) > _WIDTH:
        bare = annotation.removesuffix(" | None")
        annotation = fitted(bare, indent=inner, before=inner) + (f"{margin}| None" if bare != annotation else "")
    return f"{name}: ({margin}{annotation}\n{' ' * _INDENT}){tail}"


def _last_bracket(code: str) -> tuple[str, list[str], str]:
    """The code up to its last bracket and with it, the items in there, and the closing bracket. No items if there is
    no bracket, or none at the end."""
    depth, cuts = 0, [0]
    for token in _TOKEN.finditer(code):
        if token[0] in "[({":
            depth += 1
            if depth == 1:
                cuts = [token.end()]
        elif token[0] in "])}":
            depth -= 1
        elif token[0] == ", " and depth == 1:
            cuts.append(token.end())
    if not code.endswith(("]", ")", "}")):
        return code, [], ""
    ends = [*(cut - len(", ") for cut in cuts[1:]), len(code) - 1]
    return code[: cuts[0]], [item for cut, end in zip(cuts, ends, strict=True) if (item := code[cut:end])], code[-1]
