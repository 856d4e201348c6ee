"""What moves due items to the ready list: one driver a client. ``scheduling/`` decides when."""
