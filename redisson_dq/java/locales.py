"""``java.util.Locale``, with its parts as Java writes them."""

from __future__ import annotations

import re
from typing import ClassVar

import attrs

from redisson_dq.errors import ArgumentError

__all__ = ["Locale"]

_SUBTAG = re.compile("[a-z0-9]{2,8}")
_PRIVATE = re.compile("[a-z0-9]{1,8}")
#: By language, country and variant: the extension that Java adds.
_ADDED = {("ja", "JP", "JP"): "u-ca-japanese", ("th", "TH", "TH"): "u-nu-thai"}


def _lower(text: str) -> str:
    return "".join(sign.lower() if sign.isascii() else sign for sign in text)


def _upper(text: str) -> str:
    return "".join(sign.upper() if sign.isascii() else sign for sign in text)


def _text(owner: object, attribute: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str):
        raise ArgumentError(f"{attribute.name} of a Locale must be a text, not {value!r:.80}")


@attrs.frozen
class Locale:
    """``java.util.Locale``: ``Locale("de", "DE")``; its script and extensions in ``script``, ``extensions``.

    The parts get the form that Java gives them: ``Locale("DE", "de")`` is ``Locale("de", "DE")``. Java takes any text
    as a language, country or variant. Raises ArgumentError for a script or extensions that no Locale in Java has.
    """

    java_name: ClassVar[str] = "java.util.Locale"
    language: str = attrs.field(default="", validator=_text)
    country: str = attrs.field(default="", validator=_text)
    variant: str = attrs.field(default="", validator=_text)
    script: str = attrs.field(default="", validator=_text)
    extensions: str = attrs.field(default="", validator=_text)

    def __attrs_post_init__(self) -> None:
        assign = object.__setattr__
        assign(self, "language", _lower(self.language))
        assign(self, "country", _upper(self.country))
        if self.script:
            if re.fullmatch("[A-Za-z]{4}", self.script) is None:
                raise ArgumentError(f"the script of a Locale has four letters, as Latn, not {self.script!r:.80}")
            assign(self, "script", self.script.title())
        extensions = _extensions(_lower(self.extensions)) if self.extensions else ""
        assign(self, "extensions", extensions or ("" if self.script else self.added_extensions))

    @property
    def added_extensions(self) -> str:
        """The extensions that Java adds by itself for this language, country and variant."""
        return _ADDED.get((self.language, self.country, self.variant), "")


def _extensions(text: str) -> str:
    """The extensions in Java's order. Raises ArgumentError."""
    groups: dict[str, list[str]] = {}
    parts: list[str] = []
    for subtag in text.split("-"):
        is_private = "x" in groups
        if len(subtag) == 1 and not is_private:
            if subtag in groups:
                raise ArgumentError(f"a Locale with two extensions {subtag}")
            parts = groups[subtag] = []
        elif not groups or (_PRIVATE if is_private else _SUBTAG).fullmatch(subtag) is None:
            raise _ill_formed(text)
        else:
            parts.append(subtag)
    if any(not parts or not name.isalnum() or not name.isascii() for name, parts in groups.items()):
        raise _ill_formed(text)
    if "u" in groups:
        groups["u"] = _keywords(groups["u"], text)
    if "lvariant" in groups.get("x", ()):
        raise _ill_formed(text)  # Java makes a variant of it
    names = sorted(groups, key=lambda name: (name == "x", name))
    return "-".join("-".join((name, *groups[name])) for name in names)


def _keywords(parts: list[str], text: str) -> list[str]:
    """The attributes, then the keys with their types, in Java's order."""
    attributes: list[str] = []
    keys: dict[str, list[str]] = {}
    key = ""
    for part in parts:
        if len(part) == 2:
            key = part
            if key in keys:
                raise _ill_formed(text)
            keys[key] = []
        elif key:
            keys[key].append(part)
        else:
            attributes.append(part)
    return [*sorted(attributes), *(part for key in sorted(keys) for part in (key, *keys[key]))]


def _ill_formed(text: str) -> ArgumentError:
    return ArgumentError(f"{text[:80]!r} are not extensions of a Locale: use some such as u-co-phonebk or x-mine")
