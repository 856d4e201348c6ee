package shop;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.TypedJsonJacksonCodec;
import org.redisson.config.Config;

/** Places orders and takes payments. It knows nothing of the worker that cancels what nobody pays. */
public final class Checkout {
    private final RMap<String, String> states;
    private final RDelayedQueue<Order> unpaid;
    private final Duration timeToPay;

    public Checkout(RedissonClient redisson, Duration timeToPay) {
        this.states = redisson.getMap("orders", StringCodec.INSTANCE);
        this.unpaid = redisson.getDelayedQueue(
                redisson.getBlockingQueue("unpaid", new TypedJsonJacksonCodec(Order.class)));
        this.timeToPay = timeToPay;
    }

    public void place(Order order) {
        // The timeout comes first: an order without one would keep its goods for ever.
        unpaid.offer(order, timeToPay.toMillis(), TimeUnit.MILLISECONDS);
        states.put(order.number(), "open");
    }

    /** Whether the payment came in time. The item stays in the queue, and the worker will find a paid order. */
    public boolean pay(String number) {
        return states.replace(number, "open", "paid");
    }

    public static void main(String[] args) {
        Config config = new Config();
        config.useSingleServer().setAddress(System.getenv().getOrDefault("REDIS_ADDRESS", "redis://localhost:6379"));
        RedissonClient redisson = Redisson.create(config);
        try {
            Duration timeToPay = Duration.parse(System.getenv().getOrDefault("TIME_TO_PAY", "PT30M"));
            Checkout checkout = new Checkout(redisson, timeToPay);
            switch (args[0]) {
                case "place" -> {
                    checkout.place(new Order(args[1], args[2], Integer.parseInt(args[3])));
                    System.out.println(args[1] + " is open for " + timeToPay);
                }
                case "pay" -> System.out.println(args[1] + (checkout.pay(args[1]) ? " is paid" : " is not open"));
                default -> throw new IllegalArgumentException("place NUMBER SKU QUANTITY, or pay NUMBER");
            }
        } finally {
            redisson.shutdown();
        }
    }
}
