"""`python -m retarget_ctest`: `retarget run` without the other subcommands, as ctest starts it for each target."""

from __future__ import annotations

import sys

from retarget.cli.main import run_alone

from retarget_ctest.extension import RUN

if __name__ == "__main__":
    sys.exit(run_alone(RUN))
