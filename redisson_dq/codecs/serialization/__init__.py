"""Java's own serialization: the stream's grammar, and above it the meaning of its classes.

==============================  ==================================================================================
stream, reader, writer, utf     the protocol: bytes <-> neutral contents
descriptors                     facts of the JDK: its class descriptors
registry                        the handlers, one for each JDK class, from scalars, times, lists, views and others
declared, throwables, fitting   the user's classes, exceptions, values for places whose type is declared
decoder, encoder                contents <-> Python values, by these
codec, embedded                 a stream as a whole value, and as a part of another codec's bytes (Kryo's
                                JavaSerializer)
==============================  ==================================================================================
"""

from redisson_dq.codecs.serialization.codec import SerializationCodec
from redisson_dq.codecs.serialization.embedded import ReadState, WriteState, read_object, write_object

__all__ = ["ReadState", "SerializationCodec", "WriteState", "read_object", "write_object"]
