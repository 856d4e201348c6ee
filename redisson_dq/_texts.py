"""Texts for exceptions and objects of users' code."""

from __future__ import annotations

__all__ = ["described"]


def described(value: object) -> str:
    """The class and the text of an exception or another object. A user's class may fail to give a text."""
    name = type(value).__name__
    try:
        return f"{name}: {value}"
    except BaseException as failure:
        return f"{name}, whose text cannot be had ({type(failure).__name__})"
