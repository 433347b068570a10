"""Reads and writes the manifest: which node tests there are, as a file that is committed.

Collection must not depend on what is installed, so the list of tests is a file, `nodes.toml`, and is not read from the
package onnx. It is TOML with one line per test:

    format = 1
    package = "onnx 1.23.2"

    [tests]
    test_abs = "op-Abs opset-13 f32"

The words become tags of the test's targets: the operator that is tested, also where the test is the operator's
expansion into others (then `expanded` is there too); the opsets that the model asks for, `opset-13` for the default
domain and like `ai.onnx.ml-4` for others; the element types of inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from retarget.model import tag_error
from retarget.support import Diagnostic, DiagnosticsError, KeyPath, Problem, did_you_mean, display_path, read_toml

_FORMAT = 1
_HEADER = """\
# The ONNX project's node tests: name = the tags of its targets.
# Written by `python3 -m retarget_cases.onnx.manifest -o {name}` from the installed package; not edited by hand.
"""
_COMMAND = "python3 -m retarget_cases.onnx.manifest -o"
_KEYS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "format": (f"{_FORMAT}", lambda value: value == _FORMAT),
    "package": ('"onnx VERSION"', lambda value: isinstance(value, str)),
    "tests": ("a table of tests", lambda value: isinstance(value, dict) and bool(value)),
}
"""The keys of a manifest, what is expected of each, and whether it is."""


class Manifest(Struct, frozen=True, kw_only=True):
    """The tags of all tests, by name in their package's order; a test's first is its operator's. `package` names the
    package and version that has them: `onnx 1.23.2`."""

    package: str
    tests: Mapping[str, tuple[str, ...]]


def read_manifest(path: Path) -> Manifest:
    """Return a manifest. Raises `DiagnosticsError` with all that is wrong with it."""
    if path.suffix != ".toml":
        message = f"found no manifest of ONNX node tests, expected a TOML file as `{_COMMAND} nodes.toml` writes it"
        raise DiagnosticsError([Diagnostic(file=path, message=message)])
    text, document, diagnostics = read_toml(path)
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    problems = list(_head_problems(path, document))
    written, tests = document.get("tests"), {}
    if isinstance(written, dict):
        known: dict[str, str | None] = {}
        tests = {name: _tags(name, one, known, problems) for name, one in written.items()}
    if problems:
        raise DiagnosticsError(Problem.locate(path, text, problems))
    return Manifest(package=str(document["package"]), tests=tests)


def _head_problems(path: Path, document: Mapping[str, object]) -> Iterator[Problem]:
    """Yield what is wrong with a manifest but for its entries."""
    again = f"; write it again with `{_COMMAND} {display_path(path)}`"
    for key in document:
        if key not in _KEYS:
            expected = f"expected one of {', '.join(_KEYS)}{did_you_mean(key, _KEYS)}"
            yield Problem((key,), f"found the unknown key {key!r}, {expected}")
    for key, (expected, is_right) in _KEYS.items():
        if not is_right(document.get(key)):
            found = repr(document[key]) if key in document else "no such key"
            yield Problem((key,), f"found {found}, expected {expected}{again}")


def _tags(name: str, written: object, known: dict[str, str | None], problems: list[Problem]) -> tuple[str, ...]:
    """Return the tags of a test; `known` remembers what is wrong with a word: the same few hundred come up again."""
    key_path: KeyPath = ("tests", name)
    if not name.isidentifier():
        problems.append(Problem(key_path, f"found {name!r}, expected the name of a test: letters, digits and _"))
    tags = tuple(written.split()) if isinstance(written, str) else ()
    if not tags or not tags[0].startswith("op-"):
        problems.append(Problem(key_path, f'found {written!r}, expected tags like "op-Abs opset-13 f32"'))
    for tag in tags:
        if tag not in known:
            known[tag] = tag_error(tag)
        if (diagnostic := known[tag]) is not None:
            problems.append(Problem(key_path, diagnostic))
    return tags


def manifest_text(manifest: Manifest, name: str) -> str:
    """Return a manifest as TOML. `name` is the file's, for the line that says how it was written."""
    lines = [f'{name} = "{" ".join(tags)}"' for name, tags in manifest.tests.items()]
    head = f'{_HEADER.format(name=name)}format = {_FORMAT}\npackage = "{manifest.package}"\n\n[tests]\n'
    return head + "\n".join(lines) + "\n"


CASES_FILE = "cases.json"
MODEL_FILE = "model.onnx"
