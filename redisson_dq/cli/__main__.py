"""``python -m redisson_dq.cli`` is ``redisson-dq``."""

import sys

from . import main

if __name__ == "__main__":
    sys.exit(main())
