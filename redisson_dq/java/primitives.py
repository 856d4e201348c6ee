"""Java's primitive types, for the fields of declared classes: ``count: java.long``."""

from __future__ import annotations

import builtins
from typing import Annotated

from redisson_dq.java.signatures import JavaType

__all__ = ["boolean", "byte", "char", "double", "float", "int", "long", "short"]

boolean = Annotated[builtins.bool, JavaType("boolean")]
byte = Annotated[builtins.int, JavaType("byte")]
char = Annotated[builtins.str, JavaType("char")]
short = Annotated[builtins.int, JavaType("short")]
long = Annotated[builtins.int, JavaType("long")]
double = Annotated[builtins.float, JavaType("double")]
# These two hide the built-in names from here on.
float = Annotated[builtins.float, JavaType("float")]
int = Annotated[builtins.int, JavaType("int")]
