"""A BUILD.bazel file → the calls of rules that it makes, as the Starlark interpreter of `starlark-pyo3` evaluates it.

What the interpreter is given: `glob` and `enforce_glob` over the file's folder, `select`, and a function for each rule
that records its call. A symbol of `load` is one of these, or comes from its .bzl file where that is found and either
holds constants or calls a rule that is taken over; else it is a rule that is recorded by its name.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from retarget.support import Diagnostic, DiagnosticsError, RetargetError, display_path, install_hint, read_regular

BUILD_FILES = ("BUILD.bazel", "BUILD")
CHECK_RULES = ("iree_check_single_backend_test_suite", "iree_check_test_suite", "iree_check_test")
LIT_RULES = ("iree_lit_test_suite", "iree_lit_test")

_QUIET = (
    *("alias", "config_setting", "constraint_value", "exports_files", "filegroup", "licenses", "package", "test_suite"),
)
"""Rules of which nothing is said where they are not taken over."""

_NATIVE = (
    *("cc_binary", "cc_library", "cc_test", "genrule", "java_library", "java_test", "label_flag", "package_group"),
    *("platform", "py_binary", "py_library", "py_test", "sh_binary", "sh_library", "sh_test", "toolchain", "workspace"),
)
"""Rules that a BUILD file can call without `load`. See https://bazel.build/reference/be/overview."""

_TAKEN = (*CHECK_RULES, *LIT_RULES)
_RULES = (*_TAKEN, *_QUIET, *_NATIVE)
_FUNCTIONS = ("glob", "enforce_glob", "select")

_DEFAULT = "//conditions:default"
_FRAME = re.compile(r"^\s*\* (?P<file>.*):(?P<line>\d+), in ", re.MULTILINE)
_PLACE = re.compile(r"^ *--> (?P<file>.*):(?P<line>\d+):(?P<column>\d+)$", re.MULTILINE)
_ERROR = re.compile(r"^error: (?:Parse error: |\w+Error: )?(?P<message>.*)$", re.MULTILINE)

_PRELUDE_NAME = "<functions of BUILD files>"
_PRELUDE = """
def glob(include = [], exclude = [], **kwargs):
    return _glob(include, exclude)
def enforce_glob(files, **kwargs):
    return files
def select(branches, no_match_error = ""):
    return _select(branches, call_stack(strip_frames = 1))
"""
_RULE = """
def {rule}(*args, **kwargs):
    _record("{rule}", call_stack(strip_frames = 1), args, kwargs)
"""


class Call(Struct, frozen=True, kw_only=True):
    """A call of a rule: its name, the line of the BUILD file that made it, 1-based, and its arguments but None."""

    rule: str
    line: int
    arguments: Mapping[str, Any]


class BuildFile(Struct, frozen=True, kw_only=True):
    """The content of a BUILD file. `others` counts calls of rules that are not taken over; `left_out` says what else
    is."""

    path: Path
    calls: tuple[Call, ...]
    others: Counter[str]
    left_out: tuple[str, ...]


def read_build_file(path: Path) -> BuildFile:
    """Evaluate a file. Raises `DiagnosticsError` for what is no BUILD file, `RetargetError` without the interpreter.

    A file with none of the rules that cannot be evaluated is left out: it may use what only Bazel has.
    """
    evaluation = _Evaluation(_starlark(), path)
    text = _text(path)
    try:
        evaluation.run(text)
    except DiagnosticsError as error:
        if _calls_rules(text):
            raise
        left_out = (f"{error.diagnostics[0]}; the file has none of the rules that are taken over",)
        return BuildFile(path=path, calls=(), others=Counter(), left_out=left_out)
    calls = tuple(call for call in evaluation.calls if call.rule in _TAKEN)
    others = Counter(call.rule for call in evaluation.calls if call.rule not in {*_TAKEN, *_QUIET})
    return BuildFile(path=path, calls=calls, others=others, left_out=tuple(evaluation.left_out) if calls else ())


def _calls_rules(text: str) -> bool:
    return any(rule in text for rule in _TAKEN)


def package_of(folder: Path) -> tuple[Path, str | None]:
    """Return the root of the workspace that a folder lies in and its package there; without one, itself and None."""
    folder = folder.resolve()
    for above in (folder, *folder.parents):
        if any((above / name).is_file() for name in ("MODULE.bazel", "WORKSPACE", "WORKSPACE.bazel")):
            return above, "" if above == folder else folder.relative_to(above).as_posix()
    return folder, None


def _starlark() -> Any:
    try:
        return importlib.import_module("starlark")
    except ImportError as error:
        msg = f"the package starlark-pyo3, which evaluates BUILD files, is not installed; {install_hint('import')}"
        raise RetargetError(msg) from error


def _text(path: Path) -> str:
    """Return the text of a file. One that is nested deeper than Python takes is an error: the interpreter would
    overflow this process's stack."""
    too_deep, found = "found brackets or operators nested too deep", ""
    try:
        text = read_regular(path).decode("utf-8")
        ast.parse(text)
    except (OSError, UnicodeDecodeError) as error:
        found = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    except (RecursionError, MemoryError):
        found = too_deep
    except (SyntaxError, ValueError) as error:  # the interpreter says what else is wrong
        found = too_deep if "too many nested" in str(error) else ""
    if found:
        raise DiagnosticsError([Diagnostic(file=path, message=f"{found}, expected a BUILD.bazel file")])
    return text


