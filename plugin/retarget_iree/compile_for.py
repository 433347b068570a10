"""`python3 -m retarget_iree.compile_for PROFILE… MODULE [arguments of iree-compile]` compiles for device profiles.

A profile is what `target_from` takes: a file, the name of a shipped profile, `host`, or `host:` and a device's URI. The
shell can call `iree-compile` itself where profiles give flags; this is for those that a device, or the compiler, is to
name first.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

from retarget.extension import CompilerError, UnavailableError
from retarget.model import CompilerConfig, Origin
from retarget.support import RetargetError

from retarget_iree.compile_onnx import main as compile_onnx
from retarget_iree.compiler.compiler import IreeCompiler
from retarget_iree.toolchain import find_compiler


def main(argv: Sequence[str] | None = None) -> int:
    """Compile and return the exit status of `iree-compile`, or 1 for profiles that it cannot compile for."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    references = tuple(takewhile(lambda word: not word.endswith((".mlir", ".mlirbc", ".onnx")), arguments))
    module, flags = arguments[len(references) : len(references) + 1], arguments[len(references) + 1 :]
    if not references or not module:
        sys.stderr.write(f"{__doc__}")
        return 2
    origin = Origin(file=Path(module[0]), key_path="target_from")
    located = tuple(str(Path(one).resolve()) if one.endswith(".toml") else one for one in references)
    config = CompilerConfig(name="by-hand", compiler="iree", target_from=located, origin=origin)
    given = [flag for flag in flags if flag.startswith("--")]
    try:
        resolved = IreeCompiler().resolve(config, tuple(given)).flags
        if module[0].endswith(".onnx"):
            return compile_onnx([*module, *resolved, *(flag for flag in flags if flag not in given)])
    except (CompilerError, UnavailableError, RetargetError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    rest = [flag for flag in flags if flag not in given]
    return subprocess.run(
        [str(find_compiler().tool or "iree-compile"), *module, *resolved, *rest], check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
