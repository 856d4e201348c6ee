"""What a lease is for its holder: the delivery, and what keeps it alive. The calls that receive are in queues/."""
