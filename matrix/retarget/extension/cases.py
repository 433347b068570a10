"""The extension API of kinds: what a case loader must implement, what it may implement, and the cases that it returns.

A part of `retarget.extension`, whose names these are too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from retarget.model import Module, RuntimeConfig, Suite
from retarget.model.calls import Tolerance
from retarget.support.errors import Diagnostic, RetargetError

if TYPE_CHECKING:
    from retarget.extension.drivers import RunPlan
    from retarget.model.calls import Array, FunctionInfo

__all__ = [
    "ArtifactRequest",
    "Case",
    "CaseData",
    "CaseLoader",
    "CaseRequest",
    "CheckedCase",
    "ChecksArtifacts",
    "ChecksData",
    "ChecksSuites",
    "ComparesConfigs",
    "DescribesFiles",
    "FindsModules",
    "HasParameters",
    "MakesModules",
    "NamesDataFiles",
    "NoCasesError",
    "ReturnsChecks",
    "RunsCasesOutside",
    "Tolerance",
    "TypesFunctions",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseData:
    """The values of a case: what a function is called with, and what it should return.

    `expected` is None where nothing is known of it; a None in it means a result of any value.
    """

    inputs: tuple[Array, ...] = ()
    expected: tuple[Array | None, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call of a module. `expected` is None where the module checks itself (`kind = "check"`).

    `read` is called when the case is about to run, so that only one case's values are held at a time; what it returns
    replaces `inputs` and `expected`. A `RetargetError` from it is this case's failure, and others go on.

    `tolerances` are by the NumPy name of the expected result's element type (`float32`), `""` for all others; where it
    is empty, results hold when `|actual - expected| <= atol + rtol * |expected|`, both 0 asking for equal values.

    `agree_with` names the compiler config whose results of the same case are what is expected. `must_check` makes a
    call in which the module did no check of its own a failure.
    """

    name: str
    function: str
    inputs: tuple[Array, ...] = ()
    expected: tuple[Array | None, ...] | None = None
    atol: float = 0.0
    rtol: float = 0.0
    must_check: bool = False
    read: Callable[[], CaseData] | None = None
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    agree_with: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRequest:
    """Whose cases are wanted. `module` is its name, `source` its file, `data` and `entry` are as in `Module`.

    `folder` is the suite's, which no data may leave. `compiler` is the name of the compiler config that compiled the
    artifact, `functions` are what it exports.
    """

    module: str
    source: Path
    data: tuple[Path, ...] = ()
    entry: str = ""
    folder: Path
    compiler: str
    functions: tuple[FunctionInfo, ...] = ()


@runtime_checkable
class CaseLoader(Protocol):
    """Turns a module and the functions of its artifact into cases. `kind` is what `module_test_suite.kind` says.

    It may offer more: see `FindsModules`, `ChecksSuites`, `ChecksData`, `MakesModules`, `HasParameters`,
    `NamesDataFiles`, `RunsCasesOutside`, `ComparesConfigs`, `ChecksArtifacts`, `DescribesFiles`, `ReturnsChecks`,
    `SuggestsSuites`, `TypesFunctions`.
    """

    kind: str

    def load(self, request: CaseRequest) -> Sequence[Case]:
        """Return the cases in order. Runs in a device worker. Raises `RetargetError` for invalid data, `NoCasesError`
        where nobody wrote any; an empty result is reported as a failure (nothing to run), never as a pass."""


class NoCasesError(RetargetError):
    """A module has no cases: a failure of its targets, but where inputs are generated (`retarget compare`)."""


@runtime_checkable
class TypesFunctions(Protocol):
    """A case loader that knows more of a module's functions than its artifact says. A module that no suite declares is
    compared (`retarget compare FILE`) as one of the first such kind."""

    def declared_functions(self, request: CaseRequest) -> Sequence[FunctionInfo]:
        """Return `request.functions`, with the types that the module's file declares where they have none. Runs in a
        device worker. Raises `RetargetError` for a file that cannot be read."""


@runtime_checkable
class FindsModules(Protocol):
    """A case loader whose `srcs` are not simply the modules."""

    def find_modules(self, folder: Path, srcs: Sequence[Path]) -> Sequence[Module]:
        """Return the modules of the files `srcs`, in order. `folder` is the suite's.

        Pure: reads files at and below `folder` only, and asks nothing of the machine. Runs in pytest's process, at
        collection. Raises `RetargetError` (`DiagnosticsError` for several) for invalid files.
        """


@runtime_checkable
class ChecksSuites(Protocol):
    """A case loader whose case files name compiler configs."""

    def suite_diagnostics(self, suite: Suite, running: Mapping[str, Sequence[str]]) -> Sequence[Diagnostic]:
        """Return what is wrong with what the files of a suite's cases say of configs. `running` has, by the name of a
        module, the compiler configs that it is run with somewhere.

        Pure and cheap: reads files at and below the suite's folder only. Runs in pytest's process, at collection, once
        all that the suite names is known to be sound.
        """


