"""Cases as files, so that somebody else can run them: `cases.json` with one `.npy` for each array.

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
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from retarget.extension import Case, DriverError
from retarget.extension.registry import Registry
from retarget.model.names import selected_cases
from retarget.worker.artifact import read_artifact
from retarget.worker.child.outputs import read_outputs
from retarget.worker.messages import ExportCases, ExportedCases
from retarget.worker.request import agreed_config, case_request, tolerances_of

if TYPE_CHECKING:
    from retarget.extension import Array


def export_cases(registry: Registry, message: ExportCases) -> ExportedCases:
    """Write the cases. Raises `RetargetError` for invalid data and `OSError`."""
    run, folder = message.run, message.folder
    driver = registry.driver(run.target.runtime.driver)
    loader = registry.case_loader(run.target.compile.kind)
    request = case_request(run.target.compile)
    folder.mkdir(parents=True, exist_ok=True)
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
        references = {
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
    folder: Path, number: int, case: Case, compiler: str, references: dict[str, dict[str, tuple[Array, ...]]]
) -> dict[str, Any]:
    data = case.values()
    expected: Sequence[Array | None] | None = data.expected
    if other := agreed_config(case, compiler):
        expected = references.get(other, {}).get(case.name)  # None where that config has no results: not judged

    def written(arrays: Sequence[Array | None], what: str) -> list[dict[str, str] | None]:
        return [
            array if array is None else _file(folder, f"{number}-{what}{index}", array)
            for index, array in enumerate(arrays)
        ]

    return {
        "name": case.name,
        "function": case.function,
        "must_check": case.must_check,
        "inputs": written(data.inputs, "input"),
        "expected": None if expected is None else written(expected, "expected"),
        "tolerances": {name: asdict(tolerance) for name, tolerance in tolerances_of(case).items()},
    }


def _file(folder: Path, stem: str, array: Array) -> dict[str, str]:
    values = np.asarray(array)
    np.save(folder / f"{stem}.npy", values, allow_pickle=False)
    return {"file": f"{stem}.npy", "dtype": values.dtype.name}
