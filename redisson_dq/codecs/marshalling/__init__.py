"""JBoss Marshalling, protocol "river", as Redisson before 3.19 wrote values by default.

======  ==========================================================================================================
ids     the lead bytes of the protocol, and the classes with a lead byte
reader  bytes -> the neutral contents of ``codecs.serialization.stream``
writer  those contents -> bytes
codec   a whole value
======  ==========================================================================================================

The contents have the same meaning as in Java's serialization: ``codecs.serialization`` turns both into Python values
and back.
"""

from redisson_dq.codecs.marshalling.codec import MarshallingCodec

__all__ = ["MarshallingCodec"]
