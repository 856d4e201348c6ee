"""Parts that all three areas share: texts of errors, signatures, lazy imports, the guard of the log.

Nothing here knows queues, Redis or codecs, and nothing here imports a part of the library but ``errors``.
"""
