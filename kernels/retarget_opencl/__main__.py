"""By hand: `python3 -m retarget_opencl compile`, which failure reports of targets quote.

Exit status 0: it worked, 1: it did not, 2: wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.extension import CompileRequest, CompilerError, UnavailableError
from retarget.model import CompilerConfig, Origin
from retarget.support import RetargetError

from retarget_opencl.compile.compiler import OpenClCompiler


def _compile(module: Path, output: Path, flags: Sequence[str]) -> None:
    compiler, here = OpenClCompiler(), Origin(file=Path(), key_path="")
    config = CompilerConfig(name="by-hand", compiler=compiler.name, flags=tuple(flags), origin=here)
    request = CompileRequest(
        source=module.read_bytes(),
        source_name=module.name,
        source_path=module,
        resolved=compiler.resolve(config, config.flags),
    )
    output.write_bytes(compiler.compile(request).artifact)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m retarget_opencl", description="IREE modules on OpenCL, by hand.")
    commands = parser.add_subparsers(dest="command", required=True)
    compile_ = commands.add_parser("compile", help="compile a module; unknown flags go to IREE")
    compile_.add_argument("module", type=Path)
    compile_.add_argument("-o", dest="output", type=Path, required=True)
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["show"]:
        parser.error("found the command 'show'; `retarget show ARTIFACT` prints an artifact")
    options, flags = parser.parse_known_args(words)
    try:
        _compile(options.module, options.output, flags)
    except (RetargetError, CompilerError, UnavailableError, OSError) as error:
        hint = getattr(error, "hint", "")
        print(f"{error}{f'; {hint}' if hint else ''}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
