"""`python3 -m retarget_iree.checks MODULE -o FILE`: a check module as tools without a check module run it.

    MODULE              .mlir or .mlirbc
    -o FILE             the text of the module whose functions return what they would check

Exit status: 0 if it was written, 1 if checks cannot be returned, 2 if the command line is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.extension import CompilerError, UnavailableError

from retarget_iree.checks.rewrite import return_checks


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m retarget_iree.checks", description="Let checks be results.")
    parser.add_argument("module", type=Path, metavar="MODULE", help=".mlir or .mlirbc")
    parser.add_argument("-o", required=True, type=Path, dest="output", metavar="FILE", help="file to write")
    options = parser.parse_args(argv)
    try:
        options.output.write_bytes(return_checks(options.module.read_bytes(), options.module.name))
    except (CompilerError, UnavailableError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
