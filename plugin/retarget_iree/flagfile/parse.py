"""Reads flagfiles of `iree-run-module`: which function is called, on what, and what it should return.

    file      = line { newline line }
    line      = "" | ("#" | "//") text | "--" name [ "=" value ]
    argument  = "(ignored)" | "(null)" | array | [ "&" ] tensor | number      value of --input and --expected_output
    array     = ("@" | "+" | "*") path                  a .npy file: its first array, the next one, all that are left
    tensor    = type [ "=" [ contents ] ]               no contents: zeros
    type      = [ { size "x" } ] element                "2x3xf32"; "f32" and "xf32" have rank 0
    contents  = ("@" | "+") path                        raw bytes, from the start or from where the last reading ended
              | item { item }                           one number fills the tensor
    item      = number | " " | "," | "[" | "]"

Blanks around lines, names and values do not count; later flags override earlier ones. Numbers are as in C: `0x10` is
16, `010` is 8, `nan`, `inf` and `0x1p-3` are floats. What the tool has no other form for is written as bytes in
hexadecimal: complex numbers and, as the tool takes them, the Booleans `00` and `01` (here `0`, `1`, `false` and `true`
too). Integers of 2 and 4 bits are numbers here, `4xi4=1 2 3 4`; the tool takes only their packed bytes, `4xi4=21 43`,
and so does this where all items have two digits and are as many as the bytes, or one. The tool takes what follows a
number for nothing and lets numbers wrap; both are errors here. A flagfile may include others.

Nothing here imports NumPy: flagfiles are read in pytest's process too.
"""

from __future__ import annotations

import math
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace
from retarget.support import Diagnostic, DiagnosticsError, did_you_mean, is_inside

from retarget_iree.flagfile.values import Location, Value, Written, parse_number, parse_value, quoted, shortened
from retarget_iree.runtime.devices import HAL_DRIVERS

_THRESHOLDS = {
    "expected_f16_threshold": "float16",
    "expected_f32_threshold": "float32",
    "expected_f64_threshold": "float64",
    "expected_bf16_threshold": "bfloat16",
}
_DEFAULT_THRESHOLDS = {"float16": 1e-3, "float32": 1e-4, "float64": 1e-4, "bfloat16": 1e-2}
_DEFAULT_RTOL = 1e-5
# The tool's own, from `iree-run-module --help` of IREE 3.13.

_JUDGING = {
    **dict.fromkeys((*_THRESHOLDS, "expected_rtol"), "0.0001"),
    "equality_mode": "exact",
    "function": "main",
    "input": "2x3xf32=@input_0.bin",
    "expected_output": "2x3xf32=@output_0.bin",
    "module": "model.mlir",
    "parameters": "scope=weights.irpa",
}
"""Flags that bear on the verdict, each with an example of its value."""
_PRINTING = (
    "output",
    "output_max_element_count",
    "print_statistics",
    "trace_execution",
    "module_mode",
    "parameter_mode",
)
"""Flags of the tool that bear on what it prints or how it reads, and not on the verdict."""
_OF_DRIVERS = {*(driver.device for driver in HAL_DRIVERS.values()), "cuda2", "amdgpu", "hsa", "metal", "webgpu", "null"}
_RUNTIME = re.compile(rf"device(?:_.*)?|(?:task|executable|{'|'.join(sorted(_OF_DRIVERS))})_.*|dump_.*|list_.*")
"""Flags of the runtime as a whole, which belong to runtime configs."""

# ---------------------------------------------------------------- contents of a flagfile


class FlagFile(Struct, frozen=True, kw_only=True):
    """The contents of a flagfile. `expected` is None where it has no expected results. `parameters` are scopes, empty
    for parameters without one, and paths.

    `thresholds` are absolute tolerances by NumPy name, `rtol` is the relative one of all floating types; `exact` asks
    for equal bytes instead.
    """

    path: Path
    function: Written | None = None
    inputs: tuple[Value, ...] = ()
    expected: tuple[Value, ...] | None = None
    module: Written | None = None
    parameters: tuple[tuple[str, Written], ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=lambda: dict(_DEFAULT_THRESHOLDS))
    rtol: float = _DEFAULT_RTOL
    exact: bool = False


# ---------------------------------------------------------------- flags


def load_flagfile(path: Path, folder: Path) -> FlagFile:
    """Return the contents of a flagfile and of those it includes, all inside `folder`. Raises `DiagnosticsError`."""
    return parse_flagfile(path, read_text(path), folder)


