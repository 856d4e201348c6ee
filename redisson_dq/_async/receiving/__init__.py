"""Callers that wait for values or for room: their order, their connection, and the command that takes for them.

What is waited on, and which command that is, says a source in ``wire/``.
"""
