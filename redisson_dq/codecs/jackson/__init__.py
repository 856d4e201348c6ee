"""The formats of Jackson and the values in them."""
