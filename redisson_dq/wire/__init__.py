"""What stands in Redis, byte by byte: keys, envelopes, requests. Nothing here does I/O."""
