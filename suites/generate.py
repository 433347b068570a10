"""Write the generated modules below suites/, or say which of them are out of date.

    python suites/generate.py            # write what differs
    python suites/generate.py --check    # write nothing; exit status 1 if anything differs

The references are NumPy only, with the dtypes of ml_dtypes, in float64 or exact integers, rounded once at the end.
Nothing here runs a compiler.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generator import modules

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Write or check every generated module; return the exit status."""
    root = Path(__file__).resolve().parent
    stale = []
    for module in modules():
        path = root / f"{module.path}.mlir"
        text = module.text()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(path)
            if "--check" not in arguments:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for path in stale:
        print(("differs: " if "--check" in arguments else "written: ") + path.relative_to(root).as_posix())
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
