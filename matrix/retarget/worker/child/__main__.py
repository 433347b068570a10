"""`python -m retarget.worker.child`: started by `retarget.worker.process` only."""

from __future__ import annotations

import sys

from retarget.worker.child.main import main

if __name__ == "__main__":
    main(sys.argv[1:])
