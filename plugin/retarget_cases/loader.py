"""The case loader `cases`.

The kind `onnx`: ONNX models, with what their files of cases, their data sets or their own types say of inputs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from retarget.extension import Case, CaseLoader, CaseRequest, FunctionInfo, ModulesRequest, RunPlan, Suggestions
from retarget.model import Module, RuntimeConfig, Suite
from retarget.support import Diagnostic, DiagnosticsError, RetargetError, did_you_mean, display_path, is_inside

from retarget_cases.files import SUFFIX, cases_file_of, data_sets

if TYPE_CHECKING:
    from retarget_cases.files.read import CasesFile
    from retarget_cases.worker.cases import Reading


_PROGRAMS = (".mlir", ".mlirbc", ".onnx")
"""Suffixes of modules besides those of the srcs: a cases file beside one of them has a module."""


class CasesLoader(CaseLoader):
    """Cases in TOML: those of `foo.mlir` are in `foo.cases.toml` beside it."""

    kind = "cases"
    precedence = 10
    _of_model = False
    """Whether files of cases are those of ONNX models."""

    def find_modules(self, folder: Path, srcs: Sequence[Path]) -> Sequence[Module]:
        """Return one module per source, with its cases file as data.

        Raises `DiagnosticsError` with all errors of all cases files, and for cases without modules. A module without
        cases is none: its targets fail, and `retarget check` reports it.
        """
        from retarget_cases.files.read import read_cases_file  # only a suite of this kind pays for its tables

        diagnostics: list[Diagnostic] = []
        modules: list[Module] = []
        sources = [source for source in srcs if not source.name.endswith(SUFFIX)]
        for source in sources:
            cases = cases_file_of(source)
            name = source.relative_to(folder).with_name(source.stem).as_posix()
            if not os.path.lexists(cases):  # its targets fail, and no others
                modules.append(Module(name=name, path=source))
                continue
            if not cases.is_file() or (cases.is_symlink() and not is_inside(cases, folder)):
                diagnostics.append(_without_cases(source, cases))
                continue
            try:
                read_cases_file(cases, folder)
            except DiagnosticsError as error:
                diagnostics += error.diagnostics
            modules.append(Module(name=name, path=source, data=(cases,)))
        diagnostics += _without_module(sources)
        if diagnostics:
            raise DiagnosticsError(list(dict.fromkeys(diagnostics)))
        return modules

    def suggest_suites(self, request: ModulesRequest) -> Suggestions:
        """Return a suite of the modules that have cases, and one of those for which starter cases can be written."""
        from retarget_cases.starters import cases_suites

        return cases_suites(request)

    def suite_diagnostics(self, suite: Suite, running: Mapping[str, Sequence[str]]) -> Sequence[Diagnostic]:
        """Return what is wrong with the configs that cases are to agree with, and the cases that nothing judges."""
        return [
            diagnostic
            for module in suite.modules
            for path in _written(module.data)
            if running[module.name] and not _has_all_values(path.read_bytes())  # others are not parsed
            for file in self._files([path], suite.folder)
            for diagnostic in file.agreement_diagnostics(suite, running[module.name])
        ]

    def references(self, module: Module, folder: Path, compiler: str) -> Sequence[str]:
        """Return the configs that cases are to agree with, in order. Raises `DiagnosticsError`."""
        configs = dict.fromkeys(
            file.agreed_config(case.agreement, compiler) if case.agreement is not None else ""
            for file in self._files(module.data, folder)
            for case in file.cases
            if case.agreement is not None or case.is_open
        )
        generated = ("",) if self._of_model and not module.data else ()
        return tuple(config for config in (*configs, *generated) if config != compiler)

    def run_case_outside(
        self, config: RuntimeConfig, artifact: Path, module: Module, folder: Path, case: str
    ) -> RunPlan | None:
        """Return the `python3 -m retarget.worker.run_case` command of a case."""
        return self.run_case_plan(config, artifact, module, folder, case)

    def data_files(self, module: Module, folder: Path) -> Sequence[Path]:
        """Return the files of values, references and parameters that the cases name. Raises `DiagnosticsError`."""
        return [file.path.parent / name for file in self._files(module.data, folder) for name in file.named_files()]

    def _files(self, data: Sequence[Path], folder: Path) -> Sequence[CasesFile]:
        from retarget_cases.files.read import read_cases_file

        return [read_cases_file(path, folder, of_model=self._of_model) for path in _written(data)]

    def parameters(self, request: CaseRequest) -> Sequence[tuple[str, Path]]:
        """Return the parameter archives that the cases file names, by scope. Raises `DiagnosticsError`."""
        return [pair for file in self._files(request.data, request.folder) for pair in file.archives(request.folder)]

    def file_schema(self) -> Mapping[str, object]:
        """Return the JSON Schema of cases files."""
        from retarget_cases.files.tables import cases_schema

        return cases_schema()

    def data_diagnostics(self, module: Module, suite: Suite) -> Sequence[Diagnostic]:
        """Return that a module has no cases, or what does not fit the function that an ONNX model becomes, where the
        package onnx is installed."""
        from retarget_cases.onnx.models import SUFFIX as ONNX
        from retarget_cases.onnx.models import model_function

        if not module.data and not self._of_model:
            return [_without_cases(module.path, cases_file_of(module.path))]
        if module.path.suffix != ONNX:
            return ()
        try:
            function = model_function(module.path)
        except RetargetError as error:
            return [Diagnostic(file=module.path, message=str(error).partition(": ")[2])]
        if function is None:
            return ()
        request = CaseRequest(
            module=module.name,
            source=module.path,
            data=module.data,
            folder=suite.folder,
            compiler="",
            functions=(function,),
        )
        return [one for reading in self._checked(request) for one in reading.diagnostics()]

    def _checked(self, request: CaseRequest) -> Iterator[Reading]:
        from retarget_cases.worker.cases import readings  # it imports NumPy

        return readings(request, request.functions[0], only_checks=True)

    def load(self, request: CaseRequest) -> Sequence[Case]:
        """Return the cases in the order of the file; values are read and computed when each is about to run.

        Raises `RetargetError` for a module without a file of them.
        """
        if not request.data:
            msg = str(_without_cases(request.source, cases_file_of(request.source)))
            raise RetargetError(msg)
        from retarget_cases.worker.cases import readings  # it imports NumPy

        model = _function_of_model(request)
        return [reading.case() for reading in readings(_with_types(request, model), model)]


def _has_all_values(text: bytes) -> bool:
    """Return whether each case of a file has expected values of its own, as far as its lines show."""
    cases, values = (len(re.findall(rb"(?m)^[ \t]*" + word, text)) for word in (rb"\[\[", rb"(?:expected|reference)\b"))
    return 0 < cases == values and b"agree_with" not in text


def _written(data: Sequence[Path]) -> Iterator[Path]:
    return (path for path in data if path.name.endswith(SUFFIX))


def _function_of_model(request: CaseRequest) -> FunctionInfo | None:
    """Return the function that an ONNX model declares, where the artifact has one and says nothing of its types."""
    from retarget_cases.onnx.models import SUFFIX as ONNX
    from retarget_cases.onnx.models import model_function

    functions = request.functions
    if request.source.suffix != ONNX or len(functions) != 1 or functions[0].argument_types or functions[0].result_types:
        return None
    model = model_function(request.source)
    return model if model is None or model.name else replace(model, name=functions[0].name)


def _with_types(request: CaseRequest, model: FunctionInfo | None) -> CaseRequest:
    if model is None:
        return request
    return msgspec.structs.replace(request, functions=(replace(model, name=request.functions[0].name),))


def _without_cases(source: Path, cases: Path) -> Diagnostic:
    """Return the error of a module whose cases file cannot be one."""
    file, message = cases, "found no regular file, expected the cases of the module beside it"
    if cases.is_file():
        message = f"found a link to {str(cases.resolve())!r}, expected a file in the suite's folder: copy it there"
    elif not os.path.lexists(cases):
        near = did_you_mean(cases.name, (path.name for path in source.parent.glob(f"*{SUFFIX}")))
        file, message = source, f"found no cases file {cases.name!r} beside the module, expected one{near}"
    return Diagnostic(file=file, message=message)


def _without_module(sources: Iterable[Path]) -> Iterable[Diagnostic]:
    """Yield an error for each cases file in the sources' folders that has no module beside it."""
    suffixes = dict.fromkeys(_PROGRAMS)
    folders: dict[Path, None] = {}
    for source in sources:
        folders[source.parent] = None
        suffixes[source.suffix] = None
    for folder in folders:
        for cases in sorted(folder.glob(f"*{SUFFIX}")):
            stem = cases.name.removesuffix(SUFFIX)
            if not any(cases.with_name(stem + suffix).exists() for suffix in suffixes):
                names = (path.name for path in folder.iterdir() if path.suffix in suffixes)
                hint = did_you_mean(stem, (Path(name).stem for name in names))
                expected = f"expected {' or '.join(stem + suffix for suffix in suffixes)} beside it{hint}"
                message = f"found cases without a module, {expected}"
                yield Diagnostic(file=cases, message=message)


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
                    expected = f'expected {beside} in srcs, or model = "FILE" in this file'
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
        from retarget_cases.worker.models import model_readings  # it imports NumPy
        from retarget_cases.worker.reference import expect_evaluator

        names = [function.name for function in request.functions]
        if len(names) != 1:
            msg = f"the artifact exports {', '.join(names) or 'no function'}; expected one function, the model's graph"
            raise RetargetError(msg)
        found = list(model_readings(request, names[0]))
        for reading in found:
            if (reference := reading.written.reference) is not None and not reference.file and not reading.agree_with:
                expect_evaluator(reference.function)
        return [reading.case() for reading in found]
