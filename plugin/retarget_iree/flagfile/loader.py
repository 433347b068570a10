"""The case loader `run-module`: flagfiles of `iree-run-module` say what a module is called with and should return.

Each src of such a suite is a flagfile. Its module is the one program beside it (`.mlir`, `.mlirbc`, or else `.onnx`),
or what its `--module=` names. A folder's only module goes by the folder's path below the suite's, so that a tree of
folders with a `model.mlir` each needs no names; of several, each goes by folder and stem.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from retarget.extension import Case, CaseLoader, CaseRequest, ModulesRequest, RunPlan, Suggestions
from retarget.model import Module, RuntimeConfig, Suite
from retarget.support import Diagnostic


class RunModuleCaseLoader(CaseLoader):
    """A module's flagfiles are its cases, named by stem; one alone is named by its function.

    A flagfile without `--expected_output` asks only that its call comes to an end. An invalid flagfile fails its own
    case, at stage load.
    """

    kind = "run-module"
    precedence = 40

    def find_modules(self, folder: Path, srcs: Sequence[Path]) -> Sequence[Module]:
        """Return the modules of the flagfiles, each with its flagfiles as data.

        Raises `DiagnosticsError` for flagfiles whose module is not there, is not one, or lies outside `folder`.
        """
        from retarget_iree.flagfile import cases

        return cases.find_modules(folder, srcs)

    def data_diagnostics(self, module: Module, suite: Suite) -> Sequence[Diagnostic]:
        """Return the errors of a module's flagfiles and of the data that they name."""
        from retarget_iree.flagfile import cases

        return cases.data_diagnostics(module, suite.folder)

    def data_files(self, module: Module, folder: Path) -> Sequence[Path]:
        """Return the flagfiles included by those of a module, and the files of values and parameters that they name.

        Raises `DiagnosticsError`.
        """
        from retarget_iree.flagfile import cases

        return [file for path in module.data for file in cases.named_files(path, folder)]

    def load(self, request: CaseRequest) -> Sequence[Case]:
        """Return one case per flagfile. Errors are kept for the case, whose `read` raises them."""
        from retarget_iree.flagfile import cases

        return cases.cases_of(request)

    def parameters(self, request: CaseRequest) -> Sequence[tuple[str, Path]]:
        """Return what the flagfiles say by `--parameters=`, each once. Raises `DiagnosticsError`."""
        from retarget_iree.flagfile import cases

        return cases.parameters_of(request)

    def run_case_outside(
        self, config: RuntimeConfig, artifact: Path, module: Module, folder: Path, case: str
    ) -> RunPlan | None:
        """Return the `iree-run-module` command of one case, to be run in the flagfile's folder; None where the tool
        cannot open the config's devices, and for a case that there is not."""
        from retarget_iree.flagfile import cases

        return cases.plan_of(config, artifact, module, folder, case)

    def suggest_suites(self, request: ModulesRequest) -> Suggestions:
        """Return one suite of the flagfiles whose module is there."""
        from retarget_iree.flagfile import cases

        return cases.flagfile_suites(request)
