"""Parts that handles share with their requests and pipelines do not use: keys, values as bytes, sources, parts of
requests.

A side is one queue as a handle has it open: its ready side or its delayed side.
"""
