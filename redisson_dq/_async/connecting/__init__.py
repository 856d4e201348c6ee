"""From a request to its reply: which node, which connection, many at a time, errors explained; the subscription.

What a request says is in ``wire/``. What waits for values is in ``receiving/``.
"""
