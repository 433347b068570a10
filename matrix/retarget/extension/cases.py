"""The base class of kinds of cases, and what its methods take and return."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from retarget.extension.drivers import RunPlan
from retarget.extension.products import Product, called_in_process, checked_value, not_overridden
from retarget.model import CompileTarget, Module, RuntimeConfig, Suite
from retarget.model.calls import FunctionInfo, Tolerance
from retarget.model.outcomes import Stage
from retarget.support.errors import Diagnostic

if TYPE_CHECKING:
    from retarget.model.calls import Array

RUN_CASE = "retarget.worker.run_case"
"""What `python3 -m` runs."""

_TELLING = tuple((stage, rf".*?: failed at {stage.value}: (.*)") for stage in (Stage.LOAD, Stage.RUN, Stage.COMPARE))
"""How the command reports a failure: `RunPlan.telling`."""


class CaseData(Struct, frozen=True, kw_only=True):
    """The values of a case: what a function is called with, and what it should return.

    `expected` is None where nothing is known of it; a None in it means a result of any value.
    """

    inputs: tuple[Array, ...] = ()
    expected: tuple[Array | None, ...] | None = None


class Case(Struct, frozen=True, kw_only=True):
    """One call of a module. `expected` is None where the module checks itself (`kind = "check"`). The cases of a module
    have different names.

    `read` is called when the case is about to run, so that only one case's values are held at a time; what it returns
    replaces `inputs` and `expected`. A `RetargetError` from it is this case's failure, and others go on.

    `tolerances` are by the NumPy name of the expected result's element type (`float32`), `""` for all others; where it
    is empty, results hold when `|actual - expected| <= atol + rtol * |expected|`, both 0 asking for equal values.

    `agree_with` names the compiler config whose results of the same case are what is expected; with
    `retarget.model.MAJORITY` they must be those of most targets of the module. A call of which nothing
    is compared and in which the module did no check of its own is a failure; without `must_check` it only has to
    complete.
    """

    name: str
    function: str
    inputs: tuple[Array, ...] = ()
    expected: tuple[Array | None, ...] | None = None
    atol: float = 0.0
    rtol: float = 0.0
    must_check: bool = True
    read: Callable[[], CaseData] | None = None
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    agree_with: str = ""

    def values(self) -> CaseData:
        """Return the values, read if they are to be read. Raises what `read` does, `ExtensionError` for other ones."""
        for of, tolerance in self.tolerances.items():
            checked_value(Tolerance, f"case {self.name!r}: tolerances[{of!r}]", tolerance)
        if self.read is None:
            return CaseData(inputs=self.inputs, expected=self.expected)
        data: CaseData = checked_value(CaseData, f"case {self.name!r}: read()", self.read())
        return data


class CaseRequest(Struct, frozen=True, kw_only=True):
    """Whose cases are wanted. `module` is its name, `source` its file, `data` and `entry` are as in `Module`.

    `folder` is the suite's, which no data may leave. `compiler` is the name of the compiler config that compiled the
    artifact, `functions` are what it exports. `agree` is the suite's: `Case.agree_with` of a case of which nothing else
    is known.
    """

    module: str
    source: Path
    data: tuple[Path, ...] = ()
    entry: str = ""
    folder: Path
    compiler: str
    functions: tuple[FunctionInfo, ...] = ()
    agree: str = ""


class ArtifactRequest(Struct, frozen=True, kw_only=True):
    """An artifact to check. `source` is the module's file, `compiler` the config's name, `tags` are the target's.

    `known_compilers` are the names of all configs that the suite's file sees; none where that is not known.
    """

    module: str
    source: Path
    artifact: bytes
    compiler: str
    tags: tuple[str, ...] = ()
    known_compilers: tuple[str, ...] = ()


class CheckedCase(Struct, frozen=True, kw_only=True):
    """What one check of an artifact found. It holds where `summary`, one line, and `report`, several, are empty."""

    name: str
    summary: str = ""
    report: str = ""


class ModulesRequest(Struct, frozen=True, kw_only=True):
    """The files to look at: `files` are below `folder`, sorted. `reference` is the name of the compiler config that
    others can be compared with, empty where there is only one."""

    folder: Path
    files: tuple[Path, ...]
    reference: str = ""


class SuggestedSuite(Struct, frozen=True, kw_only=True):
    """A suite: `files` are all that its `srcs` must match. `comment` has the lines above it.

    `label` distinguishes several suites of one kind. `by_name` means that modules are found by whole file names
    (`flags.txt`) rather than by suffixes. `used` are files that belong to its modules and are no modules of
    other kinds. `writes` are new files with their texts, such as cases. `compares` means that it needs a reference.
    `agree` is as in a suite. `compiles_only` means that nothing is run.
    """

    files: tuple[Path, ...]
    comment: tuple[str, ...]
    label: str = ""
    by_name: bool = False
    compiler_flags: tuple[str, ...] = ()
    agree: str = ""
    used: tuple[Path, ...] = ()
    writes: tuple[tuple[Path, str], ...] = ()
    compares: bool = False
    compiles_only: bool = False


class Suggestions(Struct, frozen=True, kw_only=True):
    """The suites of one kind, and the files that are modules but cannot be tested as they are, each with the reason.

    `data` are files of values beside modules, each with what to do if no suite uses it.
    """

    suites: tuple[SuggestedSuite, ...] = ()
    left_out: tuple[tuple[Path, str], ...] = ()
    data: tuple[tuple[Path, str], ...] = ()


class CaseLoader(Product, is_base=True):
    """A kind of cases: turns a module and the functions of its artifact into cases, or judges the artifact itself.

    `kind` is what `module_test_suite.kind` says. Kinds are asked for suites (`suggest_suites`) in the order of
    `precedence`, the highest first: of those that come with retarget, `run-module` has 40, `check` 30, `filecheck` 20,
    `onnx` 15, `cases` 10.
    """

    kind: str
    precedence: int = 0

    @abstractmethod
    def load(self, request: CaseRequest) -> Sequence[Case]:
        """Return the cases in order. Runs in a device worker. Raises `RetargetError` for invalid data; an empty
        result is reported as a failure (nothing to run), never as a pass."""

    def check(self, request: ArtifactRequest) -> Sequence[CheckedCase]:
        """Judge an artifact, and return what was checked, in order; nothing at all is a failure. Runs in a worker
        process. Raises `RetargetError` for invalid sources, `UnavailableError` where a package that it needs is
        missing.

        A kind that overrides this runs nothing: its suites have compile targets only, and `load` is not called."""
        not_overridden(self, "check")

    def parameters(self, request: CaseRequest) -> Sequence[tuple[str, Path]]:
        """Return the (scope, parameter archive) pairs that a module takes from files, needed before the artifact is
        loaded: `request.functions` is empty. Runs in a device worker. Raises `RetargetError`."""
        return ()

    @called_in_process
    def find_modules(self, folder: Path, srcs: Sequence[Path]) -> Sequence[Module]:
        """Return the modules of the files `srcs`, in order, of a kind whose `srcs` are not simply the modules. `folder`
        is the suite's.

        Pure: reads files at and below `folder` only, and asks nothing of the machine. Runs in pytest's process, at
        collection. Raises `RetargetError` (`DiagnosticsError` for several) for invalid files.
        """
        not_overridden(self, "find_modules")

    @called_in_process
    def suite_diagnostics(self, suite: Suite, running: Mapping[str, Sequence[str]]) -> Sequence[Diagnostic]:
        """Return what is wrong with what the files of a suite's cases say of configs. `running` has, by the name of a
        module, the compiler configs that it is run with somewhere.

        Pure and cheap: reads files at and below the suite's folder only. Runs in pytest's process, at collection, once
        all that the suite names is known to be sound.
        """
        return ()

    @called_in_process
    def data_diagnostics(self, module: Module, suite: Suite) -> Sequence[Diagnostic]:
        """Return what is wrong with the files that hold a module's cases, for `retarget check`. Pure; reads files at
        and below the suite's folder only. The same errors fail the cases when they are run."""
        return ()

    @called_in_process
    def data_files(self, module: Module, folder: Path) -> Sequence[Path]:
        """Return what the cases of a module read in addition to `Module.data`, in order, whether it is there or not:
        arrays, parameters, references. `folder` is the suite's. Pure; runs in pytest's process.
        Raises `RetargetError` for invalid data.
        """
        return ()

    @called_in_process
    def file_schema(self) -> Mapping[str, object] | None:
        """Return the JSON Schema of the case files (draft 2020-12), without `$schema` and `title`, for editors:
        `retarget schema --for KIND` prints it. None without. It refuses what the loader refuses, as far as that can be
        expressed. Pure; runs in that command's process."""
        return None

    @called_in_process
    def run_case_outside(
        self, config: RuntimeConfig, artifact: Path, module: Module, folder: Path, case: str
    ) -> RunPlan | None:
        """Do what `Driver.run_outside` does for the case of that name, instead of it, of a kind whose cases a tool can
        run by hand, with their inputs, and judge; None if there is no tool.

        `case` is empty where no name is known yet: any case of `module` does. `folder` is the suite's. Pure; runs in
        pytest's process.
        """
        return None

    def run_case_plan(self, config: RuntimeConfig, artifact: Path, module: Module, folder: Path, case: str) -> RunPlan:
        """Return how this program does so, for `run_case_outside`: without `run_under`, and of all cases where `case`
        is empty."""
        return run_case_plan(kind=self.kind, config=config, artifact=artifact, module=module, folder=folder, case=case)

    @called_in_process
    def references(self, module: Module, folder: Path, compiler: str) -> Sequence[str]:
        """Return the compiler configs whose results are wanted when `module` is run as `compiler` compiled it: cases
        may compare the results of configs with each other. `MAJORITY` stands for all other targets, an empty name for
        what the suite says, which cases of a kind that overrides this heed (`CaseRequest.agree`).

        Pure; runs in pytest's process. Raises `RetargetError` for invalid data, and for configs that wait for each
        other in a cycle.
        """
        return ()

    def agreed(self, target: CompileTarget) -> Sequence[str]:
        """Return what the cases of a target are to agree with: `references`, with what its suite says."""
        own = target.compiler.name
        found = dict.fromkeys(name or target.agree for name in self.references(target.module, target.folder, own))
        return [name for name in found if name not in {"", own}]

    @called_in_process
    def suggest_suites(self, request: ModulesRequest) -> Suggestions:
        """Return the suites for those of the files that are modules of this kind, for `retarget init`; what one kind
        has taken or left out is not shown to the next. Reads files below the folder only. Runs in that process."""
        return Suggestions()

    # ------------------------------------------------ modules that are generated when they are needed

    @called_in_process
    def version(self) -> str:
        """Name what generates the modules (`make`), such as an installed package: equal answers promise equal files.
        Cheap; runs in pytest's process. Raises `UnavailableError` where it is not installed."""
        not_overridden(self, "version")

    def make(self, description: Path, folder: Path) -> None:
        """Write all modules that the file `description` lists, and their data, below the empty `folder`. Runs in a
        worker process. Raises `RetargetError`.

        The modules of a kind that overrides this are generated when they are needed, and kept in the cache, by
        `version` and the content of the description. It overrides `version` and `made`, too."""
        not_overridden(self, "make")

    @called_in_process
    def made(self, module: Module, folder: Path) -> Module:
        """Return `module` with `path` and `data` below `folder`, which `make` has filled. Pure; in pytest's process.
        Raises `RetargetError` for a module that was not generated."""
        not_overridden(self, "made")

    # ------------------------------------------------ checks that become results, for runs that a tool does

    @called_in_process
    def return_checks_version(self) -> str:
        """Name what rewrites: equal answers promise equal programs. Cheap; runs in pytest's process."""
        not_overridden(self, "return_checks_version")

    def return_checks(self, source: bytes, name: str) -> bytes:
        """Return the program of a module's file, whose name has no folder, rewritten: its functions return what they
        would check while they run, and the driver makes the checks of it (`Driver.runs_by_tool`). Runs in a compile
        worker. Raises `CompilerError` for checks that cannot be returned.

        A kind that overrides this overrides `return_checks_version` and `return_checks_command`, too."""
        not_overridden(self, "return_checks")

    @called_in_process
    def return_checks_command(self, source: Path, output: Path) -> Sequence[str]:
        """The argument list that does so by hand. Pure; runs in pytest's process."""
        not_overridden(self, "return_checks_command")


def run_case_plan(
    *,
    kind: str,
    config: RuntimeConfig,
    artifact: Path,
    module: Module | None = None,
    folder: Path | None = None,
    case: str,
) -> RunPlan:
    """Return how this program runs a case (empty: all) of an artifact on a config's devices, without `run_under`.

    `folder` is the suite's. A kind whose cases are the artifact's functions needs no module.
    """
    source: list[str] = []
    files: list[str] = []
    if module is not None:
        source += [] if folder in {None, module.path.parent} else [f"--folder={folder}"]
        source += [f"--entry={module.entry}"] if module.entry else []
        files = [str(module.path), *map(str, module.data)]
    argv = (
        sys.executable,
        "-m",
        RUN_CASE,
        f"--kind={kind}",
        f"--driver={config.driver}",
        *(f"--device={device}" for device in config.devices),
        *(("--sanitize",) if config.sanitize else ()),
        f"--artifact={artifact}",
        *source,
        *((f"--case={case}",) if case else ()),
        *config.flags,
        *files,
    )
    return RunPlan(argv=argv, telling=_TELLING)
