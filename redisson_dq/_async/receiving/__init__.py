"""Who waits, for values or for room, in which order and on which connection: from a call to the command that takes."""
