"""From a request to its reply: which node, which connection, many at a time, errors explained; the subscription."""