def parse_flagfile(path: Path, text: str, folder: Path) -> FlagFile:
    """Return the contents of a flagfile's text. Raises `DiagnosticsError` with all errors, with line and column."""
    flags, found = flags_of(path, text, folder)
    diagnostics = list(found)
    file = FlagFile(path=path)
    for flag in flags:
        try:
            file = file if flag.name in _PRINTING else _with_flag(file, flag)
        except DiagnosticsError as error:
            diagnostics += error.diagnostics
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    return file


def _with_flag(file: FlagFile, flag: Flag) -> FlagFile:
    if flag.name not in _JUDGING:
        raise flag.location.error(_unknown(flag.name))
    written = flag.value
    if written is None or not written.text:
        msg = f"found --{flag.name} without a value, expected --{flag.name}={_JUDGING[flag.name]}"
        raise flag.location.error(msg)
    match flag.name:
        case "input":
            file = replace(file, inputs=(*file.inputs, parse_value(written)))
        case "expected_output":
            file = replace(file, expected=(*(file.expected or ()), parse_value(written)))
        case "function":
            file = replace(file, function=written)
        case "module":
            if file.module is not None:
                msg = f"found --module a second time, expected one: the first is {file.module.text}"
                raise flag.location.error(msg)
            file = replace(file, module=written)
        case "parameters":
            file = replace(file, parameters=(*file.parameters, _parse_parameters(written)))
        case "equality_mode":
            if written.text not in {"approximate", "exact"}:
                guess = did_you_mean(written.text, ["approximate", "exact"])
                msg = f"found {quoted(written.text)}, expected approximate or exact{guess}"
                raise written.location.error(msg)
            file = replace(file, exact=written.text == "exact")
        case "expected_rtol":
            file = replace(file, rtol=_parse_tolerance(written))
        case threshold:
            file = replace(file, thresholds={**file.thresholds, _THRESHOLDS[threshold]: _parse_tolerance(written)})
    return file


def _unknown(name: str) -> str:
    if _RUNTIME.fullmatch(name):
        return (
            f"found --{shortened(name)}, expected no flag of the runtime: where a case runs is set by the runtime "
            "config (driver, devices, flags) in matrix.toml"
        )
    guess = did_you_mean(name.replace("-", "_"), (*_JUDGING, *_PRINTING))
    known = "" if guess else f": {', '.join(sorted(_JUDGING))}"
    return f"found --{shortened(name)}, expected a flag of iree-run-module that bears on a case{known}{guess}"


def _parse_tolerance(written: Written) -> float:
    number = parse_number(written.text)
    if number is None or not 0 <= number < math.inf:
        msg = f"found {quoted(written.text)}, expected a number of 0 or more, such as 0.001"
        raise written.location.error(msg)
    return number


def _parse_parameters(written: Written) -> tuple[str, Written]:
    scope, equals, path = written.text.partition("=")
    if not equals:
        return "", written
    start = len(scope) + 1
    if not path:
        msg = "found no file, expected scope=file.irpa"
        raise written.location.after(start).error(msg)
    return scope, Written(text=path, location=written.location.after(start))


_INCLUDE = "flagfile"
_LITERAL = (_INCLUDE, "expected_output")
"""Flags of whose values the tool takes quotes for a part."""
_MOST_FILES = 256
"""Flagfiles that one may include, directly and by others: files that include others twice are many very soon."""
_MAX_TEXT = 64 << 20
"""Bytes of a flagfile. Larger values belong into data files."""


class Flag(Struct, frozen=True, kw_only=True):
    """One flag. `value` is None where there is no `=`."""

    name: str
    location: Location
    value: Written | None


