"""`python3 -m retarget_iree.modules.reduce_by_library SCRIPT MODULE -o FILE`: `iree-reduce`.

Wheels have no such tool, but its entry point in the compiler's library. Options and exit status are its own.
"""

from __future__ import annotations

import ctypes
import sys

from retarget_iree.toolchain import find_compiler


def main() -> int:
    """Run the reducer of this process's compiler with the arguments of the command line."""
    library = find_compiler().library
    run = getattr(ctypes.CDLL(str(library)), "ireeReduceRunMain", None) if library is not None else None
    if run is None:
        sys.stderr.write("this build of IREE has no iree-reduce\n")
        return 1
    words = [b"iree-reduce", *(word.encode() for word in sys.argv[1:])]
    return int(run(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None)))


if __name__ == "__main__":
    sys.exit(main())
