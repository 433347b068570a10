"""The outputs of a run, kept in files, and compared with those of another run.

A folder holds `outputs.json` and one file of raw bytes per array, since `.npy` does not know every element type.

Cases as files, so that somebody else can run them: `cases.json` with one `.npy` for each array.

    {"parameters": [[scope, file], …],
     "cases": [{"name", "function", "must_check",
                "inputs": [{"file", "dtype", "number": where the argument is one and no tensor}, …],
                "expected": null | [null | {"file", "dtype"}, …],
                "tolerances": {"float32": {"atol", "rtol", "ulp", "equal_nan", "same_bits"}, "": {…}}}, …]}

Files are relative to the folder. `dtype` is the element type's name, since `.npy` stores those of ml_dtypes as bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from retarget.arrays.agreement import most_agreed
from retarget.arrays.comparison import compare_arrays, largest_ulp
from retarget.arrays.dtypes import Elements
from retarget.extension import Case, DriverError
from retarget.extension.registry import Registry
from retarget.model.names import selected_cases
from retarget.model.outcomes import Mismatch, OutputComparison, OutputDifference
from retarget.support.errors import RetargetError
from retarget.support.files import write_atomically
from retarget.worker.artifact import OUTPUTS_INDEX, read_artifact
from retarget.worker.messages import (
    ExportCases,
    ExportedCases,
    agreed_config,
    agreed_results,
    case_request,
    must_check,
    tolerances_of,
)

if TYPE_CHECKING:
    from retarget.extension import Array, Tolerance


class CaseOutputs(Struct, frozen=True, kw_only=True):
    """The outputs of one case: its results, and what its checks looked at, in order. `name` is the case's.

    `judged` means that there was something to compare them with.
    """

    name: str
    results: tuple[Array, ...] = ()
    checked: tuple[Array, ...] = ()
    judged: bool = False


class OutputsWriter(Struct):
    """Writes the outputs of one run below `folder`, which is created. Nothing is there before `close`."""

    folder: Path
    _cases: list[dict[str, Any]] = field(default_factory=list)
    _files: int = 0

    def add(self, name: str, results: Sequence[Array], checked: Sequence[Array], *, judged: bool = False) -> None:
        """Write the arrays of one case that completed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._cases.append(
            {
                "name": name,
                "results": [self._write(array) for array in results],
                "checked": [self._write(array) for array in checked],
                "judged": judged,
            }
        )

    def close(self) -> None:
        """Write the index: from now on the outputs can be read."""
        write_atomically(self.folder / OUTPUTS_INDEX, json.dumps(self._cases).encode())

    def _write(self, array: Array) -> dict[str, Any]:
        array = np.asarray(array)
        file = f"{self._files}.bin"
        self._files += 1
        (self.folder / file).write_bytes(np.ascontiguousarray(array).tobytes())
        return {"file": file, "dtype": array.dtype.name, "shape": list(array.shape)}


