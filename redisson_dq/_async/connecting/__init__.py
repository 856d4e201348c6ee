"""The way of a request to its reply: finding the node and the connection, sending many at a time, explaining errors.
Also the subscription.

The words of requests are in ``wire/``. Waiting for values is in ``receiving/``.
"""
