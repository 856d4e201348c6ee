"""The operations that take more than one command: one ``.lua`` file each, one typed function each in ``calls``."""