def read_outputs(folder: Path) -> tuple[CaseOutputs, ...]:
    """Read what `OutputsWriter` wrote; the arrays are mapped, not read. Raises `RetargetError` without them."""
    try:
        cases = json.loads((folder / OUTPUTS_INDEX).read_bytes())
        return tuple(
            CaseOutputs(
                name=case["name"],
                results=tuple(_read(folder, entry) for entry in case["results"]),
                checked=tuple(_read(folder, entry) for entry in case["checked"]),
                judged=case["judged"],
            )
            for case in cases
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"no recorded outputs can be read from {folder}: {error}"
        raise RetargetError(msg) from error


def _read(folder: Path, entry: dict[str, Any]) -> Array:
    dtype, shape = Elements.named(entry["dtype"]).dtype, tuple(entry["shape"])
    if 0 in shape:
        return np.empty(shape, dtype)
    raw = np.memmap(folder / entry["file"], np.uint8, "r")
    return np.asarray(raw).view(dtype).reshape(shape)


def compare_outputs(folders: tuple[Path, Path], sides: tuple[str, str], tolerance: Tolerance) -> OutputComparison:
    """Compare the outputs recorded in two folders, whose runs are called `sides`.

    The results of a case are compared and, of modules that check themselves, the values that the checks looked at.
    Raises `RetargetError` for a folder without outputs.
    """
    left, right = ({case.name: case for case in read_outputs(folder)} for folder in folders)
    both = [name for name in left if name in right]
    arrays = values = differing = 0
    first: OutputDifference | None = None
    for name in both:
        for place, ours, theirs in _pairs(left[name], right[name]):
            arrays += 1
            values += ours.size
            mismatch = compare_arrays(Elements.of(theirs.dtype).resigned(ours), theirs, tolerance, sides)
            if mismatch is None:
                continue
            differing += 1
            if first is None:
                first = OutputDifference(case=name, place=place, mismatch=mismatch, max_ulp=largest_ulp(ours, theirs))
        if (miscount := _miscount(left[name], right[name], sides)) is not None:
            differing += 1
            first = first or miscount
    unmatched = [(name, sides[1]) for name in left if name not in right]
    unmatched += [(name, sides[0]) for name in right if name not in left]
    return OutputComparison(
        cases=len(both),
        arrays=arrays,
        values=values,
        differing=differing,
        first=first,
        unmatched=tuple(unmatched),
        judged=sum(left[name].judged or right[name].judged for name in both),
    )


def _pairs(left: CaseOutputs, right: CaseOutputs) -> Iterator[tuple[str, Array, Array]]:
    """Yield what both cases have. A case whose results differ in number is reported too."""
    for number, (ours, theirs) in enumerate(zip(left.results, right.results, strict=False)):
        yield f"result {number}", np.asarray(ours), np.asarray(theirs)
    for number, (ours, theirs) in enumerate(zip(left.checked, right.checked, strict=False), 1):
        yield f"check {number}", np.asarray(ours), np.asarray(theirs)


def _miscount(left: CaseOutputs, right: CaseOutputs, sides: tuple[str, str]) -> OutputDifference | None:
    for what, ours, theirs in (
        ("results", len(left.results), len(right.results)),
        ("checks", len(left.checked), len(right.checked)),
    ):
        if ours != theirs:
            summary = f"{sides[0]} has {ours}, {sides[1]} has {theirs}"
            return OutputDifference(case=left.name, place=what, mismatch=Mismatch(summary=summary, report=summary))
    return None


def export_cases(registry: Registry, message: ExportCases) -> ExportedCases:
    """Write the cases. Raises `RetargetError` for invalid data and `OSError`."""
    run, folder = message.run, message.folder
    driver = registry.driver(run.target.runtime.driver)
    loader = registry.case_loader(run.target.compile.kind)
    request = case_request(run.target.compile)
    folder.mkdir()
    parameters = []
    for number, (scope, path) in enumerate(loader.parameters(request)):
        name = f"parameters{number}{path.suffix}"
        shutil.copyfile(path, folder / name)
        parameters.append([scope, name])
    try:
        functions = tuple(driver.functions(read_artifact(run.artifact, run.digest)))
    except DriverError:
        names, entries = None, None
    else:
        cases = tuple(selected_cases(loader.load(replace(request, functions=functions)), run.only))
        references: dict[str, Mapping[str, Sequence[Array]] | str] = {
            config: {case.name: case.results for case in read_outputs(recorded)}
            for config, recorded in run.references
            if isinstance(recorded, Path)
        }
        names = tuple(case.name for case in cases)
        types = {function.name: function.argument_types for function in functions}
        entries = []
        for number, case in enumerate(cases):
            entries.append(_entry(folder, number, case, request.compiler, references))
            for entry, declared in zip(entries[-1]["inputs"], types.get(case.function, ()), strict=False):
                if not declared.startswith(("tensor", "!")):
                    entry["number"] = np.load(folder / entry["file"]).item()
    (folder / "cases.json").write_text(json.dumps({"parameters": parameters, "cases": entries}, indent=1) + "\n")
    return ExportedCases(names=names)


def _entry(
    folder: Path, number: int, case: Case, compiler: str, references: Mapping[str, Mapping[str, Sequence[Array]] | str]
) -> dict[str, Any]:
    data = case.values()
    expected: Sequence[Array | None] | None = data.expected
    if agreed_config(case, compiler):
        expected = None  # without results: not judged
        with suppress(RetargetError):
            others = agreed_results(case, references)
            expected = others[most_agreed(others, tolerances_of(case))[0]]

    def written(arrays: Sequence[Array | None], what: str) -> list[dict[str, str] | None]:
        return [
            array if array is None else _file(folder, f"{number}-{what}{index}", array)
            for index, array in enumerate(arrays)
        ]

    return {
        "name": case.name,
        "function": case.function,
        "must_check": must_check(case, expected),
        "inputs": written(data.inputs, "input"),
        "expected": None if expected is None else written(expected, "expected"),
        "tolerances": {name: asdict(tolerance) for name, tolerance in tolerances_of(case).items()},
    }


def _file(folder: Path, stem: str, array: Array) -> dict[str, str]:
    values = np.asarray(array)
    np.save(folder / f"{stem}.npy", values, allow_pickle=False)
    return {"file": f"{stem}.npy", "dtype": values.dtype.name}
