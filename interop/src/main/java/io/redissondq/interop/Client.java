package io.redissondq.interop;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.Codec;
import org.redisson.config.BaseConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;
import org.redisson.config.SubscriptionMode;

/** A Redisson client with the delayed queues that it keeps open. */
@SuppressWarnings("deprecation")
final class Client implements AutoCloseable {
    /** An operation on a queue. */
    interface Use<Q, T> {
        T of(Q queue) throws Exception;
    }

    private final String address;
    private final boolean cluster;
    private final String prefix;
    private final RedissonClient redisson;
    private final Map<String, RDelayedQueue<Object>> opened = new ConcurrentHashMap<>();

    private Client(String address, boolean cluster, String prefix, RedissonClient redisson) {
        this.address = address;
        this.cluster = cluster;
        this.prefix = prefix;
        this.redisson = redisson;
    }

    /** A null codec means Redisson's own default. */
    static Client open(String address, boolean cluster, Codec codec, String prefix)
            throws ReflectiveOperationException {
        return new Client(address, cluster, prefix, connect(address, cluster, codec, prefix));
    }

    /** From a file of Redisson's settings. Such a client has no dump. */
    static Client configured(String file) throws ReflectiveOperationException, IOException {
        return new Client("", false, "", Redisson.create(Settings.load(file)));
    }

    RBlockingQueue<Object> ready(String queue) {
        return redisson.getBlockingQueue(queue);
    }

    /** Runs on the queue through one of its interfaces. */
    <T> T as(QueueKind kind, String queue, Use<RQueue<Object>, T> use) throws Exception {
        return switch (kind) {
            case DELAYED -> delayed(queue, use::of);
            case QUEUE -> use.of(redisson.getQueue(queue));
            case BLOCKING_QUEUE -> use.of(ready(queue));
            case DEQUE -> use.of(redisson.getDeque(queue));
            case BLOCKING_DEQUE -> use.of(redisson.getBlockingDeque(queue));
            case BOUNDED -> use.of(redisson.getBoundedBlockingQueue(queue));
        };
    }

    /** Runs on the open queue, or else on one that exists, with its transfer task, only for this call. */
    <T> T delayed(String queue, Use<RDelayedQueue<Object>, T> use) throws Exception {
        RDelayedQueue<Object> kept = opened.get(queue);
        if (kept != null) {
            return use.of(kept);
        }
        RDelayedQueue<Object> passing = redisson.getDelayedQueue(ready(queue));
        try {
            return use.of(passing);
        } finally {
            passing.destroy();
        }
    }

    /** False when the queue was open already. */
    synchronized boolean openDelayed(String queue) {
        return opened.putIfAbsent(queue, redisson.getDelayedQueue(ready(queue))) == null;
    }

    /** False when the queue was not open. */
    boolean destroyDelayed(String queue) {
        RDelayedQueue<Object> kept = opened.remove(queue);
        if (kept != null) {
            kept.destroy();
        }
        return kept != null;
    }

    ObjectNode dump(String queue) throws ReflectiveOperationException {
        // A connection without the NameMapper, which would also change the names of the hidden keys.
        RedissonClient plain = connect(address, cluster, null, "");
        try {
            return Dump.of(plain, prefix + queue);
        } finally {
            shutdown(plain);
        }
    }

    @Override
    public void close() {
        shutdown(redisson);
    }

    private static void shutdown(RedissonClient redisson) {
        redisson.shutdown(0, 1, TimeUnit.SECONDS);
    }

    private static RedissonClient connect(String address, boolean cluster, Codec codec, String prefix)
            throws ReflectiveOperationException {
        Config config = new Config();
        config.setThreads(4).setNettyThreads(4);
        if (codec != null) {
            config.setCodec(codec);
        }
        BaseConfig<?> server = cluster ? nodes(config, address)
                : address.contains("?") ? sentinel(config, address) : single(config, address);
        if (!prefix.isEmpty()) {
            mapNames(server, prefix);
        }
        return Redisson.create(config);
    }

    private static SingleServerConfig single(Config config, String address) {
        return config.useSingleServer()
                .setAddress(address)
                .setConnectionMinimumIdleSize(1)
                .setDnsMonitoringInterval(-1);
    }

    /** By an address of a Sentinel and the name of its master: redis://127.0.0.1:26379?main. */
    private static SentinelServersConfig sentinel(Config config, String address) {
        String[] parts = address.split("\\?");
        return config.useSentinelServers()
                .setMasterName(parts[1])
                .addSentinelAddress(parts[0])
                .setCheckSentinelsList(false)
                .setReadMode(ReadMode.MASTER)
                .setSubscriptionMode(SubscriptionMode.MASTER)
                .setScanInterval(500)
                .setMasterConnectionMinimumIdleSize(1)
                .setSlaveConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionMinimumIdleSize(1);
    }

    private static ClusterServersConfig nodes(Config config, String address) {
        return config.useClusterServers()
                .addNodeAddress(address)
                .setReadMode(ReadMode.MASTER)
                .setScanInterval(500)
                .setMasterConnectionMinimumIdleSize(1)
                .setSlaveConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionMinimumIdleSize(1);
    }

    /** By reflection: NameMapper moved to another package in Redisson 4. */
    private static void mapNames(BaseConfig<?> server, String prefix) throws ReflectiveOperationException {
        Method setter = Arrays.stream(server.getClass().getMethods())
                .filter(method -> method.getName().equals("setNameMapper"))
                .findFirst()
                .orElseThrow();
        Class<?> mapper = setter.getParameterTypes()[0];
        setter.invoke(server, Proxy.newProxyInstance(mapper.getClassLoader(), new Class<?>[] {mapper},
                (proxy, method, args) -> switch (method.getName()) {
                    case "map" -> prefix + args[0];
                    case "unmap" -> ((String) args[0]).substring(prefix.length());
                    default -> throw new UnsupportedOperationException(method.getName());
                }));
    }
}
