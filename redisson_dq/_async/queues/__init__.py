"""The handles that users hold: one class for each kind of queue. Calls that wait are apart from those that do not.

A handle sends requests. Their arguments are checked, and their values encoded, in ``calls/``.
"""
