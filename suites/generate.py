"""Write the generated modules and parameter files below suites/, or say which of them are out of date.

    python suites/generate.py            # write what differs
    python suites/generate.py --check    # write nothing; exit status 1 if anything differs

The references are NumPy only, with the dtypes of ml_dtypes, in float64 or exact integers, rounded once at the end.
Nothing here runs a compiler. ONNX models are written with the package onnx.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generator import modules
from generator.archives import archives
from generator.transformer import models


def main(arguments: list[str]) -> int:
    """Write or check every generated file; return the exit status."""
    root = Path(__file__).resolve().parent
    stale = []
    written = {f"{module.path}.mlir": module.text().encode() for module in modules()} | archives() | models()
    for name, content in written.items():
        path = root / name
        if not path.is_file() or path.read_bytes() != content:
            stale.append(path)
            if "--check" not in arguments:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    for path in stale:
        print(("differs: " if "--check" in arguments else "written: ") + path.relative_to(root).as_posix())
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
