"""The kind `onnx`: ONNX models, with what their files of cases, their data sets or their own types say of inputs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from retarget.extension import Case, CaseRequest, ModulesRequest, RunPlan, Suggestions
from retarget.model import Module, RuntimeConfig, Suite
from retarget.support import Diagnostic, DiagnosticsError, RetargetError, display_path

from retarget_cases.files.paths import SUFFIX, cases_file_of, data_sets
from retarget_cases.loader import CasesLoader

if TYPE_CHECKING:
    from retarget_cases.worker.cases import Reading

_ONNX = ".onnx"
_EMPTY_SET = (
    "found no values in this data set, expected files input_N.pb and output_N.pb; fetch them, or remove the folder"
)


class ModelsLoader(CasesLoader):
    """Cases of ONNX models. Those of `foo.onnx` may be in `foo.cases.toml` beside it, or in folders `test_data_set_N`;
    a model without any has one with generated inputs. A cases file among `srcs` names its model itself."""

    kind = "onnx"
    precedence = 15
    _of_model = True

    def find_modules(self, folder: Path, srcs: Sequence[Path]) -> Sequence[Module]:
        """Return one module per model. Raises `DiagnosticsError` with all errors of all cases files."""
        from retarget_cases.files.read import read_cases_file

        diagnostics: list[Diagnostic] = []
        modules: list[Module] = []
        of_models = {cases_file_of(source) for source in srcs if source.suffix == _ONNX}
        for source in srcs:
            cases = source if source.name.endswith(SUFFIX) else cases_file_of(source)
            if cases == source and cases in of_models:
                continue
            stem = source.relative_to(folder).with_name(source.name.removesuffix(SUFFIX).removesuffix(_ONNX))
            is_only = stem.name == "model" and stem.parent.name != ""  # as the ONNX project has its models
            name = (stem.parent if is_only else stem).as_posix()
            if source.suffix != _ONNX and cases != source:
                message = f"found a file that ends with {source.suffix!r}, expected .onnx"
                diagnostics.append(Diagnostic(file=source, message=message))
                continue
            path, install = source, ""
            written: tuple[Path, ...] = ()
            if os.path.lexists(cases):
                written = (cases,)
                try:
                    file = read_cases_file(cases, folder, of_model=True)
                except DiagnosticsError as error:
                    diagnostics += error.diagnostics
                    continue
                if file.model:
                    path, install = Path(os.path.normpath(cases.parent / file.model)), file.install  # it may be missing
                elif cases == source:
                    beside = display_path(cases.with_name(cases.with_suffix("").stem + _ONNX))
                    expected = f'expected {beside} in srcs, or model = "PATH" in this file'
                    diagnostics.append(Diagnostic(file=cases, message=f"found cases of no model, {expected}"))
            sets = data_sets(path)
            empty = {one for one in path.parent.glob("test_data_set_*") if one.is_dir()} - {one.parent for one in sets}
            said = [Diagnostic(file=one, message=_EMPTY_SET) for one in sorted(empty)]
            diagnostics += [one for one in said if one not in diagnostics]  # of another model in the same folder
            is_elsewhere = not path.is_relative_to(folder)
            modules.append(
                Module(
                    name=name, path=path, data=(*written, *sets), entry=name if is_elsewhere else "", install=install
                )
            )
        if diagnostics:
            raise DiagnosticsError(diagnostics)
        return modules

    def suggest_suites(self, request: ModulesRequest) -> Suggestions:
        """Return a suite of the models with data sets; for others, starter cases are written as for other modules."""
        from retarget_cases.starters import model_suites

        return model_suites(request)

    def file_schema(self) -> Mapping[str, object]:
        """Return the JSON Schema of the cases files of models."""
        from retarget_cases.files.tables import cases_schema

        return cases_schema(of_model=True)

    def data_diagnostics(self, module: Module, suite: Suite) -> Sequence[Diagnostic]:
        """Return what does not fit the model, where it is there and the package onnx is installed."""
        return super().data_diagnostics(module, suite) if module.path.is_file() or not module.install else ()

    def _checked(self, request: CaseRequest) -> Iterator[Reading]:
        from retarget_cases.worker.models import model_readings  # it imports NumPy

        return model_readings(request, request.functions[0].name, only_checks=True)

    def run_case_outside(
        self, config: RuntimeConfig, artifact: Path, module: Module, folder: Path, case: str
    ) -> RunPlan | None:
        """Return the `python3 -m retarget.worker.run_case` command of a case."""
        around = folder if not module.entry else Path(os.path.commonpath([folder, module.path]))
        return super().run_case_outside(config, artifact, module, around, case)

    def load(self, request: CaseRequest) -> Sequence[Case]:
        """Return the written cases, then the data sets; one with generated inputs where there are none.

        Raises `UnavailableError` where what computes the expected values is not installed.
        """
        from retarget_cases.worker.evaluators import expect_evaluator
        from retarget_cases.worker.models import model_readings  # it imports NumPy

        names = [function.name for function in request.functions]
        if len(names) != 1:
            msg = f"the artifact exports {', '.join(names) or 'no function'}; expected one function, the model's graph"
            raise RetargetError(msg)
        found = list(model_readings(request, names[0]))
        for reading in found:
            if (reference := reading.written.reference) is not None and not reference.file:
                expect_evaluator(reference.function)
        return [reading.case() for reading in found]
