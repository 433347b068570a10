"""`python3 -m retarget_iree.compile_for [PROFILE…] MODULE [arguments of iree-compile]` compiles by hand what takes more
than `iree-compile`: an ONNX model, which the importer of IREE's package reads first, and a module for device profiles
that a device, or the compiler, is to turn into flags.

A profile is what `target_from` takes: a file, the name of a shipped profile, `host`, or `host:` and a device's URI.
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

from retarget_iree.compiler.compiler import IreeCompiler
from retarget_iree.modules.onnx_import import import_onnx
from retarget_iree.toolchain import find_compiler


def main(argv: Sequence[str] | None = None) -> int:
    """Compile and return the exit status of `iree-compile`; 1 for a model that cannot be imported and profiles that it
    cannot compile for, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    references = tuple(takewhile(lambda word: not word.endswith((".mlir", ".mlirbc", ".onnx")), arguments))
    module, words = arguments[len(references) : len(references) + 1], arguments[len(references) + 1 :]
    is_model = bool(module) and module[0].endswith(".onnx")
    if not module or not (references or is_model):
        sys.stderr.write(f"{__doc__}")
        return 2
    flags, content = tuple(word for word in words if word.startswith("--")), None
    rest = [word for word in words if word not in flags]
    source = Path(module[0])
    try:
        if references:
            located = tuple(str(Path(one).resolve()) if one.endswith(".toml") else one for one in references)
            origin = Origin(file=source, key_path="target_from")
            config = CompilerConfig(name="by-hand", compiler="iree", target_from=located, origin=origin)
            flags = IreeCompiler().resolve(config, flags).flags
        if is_model:
            module, content = ["-"], import_onnx(source.read_bytes(), source.name)
        tool = str(find_compiler().tool or "iree-compile")
    except (CompilerError, UnavailableError, RetargetError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return subprocess.run([tool, *module, *flags, *rest], input=content, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
