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
number for nothing and lets numbers wrap; both are errors here. A flagfile may include others: see
`retarget_iree.flagfile.lines`.

Nothing here imports NumPy: flagfiles are read in pytest's process too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from retarget.support.errors import DiagnosticsError, did_you_mean

from retarget_iree.flagfile.lines import Flag, flags_of, read_text
from retarget_iree.flagfile.values import Value, Written, parse_number, parse_value, quoted, shortened
from retarget_iree.runtime.devices.hal import HAL_DRIVERS

__all__ = ["FlagFile", "Parameters", "load_flagfile", "parse_flagfile"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """A parameter file for one scope; the empty one is that of parameters without a scope."""

    scope: str
    path: Written


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagFile:
    """The contents of a flagfile. `expected` is None where it has no expected results.

    `thresholds` are absolute tolerances by NumPy name, `rtol` is the relative one of all floating types; `exact` asks
    for equal bytes instead.
    """

    path: Path
    function: Written | None = None
    inputs: tuple[Value, ...] = ()
    expected: tuple[Value, ...] | None = None
    module: Written | None = None
    parameters: tuple[Parameters, ...] = ()
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


def _parse_parameters(written: Written) -> Parameters:
    scope, equals, path = written.text.partition("=")
    if not equals:
        return Parameters(scope="", path=written)
    start = len(scope) + 1
    if not path:
        msg = "found no file, expected scope=file.irpa"
        raise written.location.after(start).error(msg)
    return Parameters(scope=scope, path=Written(text=path, location=written.location.after(start)))
