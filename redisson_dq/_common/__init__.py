"""Parts that all three areas share: texts of errors, signatures, lazy imports, the guard of the log.

Nothing here knows about queues, Redis or codecs, and nothing here imports any part of the library except ``errors``.
"""
