"""Jackson's formats, and the values in them."""
