package io.redissondq.interop;

import org.redisson.api.RBlockingDeque;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RBoundedBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RDeque;
import org.redisson.api.RQueue;

/** The interfaces that Redisson gives to a queue. */
@SuppressWarnings("deprecation")
enum QueueKind {
    DELAYED(RDelayedQueue.class),
    QUEUE(RQueue.class),
    BLOCKING_QUEUE(RBlockingQueue.class),
    DEQUE(RDeque.class),
    BLOCKING_DEQUE(RBlockingDeque.class),
    BOUNDED(RBoundedBlockingQueue.class);

    final Class<?> type;

    QueueKind(Class<?> type) {
        this.type = type;
    }
}
