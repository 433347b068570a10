"""Write the manifest of ONNX's node tests from the installed package: `python3 -m retarget_cases.onnx.manifest`.

`retarget_cases.onnx.manifest_file` describes the format.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.support import RetargetError, display_path, write_atomically

from retarget_cases.onnx.manifest_file import manifest_text
from retarget_cases.onnx.stored import installed_manifest


def main(argv: Sequence[str] | None = None) -> int:
    """Write a manifest. Return the exit status: 0 written, 1 an error."""
    parser = argparse.ArgumentParser(
        prog="python3 -m retarget_cases.onnx.manifest",
        description="Write the manifest of ONNX's node tests of the installed package.",
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the file to write")
    output: Path = parser.parse_args(argv).output
    try:
        installed = installed_manifest()
        write_atomically(output, manifest_text(installed, output.name).encode())
    except RetargetError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"error: cannot write {output}: {error.strerror}\n")
        return 1
    sys.stdout.write(f"{display_path(output)}: {len(installed.tests)} tests of {installed.package}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
