"""Callers that wait for values or for room: their order, their connection, and the command that takes for them.

A source in ``wire/`` names the lists and the command. ``waits/`` decides when the command is sent.
"""
