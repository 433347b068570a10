"""What writing OpenCL C costs beside IREE's own compile time, over the shipped suites.

    python3 benchmarks/opencl_translation.py [suites] [--profile opencl-cpu]

Wall time, one thread each (MLIR's thread pool is off, as in a compile worker).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from retarget.extension import CompileRequest, CompilerError, Resolved
from retarget.profiles import Profile
from retarget_opencl.compile.constants import resources_of
from retarget_opencl.compile.frontend import bytecode_of, compiled_module
from retarget_opencl.compile.target import target_attribute
from retarget_opencl.compile.translate import translate
from retarget_opencl.device.profile import compile_profile


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the slowest modules and the ratio of the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("suites"))
    parser.add_argument("--profile", default="opencl-cpu")
    options = parser.parse_args(arguments)
    profile = compile_profile(Profile.find(options.profile))
    flags = (f"--iree-hal-target-device=opencl={target_attribute(profile)}", "--iree-input-demote-f64-to-f32=false")
    resolved = Resolved(build_id="", flags=flags)
    rows = []
    for path in sorted(options.folder.rglob("*.mlir")):
        request = CompileRequest(source=path.read_bytes(), source_name=path.name, source_path=path, resolved=resolved)
        start = time.perf_counter()
        try:
            with compiled_module(request, profile.max_allocation) as (module, _):
                middle = time.perf_counter()
                translate(module, profile, lambda: resources_of(bytecode_of(module)))
                rows.append((middle - start, time.perf_counter() - middle, path))
        except CompilerError as error:
            print(f"{path}: {str(error)[:100]}")
    rows = rows[1:]  # the first one loads the compiler and the templates
    for compile_, translation, path in sorted(rows, key=lambda row: -row[1] / row[0])[:10]:
        print(f"{100 * translation / compile_:5.1f} %  {translation * 1e3:6.1f} of {compile_ * 1e3:7.1f} ms  {path}")
    compiles, translations = sum(row[0] for row in rows), sum(row[1] for row in rows)
    share = 100 * translations / compiles
    print(f"{len(rows)} modules: IREE {compiles:.2f} s, translation {translations:.2f} s, {share:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
