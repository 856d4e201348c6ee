"""``python -m redisson_dq.cli`` is ``redisson-dq``."""

import sys

from redisson_dq.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
