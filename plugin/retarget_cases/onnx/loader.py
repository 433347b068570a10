"""The kind `onnx-backend`: modules from a manifest, programs and data from the installed package onnx."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.extension import Case, CaseLoader, CaseRequest, RunPlan, UnavailableError
from retarget.model import Module, RuntimeConfig
from retarget.support import Diagnostic, DiagnosticsError, RetargetError, display_path, install_hint

from retarget_cases.onnx.manifest_file import CASES_FILE, MODEL_FILE

_GENERATED_FILE = "generated.json"
"""Beside the tests' folders: which package generated them, and which tests of the manifest it does not have."""
_LAYOUT = "3"
"""Changes whenever `make` writes other files for the same tests."""


class OnnxBackendLoader(CaseLoader):
    """A suite's `srcs` name manifests.

    Each entry is a module with the tags of its line; `only` and `without` of the suite
    choose among them.
    """

    kind = "onnx-backend"

    def find_modules(self, folder: Path, srcs: Sequence[Path]) -> Sequence[Module]:
        """Return a module for each entry. Raises `DiagnosticsError` with what is wrong with the manifests."""
        from retarget_cases.onnx.manifest_file import read_manifest

        del folder
        diagnostics: list[Diagnostic] = []
        modules: list[Module] = []
        for path in srcs:
            try:
                tests = read_manifest(path).tests
                modules += [Module(name=name, path=path, entry=name, tags=tags) for name, tags in tests.items()]
            except DiagnosticsError as error:
                diagnostics += error.diagnostics
        if diagnostics:
            raise DiagnosticsError(diagnostics)
        return modules

    def version(self) -> str:
        """Name the packages that models and data come from."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            packages = [f"{name} {version(name)}" for name in ("onnx", "numpy", "ml_dtypes")]
        except PackageNotFoundError as error:
            reason = f"the package {error.name} is not installed"
            raise UnavailableError(reason, hint=install_hint("onnx")) from error
        return ", ".join([*packages, f"layout {_LAYOUT}"])

    def make(self, description: Path, folder: Path) -> None:
        """Write the model and the data of every entry that the installed package has. Some seconds."""
        from retarget_cases.onnx.manifest_file import read_manifest
        from retarget_cases.onnx.stored import installed_tests, installed_version, write_test

        manifest = read_manifest(description)
        tests = {test.name: test for test in installed_tests()}
        missing = [name for name in manifest.tests if name not in tests]
        for name in manifest.tests.keys() - missing:
            write_test(tests[name], folder / name)
        generated = {"package": installed_version(), "manifest": manifest.package, "missing": missing}
        (folder / _GENERATED_FILE).write_text(json.dumps(generated) + "\n", encoding="utf-8")

    def made(self, module: Module, folder: Path) -> Module:
        """Return the module with its model and cases. Raises `RetargetError` if the installed onnx has no such test."""
        here = folder / module.entry
        model = here / MODEL_FILE
        if model.is_file():
            return replace(module, path=model, data=(here / CASES_FILE,))
        damaged = f"{folder}: the folder of generated ONNX tests is damaged"
        damaged += "; clear the cache with `retarget cache clear`"
        try:
            generated = json.loads((folder / _GENERATED_FILE).read_bytes())
            package, writer = str(generated["package"]), str(generated["manifest"])
            is_missing = module.entry in generated["missing"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RetargetError(damaged) from error
        if not is_missing:
            raise RetargetError(damaged)
        manifest = display_path(module.path)
        again = f"write the manifest again with `python3 -m retarget_cases.onnx.manifest -o {manifest}`"
        msg = f"{package} has no test {module.entry}; the manifest {manifest} was written by {writer}"
        msg += f" and changed since: {again}" if package == writer else f": install that, or {again}"
        raise RetargetError(msg)

    def run_case_outside(
        self, config: RuntimeConfig, artifact: Path, module: Module, folder: Path, case: str
    ) -> RunPlan | None:
        """Return the `retarget.worker.run_case` command of a case; None for a module that was not generated."""
        del folder
        if not module.data:
            return None
        generated = replace(module, entry="")  # the file holds one
        return self.run_case_plan(config, artifact, generated, module.path.parent, case)

    def load(self, request: CaseRequest) -> Sequence[Case]:
        """Return a case for each data set of the test. Raises `RetargetError` where it is not clear what to call."""
        from retarget_cases.onnx.stored import read_cases

        names = [function.name for function in request.functions]
        if len(names) != 1:
            msg = f"the artifact exports {', '.join(names) or 'no function'}; expected one function, the model's graph"
            raise RetargetError(msg)
        if not request.data:
            msg = f"module {request.module} has no cases: its programs were not generated; report this with the log"
            raise RetargetError(msg)
        return [case for path in request.data for case in read_cases(path, names[0])]
