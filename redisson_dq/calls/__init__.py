"""Every call of a queue, once: arguments checked, values encoded, script or command, reply read. Nothing is sent.

The handles of both flavours send a call as it is made here. A pipeline collects what ``requests`` of a handle makes,
and sends it together. Scripts that no call of a queue sends are in ``wire/calls``.
"""