@runtime_checkable
class ChecksData(Protocol):
    """A case loader whose case files `retarget check` can judge without running anything."""

    def data_diagnostics(self, module: Module, suite: Suite) -> Sequence[Diagnostic]:
        """Return what is wrong with the files that hold a module's cases. Pure; reads files at and below the suite's
        folder only. The same errors fail the cases when they are run."""


@runtime_checkable
class NamesDataFiles(Protocol):
    """A case loader whose case files name further files: arrays, parameters, references. `retarget ci plan --since`
    selects a target again when the content of one changes."""

    def data_files(self, module: Module, folder: Path) -> Sequence[Path]:
        """Return what the cases of a module read in addition to `Module.data`, in order, whether it is there or not.
        `folder` is the suite's.

        Pure; runs in pytest's process. Raises `RetargetError` for invalid data.
        """


@runtime_checkable
class DescribesFiles(Protocol):
    """A case loader that has a JSON Schema of its case files, for editors: `retarget schema --for KIND` prints it."""

    def file_schema(self) -> Mapping[str, object]:
        """Return the schema (draft 2020-12), without `$schema` and `title`. It refuses what the loader refuses, as far
        as that can be expressed. Pure; runs in that command's process."""


@runtime_checkable
class MakesModules(Protocol):
    """A case loader whose modules are generated when they are needed, such as by an installed package.

    What is generated is kept in the cache, by `version` and the content of the description, and generated again when
    either changes.
    """

    def version(self) -> str:
        """Name what generates the modules: equal answers promise equal files. Cheap; runs in pytest's process. Raises
        `UnavailableError` where it is not installed."""

    def make(self, description: Path, folder: Path) -> None:
        """Write all modules that the file `description` lists, and their data, below the empty `folder`. Runs in a
        worker process. Raises `RetargetError`."""

    def made(self, module: Module, folder: Path) -> Module:
        """Return `module` with `path` and `data` below `folder`, which `make` has filled. Pure; in pytest's process.
        Raises `RetargetError` for a module that was not generated."""


@runtime_checkable
class HasParameters(Protocol):
    """A case loader whose modules may take parameters from files."""

    def parameters(self, request: CaseRequest) -> Sequence[tuple[str, Path]]:
        """Return (scope, parameter archive) pairs, needed before the artifact is loaded: `request.functions` is empty.
        Runs in a device worker. Raises `RetargetError`."""


@runtime_checkable
class RunsCasesOutside(Protocol):
    """A case loader whose cases a tool can run by hand, with their inputs, and judge."""

    def run_case_outside(
        self, config: RuntimeConfig, artifact: Path, module: Module, folder: Path, case: str
    ) -> RunPlan | None:
        """Do what `Driver.run_outside` does for the case of that name, instead of it; None if there is no tool.

        `case` is empty where no name is known yet: any case of `module` does. `folder` is the suite's. Pure; runs in
        pytest's process.
        """


@runtime_checkable
class ComparesConfigs(Protocol):
    """A case loader whose cases may compare the results of compiler configs with each other."""

    def references(self, module: Module, folder: Path, compiler: str) -> Sequence[str]:
        """Return the compiler configs whose results are wanted when `module` is run as `compiler` compiled it.

        Pure; runs in pytest's process. Raises `RetargetError` for invalid data, and for configs that wait for each
        other in a cycle.
        """


@runtime_checkable
class ReturnsChecks(Protocol):
    """A case loader whose modules check themselves while they run, and can be rewritten for runs that a tool does
    (`RunsByTool`): the functions then return what they would check, and the driver makes the checks of it."""

    def return_checks_version(self) -> str:
        """Name what rewrites: equal answers promise equal programs. Cheap; runs in pytest's process."""

    def return_checks(self, source: bytes, name: str) -> bytes:
        """Return the program of a module's file, whose name has no folder, rewritten. Runs in a compile worker. Raises
        `CompilerError` for checks that cannot be returned."""

    def return_checks_command(self, source: Path, output: Path) -> Sequence[str]:
        """The argument list that does so by hand. Pure; runs in pytest's process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRequest:
    """An artifact to check. `source` is the module's file, `compiler` the config's name, `tags` are the target's.

    `known_compilers` are the names of all configs that the suite's file sees; none where that is not known.
    """

    module: str
    source: Path
    artifact: bytes
    compiler: str
    tags: tuple[str, ...] = ()
    known_compilers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCase:
    """What one check of an artifact found. It holds where `summary`, one line, is empty; `report` is several."""

    name: str
    summary: str = ""
    report: str = ""


@runtime_checkable
class ChecksArtifacts(Protocol):
    """A case loader that judges artifacts and runs nothing: its suites have compile targets only."""

    def check(self, request: ArtifactRequest) -> Sequence[CheckedCase]:
        """Return what was checked, in order; nothing at all is a failure. Runs in a worker process. Raises
        `RetargetError` for invalid sources, `UnavailableError` where a package that it needs is missing."""
