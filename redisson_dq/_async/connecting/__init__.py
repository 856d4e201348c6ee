"""From a request to its reply: which node, which connection, many at a time, errors explained; the subscription.

The words of requests are in ``wire/``. Waiting for values is in ``receiving/``.
"""
