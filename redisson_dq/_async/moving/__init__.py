"""The mover of due items to the ready list: one driver a client. ``scheduling/`` decides when."""
