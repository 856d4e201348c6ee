"""JBoss Marshalling, protocol "river", as Redisson before 3.19 wrote values by default.

======  ==========================================================================================================
ids     the lead bytes of the protocol, and the classes that have one
reader  bytes -> the neutral contents of ``codecs.serialization.stream``
writer  those contents -> bytes
codec   a whole value
======  ==========================================================================================================

The meaning of the contents, which classes there are and how Python holds them, is that of Java's serialization:
``codecs.serialization`` reads and writes both.
"""

from redisson_dq.codecs.marshalling.codec import MarshallingCodec

__all__ = ["MarshallingCodec"]
