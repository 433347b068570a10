"""`python3 -m retarget_ctest`: `retarget run` without the other subcommands, as ctest starts it for each target."""

from __future__ import annotations

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # a tenth of the CPU time of one target, which leaves no garbage worth it

    from retarget.cli import run_alone

    from retarget_ctest.extension import RUN

    sys.exit(run_alone(RUN))