def read_text(path: Path) -> str:
    """Return a flagfile's text. Raises `DiagnosticsError` for one that cannot be read or is not text."""
    whole = Location(file=path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            msg = "found no regular file, expected a flagfile of iree-run-module"
            raise whole.error(msg)
        size = status.st_size
        if size > _MAX_TEXT:
            msg = f"found a flagfile of {size} bytes, expected at most {_MAX_TEXT}; keep values in .npy or .bin files"
            raise whole.error(msg)
        return path.read_text(encoding="utf-8")
    except OSError as error:
        msg = f"cannot be read: {error.strerror or error}; expected a flagfile of iree-run-module"
        raise whole.error(msg) from error
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        location = Location(file=path, line=before.count("\n") + 1, column=len(before) - before.rfind("\n"))
        found = f"found the byte 0x{error.object[error.start]:02x}, which is no UTF-8 text here"
        msg = f"{found}; expected a flagfile of iree-run-module"
        raise location.error(msg) from error


def split_flags(path: Path, text: str) -> tuple[tuple[Flag, ...], tuple[Diagnostic, ...]]:
    """Return the flags of a flagfile's text, and the lines that are none as errors."""
    flags: list[Flag] = []
    diagnostics: list[Diagnostic] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith(("#", "//")):
            continue
        location = Location(file=path, line=number, column=raw.index(line) + 1)
        if not line.startswith("--"):
            message = (
                f"found {quoted(line)}, expected a flag ('--name=value'), a comment ('#' or '//') or an empty line"
            )
            if line.startswith("\ufeff"):
                message = "found a byte order mark, expected '--name=value'; save the file as UTF-8 without one"
            diagnostics.append(location.diagnostic(message))
            continue
        name, equals, rest = line[2:].partition("=")
        value = None
        if equals:
            start = len(line) - len(rest.lstrip())
            value = Written(text=rest.strip(), location=location.after(start))
            if name.strip() not in _LITERAL and len(value.text) >= 2 and value.text[0] == value.text[-1] == '"':
                value = Written(text=value.text[1:-1], location=value.location.after(1))  # as a shell does
        flags.append(Flag(name=name.strip(), location=location, value=value))
    return tuple(flags), tuple(diagnostics)


def resolved(written: Written, base: Path, folder: Path, what: str) -> Path:
    """Return the path that a value names, with links resolved, whether it is there or not. Raises `DiagnosticsError`
    for one that leads outside `folder`, or that cannot be read."""
    found = f"found {quoted(written.text)}, which"
    try:
        real = (base / written.text).resolve()
        real.is_file()
    except (OSError, ValueError, RuntimeError) as error:  # a cycle of links, a NUL character, a name too long
        msg = f"{found} is not a path that can be read: {getattr(error, 'strerror', None) or error}"
        raise written.location.error(msg) from error
    if not is_inside(real, folder):
        msg = f"{found} leads outside the suite's folder {folder}; expected a {what} inside it"
        raise written.location.error(msg)
    return real


# ---------------------------------------------------------------- inclusion


def flags_of(path: Path, text: str, folder: Path) -> tuple[tuple[Flag, ...], tuple[Diagnostic, ...]]:
    """Return the flags of a flagfile's text and of the files that it includes, in the order that the tool reads them.

    What is wrong with their lines and with the inclusions are the errors. No file may lie outside `folder`.
    """
    inclusion = _Inclusion(base=path.parent, folder=folder)
    flags = tuple(inclusion.flags(path, text, (path,)))
    return flags, tuple(inclusion.diagnostics)


class _Inclusion(Struct, kw_only=True):
    """One flagfile about to be read. Paths start at `base`, its folder."""

    base: Path
    folder: Path
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _files: int = 0

    def flags(self, path: Path, text: str, trail: tuple[Path, ...]) -> Iterator[Flag]:
        """Yield the flags of a file. `trail` are the files that led to it, itself last."""
        flags, diagnostics = split_flags(path, text)
        self.diagnostics += diagnostics
        for flag in flags:
            if flag.name != _INCLUDE:
                yield flag
                continue
            self._files += 1
            if self._files > _MOST_FILES:  # reported once
                if self._files == _MOST_FILES + 1:
                    msg = f"found more than {_MOST_FILES} inclusions by {trail[0].name}, expected at most as many"
                    self.diagnostics.append(flag.location.diagnostic(msg))
                return
            try:
                included = self._included(flag, trail)
                text = read_text(included)
            except DiagnosticsError as error:
                self.diagnostics += error.diagnostics
            else:
                yield from self.flags(included, text, (*trail, included))

    def _included(self, flag: Flag, trail: tuple[Path, ...]) -> Path:
        """Return the file that a flag includes. Raises `DiagnosticsError`."""
        written = flag.value
        if written is None or not written.text:
            msg = f"found --{_INCLUDE} without a value, expected --{_INCLUDE}=common_flags.txt"
            raise flag.location.error(msg)
        location = written.location
        real = resolved(written, self.base, self.folder, "flagfile")
        if not real.is_file():
            at = "" if len(trail) == 1 else f" in the folder of {trail[0].name}, where the tool looks for it"
            others: set[str] = set()
            with suppress(OSError):  # it has no folder, or one that cannot be read
                others = {other.name for other in real.parent.iterdir() if other.is_file()}
            near = did_you_mean(real.name, others - {other.name for other in trail})
            msg = f"found no file {quoted(written.text)}, expected a flagfile{at}{near}"
            raise location.error(msg)
        if any(other.resolve() == real for other in trail):
            shown = " → ".join(other.name for other in (*trail, real))
            msg = f"found flagfiles that include each other in a cycle, {shown}; expected a file that includes no more"
            raise location.error(msg)
        return self.folder / real.relative_to(self.folder.resolve())
