package com.acme;

public class OrderFailed extends Exception {
    private static final long serialVersionUID = 1L;

    private final String orderId;
    private final int attempts;

    public OrderFailed(String message, Throwable cause, String orderId, int attempts) {
        super(message, cause);
        this.orderId = orderId;
        this.attempts = attempts;
    }
}
