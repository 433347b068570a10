"""By hand: `python3 -m retarget_opencl compile|show|devices`.

Failure reports of targets quote these commands, and run artifacts with `python3 -m retarget.worker.run_case`. Exit
status 0: it worked, 1: it did not, 2: wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.extension import CompileRequest, CompilerError, DriverError, UnavailableError
from retarget.model import CompilerConfig, Origin
from retarget.support import RetargetError

from retarget_opencl.artifact.file import ArtifactError
from retarget_opencl.artifact.show import show_artifact
from retarget_opencl.compile.compiler import OpenClCompiler
from retarget_opencl.run.driver import OpenClDriver

_HERE = Origin(file=Path(), key_path="")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m retarget_opencl", description="IREE modules on OpenCL, by hand.")
    commands = parser.add_subparsers(dest="command", required=True)
    compile_ = commands.add_parser("compile", help="compile a module; unknown flags go to IREE")
    compile_.add_argument("module", type=Path)
    compile_.add_argument("-o", dest="output", type=Path, required=True)
    show = commands.add_parser("show", help="print kernels and program")
    show.add_argument("artifact", type=Path)
    commands.add_parser("devices", help="list devices and the profiles they give")
    return parser


def _compile(module: Path, output: Path, flags: Sequence[str]) -> None:
    compiler = OpenClCompiler()
    config = CompilerConfig(name="by-hand", compiler=compiler.name, flags=tuple(flags), origin=_HERE)
    request = CompileRequest(
        source=module.read_bytes(),
        source_name=module.name,
        source_path=module,
        resolved=compiler.resolve(config, config.flags),
    )
    output.write_bytes(compiler.compile(request).artifact)


def _devices() -> None:
    for info in OpenClDriver().probe():
        print(f"{info.uri}  {info.name} (driver {info.driver_version})")
        if info.unusable:
            print(f"    unusable: {info.unusable}; {info.remedy}")
            continue
        for name, value in info.capabilities:
            print(f"    {name:<14} {value}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "compile":
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        if options.command == "compile":
            _compile(options.module, options.output, rest)
        elif options.command == "show":
            sys.stdout.write(show_artifact(options.artifact.read_bytes()))
        else:
            _devices()
    except (RetargetError, CompilerError, DriverError, UnavailableError, ArtifactError, OSError) as error:
        hint = getattr(error, "hint", "")
        print(f"{error}{f'; {hint}' if hint else ''}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
