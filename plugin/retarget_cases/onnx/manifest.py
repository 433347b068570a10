"""Write the manifest of ONNX's node tests from the installed package, or compare:
`python3 -m retarget_cases.onnx.manifest`.

`retarget_cases.onnx.manifest_file` describes the format.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from retarget.support import RetargetError, display_path, write_atomically

from retarget_cases.onnx.manifest_file import Manifest, manifest_text, read_manifest
from retarget_cases.onnx.stored import installed_manifest

_SHOWN = 8


def differences(committed: Manifest, installed: Manifest) -> tuple[str, ...]:
    """Return in what a manifest is not the installed package's, a line each; nothing where it is."""
    ours, theirs = committed.tests, installed.tests
    gone = [name for name in ours if name not in theirs]
    new = [name for name in theirs if name not in ours]
    changed = [name for name, tags in ours.items() if name in theirs and theirs[name] != tags]
    lines = [
        f"{len(names)} {what}: {', '.join(names[:_SHOWN])}{', …' if len(names) > _SHOWN else ''}"
        for what, names in (
            (f"of {committed.package} that {installed.package} does not have", gone),
            (f"of {installed.package} that the manifest does not have", new),
            ("with other tags", changed),
        )
        if names
    ]
    if committed.package != installed.package:
        lines.append(f"the manifest was written by {committed.package}, installed is {installed.package}")
    return tuple(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check a manifest. Return the exit status: 0 written or equal, 1 different or an error."""
    parser = argparse.ArgumentParser(
        prog="python3 -m retarget_cases.onnx.manifest",
        description="Write the manifest of ONNX's node tests, or compare.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the manifest of the installed package")
    what.add_argument("--check", type=Path, metavar="FILE", help="show how FILE differs from the installed package")
    arguments = parser.parse_args(argv)
    try:
        installed = installed_manifest()
        if arguments.check is not None:
            found = differences(read_manifest(arguments.check), installed)
            for line in found:
                sys.stdout.write(f"{display_path(arguments.check)}: {line}\n")
            return 1 if found else 0
        output: Path = arguments.output
        write_atomically(output, manifest_text(installed, output.name).encode())
    except RetargetError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"error: cannot write {arguments.output}: {error.strerror}\n")
        return 1
    sys.stdout.write(f"{display_path(output)}: {len(installed.tests)} tests of {installed.package}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
