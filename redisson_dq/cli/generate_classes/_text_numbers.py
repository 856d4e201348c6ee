"""The numbers that annotations of Jackson write as texts."""

from __future__ import annotations

import re

from redisson_dq.cli.generate_classes._annotations import Annotation, AnnotationsByName
from redisson_dq.cli.generate_classes._classfile import Member
from redisson_dq.codecs.jackson.text_numbers import NUMBERS
from redisson_dq.java.arrays import PRIMITIVE_NAMES

__all__ = ["writes_text"]

_TO_STRING = re.compile(r"(com\.fasterxml|tools)\.jackson\.databind\.ser\.std\.ToStringSerializer")
#: A collection or map whose last type argument is a class without arguments.
_ELEMENT = re.compile(r"Ljava/util/[\w$]+<(?:.*;)?L([^;<>]+);>;")


def writes_text(annotations: AnnotationsByName, member: Member) -> bool:
    """Whether the numbers of this field, or those in it, are written as texts."""
    said = annotations.get("JsonFormat")
    if said is not None:
        is_number = _name(member.descriptor) in NUMBERS
        return is_number and said.values.keys() == {"shape"} and said.text("shape") == "STRING"
    said = annotations.get("JsonSerialize", Annotation(""))
    if said.values.keys() == {"using"}:
        return _TO_STRING.fullmatch(said.text("using")) is not None and _name(member.descriptor) in NUMBERS
    if said.values.keys() == {"contentUsing"}:
        element = _ELEMENT.fullmatch(member.signature or "")
        is_number = element is not None and _name(f"L{element[1]};") in NUMBERS
        return is_number and _TO_STRING.fullmatch(said.text("contentUsing")) is not None
    return False


def _name(descriptor: str) -> str:
    return PRIMITIVE_NAMES.get(descriptor) or descriptor[1:-1].replace("/", ".")
