"""The names from the semantic conventions for messaging that this package uses, and its own names.

The package ``opentelemetry-semantic-conventions`` has them too. Its names change while the conventions are in
development, so it is not a dependency: a test compares the names.
"""

from __future__ import annotations

__all__ = [
    "ATTEMPT",
    "BATCH_COUNT",
    "BUCKETS",
    "CONSUMED",
    "DELIVERY_ID",
    "DESTINATION",
    "ERROR_TYPE",
    "HANDLER",
    "MESSAGE_ID",
    "OPERATION_DURATION",
    "OPERATION_NAME",
    "OPERATION_TYPE",
    "OUTCOME",
    "PARTITION",
    "PROCESS_DURATION",
    "SENT",
    "SERVER_ADDRESS",
    "SERVER_PORT",
    "SYSTEM",
    "SYSTEM_NAME",
]

# -- attributes of the conventions -----------------------------------------------------------------------------------

SYSTEM = "messaging.system"
OPERATION_NAME = "messaging.operation.name"
OPERATION_TYPE = "messaging.operation.type"
DESTINATION = "messaging.destination.name"
PARTITION = "messaging.destination.partition.id"
MESSAGE_ID = "messaging.message.id"
BATCH_COUNT = "messaging.batch.message_count"
ERROR_TYPE = "error.type"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"

# -- metrics of the conventions --------------------------------------------------------------------------------------

OPERATION_DURATION = "messaging.client.operation.duration"
SENT = "messaging.client.sent.messages"
CONSUMED = "messaging.client.consumed.messages"
PROCESS_DURATION = "messaging.process.duration"

#: The buckets that the conventions recommend for both durations, in seconds.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)

# -- names of our own ------------------------------------------------------------------------------------------------

#: The conventions define no name for Redisson's queues.
SYSTEM_NAME = "redisson"

ATTEMPT = "redisson_dq.delivery.attempt"
DELIVERY_ID = "redisson_dq.delivery.id"
HANDLER = "redisson_dq.handler"
OUTCOME = "redisson_dq.outcome"
