package shop;

/** An order that waits for its payment. Its goods are reserved meanwhile. */
public record Order(String number, String sku, int quantity) {
}