class _Evaluation:
    """One file and what it loads."""

    def __init__(self, starlark: Any, path: Path) -> None:
        self.calls: list[Call] = []
        self.left_out: list[str] = []
        self._starlark = starlark
        self._path = path
        self._root, _ = package_of(path.parent)
        extension = starlark.LibraryExtension
        self._globals = starlark.Globals.extended_by([extension.CallStack, extension.StructType, extension.Print])
        self._loading: list[Path] = []

    def run(self, text: str) -> None:
        """Evaluate the BUILD file. Raises `DiagnosticsError`."""
        try:
            self._module(self._path, text)
        except self._starlark.StarlarkError as error:
            raise DiagnosticsError([self._diagnostic(str(error))]) from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of pyo3, which has no public name for it
                raise
            message = f"cannot be evaluated: the Starlark interpreter panicked: {error}"
            raise DiagnosticsError([Diagnostic(file=self._path, message=message)]) from error

    def _module(self, path: Path, text: str) -> Any:
        dialect = self._starlark.Dialect.extended()
        dialect.enable_load = dialect.enable_top_level_stmt = True
        parsed = self._starlark.parse(str(path), text, dialect)
        wanted = {load.module_id: tuple(load.symbols.values()) for load in parsed.loads()}
        module = self._with_rules((*_RULES, *_FUNCTIONS))
        loader = self._starlark.FileLoader(lambda label: self._load(label, wanted[label]))
        self._starlark.eval(module, parsed, self._globals, loader)
        return module

    def _with_rules(self, names: Sequence[str]) -> Any:
        """Return a module that has the functions of BUILD files and a recording function for each name."""
        rules = [name for name in names if name not in _FUNCTIONS]
        native = f"native = struct({', '.join(f'{name} = {name}' for name in (*rules, *_FUNCTIONS))})"
        text = "\n".join([_PRELUDE, *(_RULE.format(rule=name) for name in rules), native])
        module = self._starlark.Module()
        module.add_callable("_record", self._record)
        module.add_callable("_glob", self._glob)
        module.add_callable("_select", self._select)
        dialect = self._starlark.Dialect.standard()
        self._starlark.eval(module, self._starlark.parse(_PRELUDE_NAME, text, dialect), self._globals)
        return module

    def _load(self, label: str, symbols: Sequence[str]) -> Any:
        """Return what a .bzl file has: its own values where they matter, else recording functions."""
        package, _, name = label.rpartition(":")
        path = (self._root / package.removeprefix("//") if package else self._path.parent) / name
        is_own = not package.startswith("@") and not set(symbols) <= {*_RULES, *_FUNCTIONS}
        text = _text(path) if is_own and path not in self._loading and path.is_file() else ""
        if not _calls_rules(text) and not (text and any(map(str.isupper, symbols))):
            return self._with_rules(symbols).freeze()
        self._loading.append(path)
        try:
            return self._module(path, text).freeze()
        finally:
            self._loading.pop()

    # ------------------------------------------------------------ what a file calls

    def _record(self, rule: str, stack: str, positional: Sequence[object], arguments: Mapping[str, Any]) -> None:
        names = ["name", "srcs", *(f"at position {at}" for at in range(3, len(positional) + 1))]
        named = dict(zip(names, positional, strict=False)) | dict(arguments)
        given = {key: value for key, value in named.items() if value is not None}
        self.calls.append(Call(rule=rule, line=self._line(stack), arguments=given))

    def _line(self, stack: str) -> int:
        """Return the innermost line of the BUILD file itself."""
        lines = [int(frame["line"]) for frame in _FRAME.finditer(stack) if frame["file"] == str(self._path)]
        return lines[-1] if lines else 0

    def _select(self, branches: object, stack: str) -> Any:
        if not isinstance(branches, dict) or _DEFAULT not in branches:
            msg = f"found a select without {_DEFAULT!r}, expected one: its value is what is taken over"
            raise ValueError(msg)
        if others := ", ".join(branch for branch in branches if branch != _DEFAULT):
            place = f"{display_path(self._path)}:{self._line(stack)}"
            self.left_out.append(f"{place}: {others} of a select; {_DEFAULT} is taken over")
        return branches[_DEFAULT]

    def _glob(self, include: object, exclude: object) -> list[str]:
        found = {path for path in self._matching(include) if path.is_file()}.difference(self._matching(exclude))
        folder = self._path.parent
        return sorted(path.relative_to(folder).as_posix() for path in found if not self._is_foreign(path.parent))

    def _matching(self, patterns: object) -> Iterator[Path]:
        if not isinstance(patterns, list | tuple) or not all(isinstance(pattern, str) for pattern in patterns):
            msg = f"found {patterns!r} in a glob, expected a list of patterns"
            raise ValueError(msg)
        for pattern in patterns:
            parts = pattern.split("/")
            if "" in parts or ".." in parts or any("**" in part and part != "**" for part in parts):
                expected = "expected one that stays in the folder of the BUILD file, with ** for whole folders"
                msg = f"found the pattern {pattern!r}, {expected}"
                raise ValueError(msg)
            yield from self._path.parent.glob(pattern)

    def _is_foreign(self, folder: Path) -> bool:
        """Return whether a folder below this one belongs to a package of its own, which a glob does not enter."""
        own = self._path.parent
        between = [folder, *folder.parents][: len(folder.relative_to(own).parts)]
        return any((one / name).is_file() for one in between for name in BUILD_FILES)

    def _diagnostic(self, text: str) -> Diagnostic:
        error, place = _ERROR.search(text), _PLACE.search(text)
        message = error["message"] if error is not None else text.strip().partition("\n")[0]
        if place is not None and place["file"] != _PRELUDE_NAME:
            line, column = int(place["line"]), int(place["column"])
            return Diagnostic(file=Path(place["file"]), line=line, column=column, message=message)
        return Diagnostic(file=self._path, line=self._line(text), message=message)
