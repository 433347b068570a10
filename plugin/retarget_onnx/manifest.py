"""The manifest: which node tests there are, as a file that is committed.

What is collected must not hang on what is installed, so the list of tests is a file, `nodes.toml`, and not a question
to the package onnx. It is TOML with one line per test:

    format = 1
    package = "onnx 1.23.2"

    [tests]
    test_abs = "op-Abs opset-13 f32"

The words become tags of the test's targets: the operator that is tested, also where the test is the operator's
expansion into others (then `expanded` stands there too); the opsets that the model asks for, `opset-13` for the default
domain and like `ai.onnx.ml-4` for others; the element types of inputs and outputs.

`python -m retarget_onnx.manifest -o FILE` writes it from the installed package, `--check FILE` compares.
"""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retarget.errors import RetargetError, display_path
from retarget.names import tag_fault

__all__ = ["Entry", "Manifest", "differences", "main", "manifest_text", "read_manifest"]

_FORMAT = 1
_HEADER = """\
# The ONNX project's node tests: name = the tags of its targets.
# Written by `python -m retarget_onnx.manifest -o {name}` from the installed package; not edited by hand.
"""
_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One test. `tags` are its words, the operator's first."""

    name: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """All tests in their package's order. `package` names the package and version that has them: `onnx 1.23.2`."""

    package: str
    entries: tuple[Entry, ...]


def read_manifest(path: Path) -> Manifest:
    """Return a manifest. Raises `RetargetError` for what is none, naming file and entry."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"{display_path(path)}: cannot be read: {error.strerror}"
        raise RetargetError(msg) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"{display_path(path)}: not TOML: {error}; write it with `{_command(path)}`"
        raise RetargetError(msg) from error
    package, tests, number = document.get("package"), document.get("tests"), document.get("format")
    if number != _FORMAT or not isinstance(package, str) or not isinstance(tests, dict) or not tests:
        msg = (
            f"{display_path(path)}: not a manifest of ONNX node tests: expected format = {_FORMAT}, package = "
            f'"onnx VERSION" and a table [tests] with entries; write it with `{_command(path)}`'
        )
        raise RetargetError(msg)
    faults: dict[str, str | None] = {}
    return Manifest(
        package=package, entries=tuple(_entry(path, name, written, faults) for name, written in tests.items())
    )


def _entry(path: Path, name: str, written: object, faults: dict[str, str | None]) -> Entry:
    """Return an entry; `faults` remembers what is wrong with a word, because the same few hundred come up again."""
    if not name.isidentifier():
        msg = f"{display_path(path)}: tests.{name}: expected the name of a test: letters, digits and _"
        raise RetargetError(msg)
    tags = tuple(written.split()) if isinstance(written, str) else ()
    if not tags or not tags[0].startswith("op-"):
        msg = f'{display_path(path)}: tests.{name}: found {written!r}, expected tags like "op-Abs opset-13 f32"'
        raise RetargetError(msg)
    for tag in tags:
        if tag not in faults:
            faults[tag] = tag_fault(tag)
        if faults[tag]:
            msg = f"{display_path(path)}: tests.{name}: {faults[tag]}"
            raise RetargetError(msg)
    return Entry(name=name, tags=tags)


def _command(path: Path) -> str:
    return f"python -m retarget_onnx.manifest -o {display_path(path)}"


def manifest_text(manifest: Manifest, name: str) -> str:
    """Return a manifest as TOML. `name` is the file's, for the line that says how it was written."""
    lines = [f'{entry.name} = "{" ".join(entry.tags)}"' for entry in manifest.entries]
    head = f'{_HEADER.format(name=name)}format = {_FORMAT}\npackage = "{manifest.package}"\n\n[tests]\n'
    return head + "\n".join(lines) + "\n"


def differences(committed: Manifest, installed: Manifest) -> tuple[str, ...]:
    """Return in what a manifest is not the installed package's, a line each; nothing where it is."""
    ours = {entry.name: entry.tags for entry in committed.entries}
    theirs = {entry.name: entry.tags for entry in installed.entries}
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
    """Write or check a manifest. Return the exit status: 0 written or equal, 1 different or a fault."""
    parser = argparse.ArgumentParser(prog="python -m retarget_onnx.manifest", description=(__doc__ or "").split(":")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the manifest of the installed package")
    what.add_argument("--check", type=Path, metavar="FILE", help="tell in what FILE is not the installed package's")
    arguments = parser.parse_args(argv)
    from .installed import installed_manifest

    try:
        installed = installed_manifest()
        if arguments.check is not None:
            found = differences(read_manifest(arguments.check), installed)
            for line in found:
                sys.stdout.write(f"{display_path(arguments.check)}: {line}\n")
            return 1 if found else 0
        output: Path = arguments.output
        beside = output.with_name(f".{output.name}.{os.getpid()}")
        beside.write_text(manifest_text(installed, output.name), encoding="utf-8")
        beside.replace(output)
    except RetargetError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"error: cannot write {arguments.output}: {error.strerror}\n")
        return 1
    sys.stdout.write(f"{display_path(output)}: {len(installed.entries)} tests of {installed.package}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
