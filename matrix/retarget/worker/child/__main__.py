"""`python3 -m retarget.worker.child`: started by `retarget.worker.process` only."""

from __future__ import annotations

import gc
import sys

gc.disable()  # until all that this process imports at once is there: it is no garbage

from retarget.worker.child.main import main  # noqa: E402

if __name__ == "__main__":
    main(sys.argv[1:])
