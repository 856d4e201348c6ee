"""Texts of what users' code gives."""

from __future__ import annotations

__all__ = ["described"]


def described(error: BaseException) -> str:
    """The class and the text of an exception. A class of a user's may fail to give a text."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception as failure:
        return f"{name}, whose text cannot be had ({type(failure).__name__})"
