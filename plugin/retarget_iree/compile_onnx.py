"""Compiles an ONNX model by hand: `python3 -m retarget_iree.compile_onnx MODEL.onnx FLAGS… -o OUTPUT`.

Imports the model with the importer of IREE's compiler package and gives the result to `iree-compile` with the flags.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.extension import CompilerError, UnavailableError

from retarget_iree.modules.onnx_import import import_onnx
from retarget_iree.toolchain import find_compiler


def main(argv: Sequence[str] | None = None) -> int:
    """Import and compile. Return the exit status: that of `iree-compile`, 1 if the import fails, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    models = [argument for argument in arguments if argument.endswith(".onnx") and not argument.startswith("-")]
    if len(models) != 1 or "-o" not in arguments:
        sys.stderr.write("usage: python3 -m retarget_iree.compile_onnx MODEL.onnx [--FLAG…] -o OUTPUT\n")
        return 2
    model = Path(models[0])
    rest = [argument for argument in arguments if argument != models[0]]
    try:
        content = import_onnx(model.read_bytes(), model.name)
        tool = find_compiler().tool or "iree-compile"
    except OSError as error:
        sys.stderr.write(f"error: cannot read {model}: {error.strerror}\n")
        return 1
    except (CompilerError, UnavailableError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return subprocess.run([str(tool), *rest, "-"], input=content, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
