"""`python3 -m retarget.cli`: the command `retarget`."""

from __future__ import annotations

import sys

from retarget.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
