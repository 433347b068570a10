"""`retarget compare --toolchains`: what another build changes in artifacts and results."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from extension_texts import TINY_COMPILER
from retarget.cli import main
from retarget.cli.compare import toolchains
from retarget.extension import UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompileTarget, RunTarget, Target
from retarget.model.outcomes import Artifact, CaseOutcome, CompileOutcome, Failure, RunOutcome, Stage

EXTENSION = (
    "from retarget.extension import hookimpl\n"
    + TINY_COMPILER
    + """\
    def reproduce(self, target, flags, output): ...
    def toolchain_environment(self, config): return ()

class Driver(retarget.extension.Driver):
    name = "toy"
    def probe(self): return []
    def open(self, config): ...
    def toolchain_environment(self, config): return ()

class Loader(retarget.extension.CaseLoader):
    kind = "toys"
    def load(self, request): return []

@hookimpl
def retarget_compilers(): return [Compiler()]
@hookimpl
def retarget_drivers(): return [Driver()]
@hookimpl
def retarget_case_loaders(): return [Loader()]
"""
)

SUITE = """\
[[toolchain]]
name = "new"
path = "two"
[[toolchain]]
name = "gone"
path = "absent"
[[compiler_config]]
name = "tiny"
compiler = "tiny"
[[compiler_config]]
name = "tiny-new"
compiler = "tiny"
toolchain = "new"
[[runtime_config]]
name = "flat"
driver = "toy"
[[target_config]]
name = "all"
compiler = ["tiny", "tiny-new"]
runtimes = ["flat"]
[[module_test_suite]]
name = "toys"
srcs = ["*.toy"]
kind = "toys"
targets = ["all"]
"""

REPORT = """\
environment → new: 10 targets
  environment: tiny 1
  new: tiny 2
regressed (1):
  toys::worse_tiny_flat  passed → run: lost the device
fixed (1):
  toys::mended_tiny  compile: error: mended 1 → passed
fails otherwise (1):
  toys::otherwise_tiny  compile: error: otherwise 1 → compile: error: otherwise 2
different values (1):
  toys::values_tiny_flat  f, result 0: 1 of 1 element differs, environment 1.0, new 2.0
same: 4 pass, 0 fail
artifacts: 1 of 3 byte-identical
not compared (2):
  its compile target fails (2 targets)
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("same", "mended", "otherwise", "worse", "values"):
        (tmp_path / f"{name}.toy").write_text(name)
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "tiny_extension.py").write_text(EXTENSION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[InProcess]:
    """Let an engine take the place of the one that starts processes: a test changes what it compiles and runs."""

    class Changed(InProcess):
        pass

    none = SimpleNamespace(of=lambda *_: ((), ""), close=lambda: None)
    monkeypatch.setattr(toolchains, "ReferenceRuns", lambda _: none)
    monkeypatch.setattr(toolchains, "Engine", Changed)
    return Changed


def compared(*arguments: str) -> int:
    return main(["compare", *arguments, "--retarget-extension", "tiny_extension"])


class InProcess:
    """Compiles and runs as the extension does, without processes."""

    def __init__(self, *, registry: Registry, **_: object) -> None:
        self.registry = registry
        self.what = ""
        self.is_closed = False

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.is_closed = True

    def submit(self, _: object) -> None:
        pass

    def compile(self, target: CompileTarget) -> CompileOutcome:
        what, number = target.module.name, 1 if target.compiler.toolchain is None else 2
        known: dict[str, Any] = {"key": "k", "seconds": 2.0 * number, "reused": number == 1, "build": f"tiny {number}"}
        if what == "otherwise" or (what == "mended" and number == 1):
            failure = Failure(stage=Stage.COMPILE, summary=f"error: {what} {number}")
            return CompileOutcome(failure=failure, **known)
        text = f"{what} {1 if what == 'same' else number * 'x'}"
        return CompileOutcome(artifact=Artifact(digest=text, size=len(text), path=""), **known)

    def devices(self, _: object) -> None:
        pass

    def run(self, target: RunTarget, artifact: Artifact, *, record: Path, **_: object) -> RunOutcome:
        record.mkdir(exist_ok=True)
        assert not list(record.iterdir())  # nothing of an earlier run
        self.what = artifact.digest.split()[0]
        (record / self.what).touch()
        lost = self.what == "worse" and target.runtime.toolchain is not None
        return RunOutcome(devices=(), failure=Failure(stage=Stage.RUN, summary="lost the device") if lost else None)

    def compare(self, folders: tuple[Path, Path], names: tuple[str, str]) -> SimpleNamespace:
        assert [[path.name for path in folder.iterdir()] for folder in folders] == [[self.what]] * 2
        mismatch = SimpleNamespace(summary=f"1 of 1 element differs, {names[0]} 1.0, {names[1]} 2.0")
        first = SimpleNamespace(case="f", place="result 0", mismatch=mismatch)
        return SimpleNamespace(first=first if self.what == "values" else None)


@pytest.mark.usefixtures("engine")
def test_the_report_says_what_changed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchains, "is_recorded", lambda folder: any(folder.iterdir()))
    assert compared("--toolchains", "environment,new") == 1
    assert capsys.readouterr().out == REPORT
    assert compared("--toolchains", "environment,new", "-k", "same") == 0


@pytest.mark.parametrize(("step", "name"), [("run", "same_tiny_flat"), ("compile", "same_tiny")])
def test_what_only_the_first_toolchain_can_do_is_no_success(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, engine: type[InProcess], step: str, name: str
) -> None:
    own: Any = getattr(InProcess, step)

    def without_tool(self: InProcess, target: Any, *given: Any, **known: Any) -> object:
        config = target.runtime or target.compiler
        if config.toolchain is not None and target.compiled.module.name == "same":
            msg = f"this build cannot {step}"
            raise UnavailableError(msg)
        return own(self, target, *given, **known)

    monkeypatch.setattr(engine, step, without_tool)
    assert compared("--toolchains", "environment,new", "-k", "same or mended") == 1
    said = f"no longer run (1):\n  toys::{name}  passed → skipped: this build cannot {step}\n"
    assert said in capsys.readouterr().out


def test_runs_of_which_none_was_compared_are_no_success_whatever_compiles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class WithoutDriver(InProcess):
        def run(self, target: RunTarget, artifact: Artifact, *, record: Path, **_: object) -> RunOutcome:
            if target.compile.module.name == "same":
                msg = "there is no driver 'toy'"
                raise UnavailableError(msg)
            return super().run(target, artifact, record=record)

    monkeypatch.setattr(toolchains, "Engine", WithoutDriver)
    none = SimpleNamespace(of=lambda *_: ((), ""), close=lambda: None)
    monkeypatch.setattr(toolchains, "ReferenceRuns", lambda _: none)
    assert compared("--toolchains", "environment,new", "-k", "same") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "no run was compared: exit status 1"
    assert compared("--toolchains", "environment,new", "-k", "same", "-m", "compile") == 0
    assert compared("--toolchains", "environment,new", "-k", "same or values") == 0
    assert "exit status" not in capsys.readouterr().out


def test_a_case_that_the_second_toolchain_no_longer_has_is_a_regression(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], engine: type[InProcess]
) -> None:
    def with_cases(self: InProcess, target: RunTarget, artifact: Artifact, **_: object) -> RunOutcome:
        names = "f" if target.runtime.toolchain is not None else "fg"
        return RunOutcome(devices=(), cases=tuple(CaseOutcome(name=name, seconds=0.0) for name in names))

    monkeypatch.setattr(engine, "run", with_cases)
    assert compared("--toolchains", "environment,new", "-k", "same") == 1
    assert "regressed (1):\n  toys::same_tiny_flat  passed → passed (g)\n" in capsys.readouterr().out


def test_a_reference_with_a_toolchain_of_its_own_stays_and_is_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], engine: type[InProcess]
) -> None:
    moved: list[object] = []

    def of(own: RunTarget, others: list[Target]) -> tuple[()]:
        same = [one for one in others if isinstance(one, RunTarget) and one.compile.module == own.compile.module]
        moved.append([(one.name, one.compile.compiler.toolchain) for one in (own, *same)])
        return ()

    def without_reference(self: InProcess, target: RunTarget, *_: object, **__: object) -> RunOutcome:
        missed = Failure(stage=Stage.LOAD, summary="no results to agree with", no_verdict=True)
        return RunOutcome(devices=(), failure=missed if target.runtime.toolchain is not None else None)

    monkeypatch.setattr(toolchains, "ReferenceRuns", lambda _: SimpleNamespace(of=of, close=lambda: None))
    monkeypatch.setattr(engine, "run", without_reference)
    assert compared("--toolchains", "environment,gone", "-k", "same") == 1
    said = "no longer run (1):\n  toys::same_tiny_flat  passed → skipped: no results to agree with\n"
    assert said in capsys.readouterr().out
    names = [[(name, toolchain and toolchain.name) for name, toolchain in one] for one in moved]
    assert names == [
        [("same_tiny_flat", one), ("same_tiny_flat", one), ("same_tiny-new_flat", "new")] for one in (None, "gone")
    ]


@pytest.mark.parametrize(("own", "other"), [("environment", "new"), ("new", "environment")])
def test_checks_are_returned_for_the_toolchain_whose_tool_runs_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, own: str, other: str
) -> None:
    tool = "    def runs_by_tool(self, config): return config.toolchain is not None\n\nclass Loader("
    returns = '    kind = "toys"\n    def return_checks(self, source, name): return source\n'
    extension = EXTENSION.replace("\nclass Loader(", tool).replace('    kind = "toys"\n', returns)
    (tmp_path / "tool_extension.py").write_text(extension)
    is_declared = own == "new"
    declared = SUITE.replace('driver = "toy"', 'driver = "toy"\ntoolchain = "new"') if is_declared else SUITE
    (tmp_path / "suite.toml").write_text(declared)

    class WithTool(InProcess):
        def run(self, target: RunTarget, artifact: Artifact, *, record: Path, **_: object) -> RunOutcome:
            assert artifact.path == f"returned: {target.compile.returns_checks}"
            is_right = target.compile.returns_checks is (target.runtime.toolchain is not None)
            unseen = Failure(stage=Stage.COMPARE, summary="function 'f' made no check")
            return RunOutcome(devices=(), failure=None if is_right else unseen)

        def compile(self, target: CompileTarget) -> CompileOutcome:
            artifact = Artifact(digest="d", size=1, path=f"returned: {target.returns_checks}")
            return CompileOutcome(artifact=artifact, key="k", seconds=1.0, reused=False, build="tiny")

    monkeypatch.setattr(toolchains, "ReferenceRuns", lambda _: SimpleNamespace(of=lambda *_: (), close=lambda: None))
    monkeypatch.setattr(toolchains, "Engine", WithTool)
    names = ["compare", "--toolchains", f"{own},{other}", "-k", "same", "--retarget-extension", "tool_extension"]
    assert main(names) == 0
    assert "same: 2 pass, 0 fail" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--toolchains", "new"],
            "found --toolchains new, expected two, such as: --toolchains iree-3.12.0,environment",
        ),
        (["--toolchains", "new,new"], "found --toolchains new,new, expected two, such as: "),
        (
            ["--toolchains", "old,new"],
            "found the toolchain 'old', which no file declares; expected one of new, gone, e",
        ),
        (["--toolchains", "environmet,new"], "which no file declares; did you mean 'environment'?"),
        (["--toolchains", "new,gone", "-k", "none"], "found no target to compare in .; `retarget list` shows all"),
        (["--configs", "a,b"], "expected a module with --configs, such as: retarget compare matmul.mlir --configs"),
        (["same.toy", "--configs", "a,b", "-k", "x"], "-m and -k are for --toolchains; --configs compares one"),
    ],
)
def test_wrong_usage_says_what_was_expected(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(*arguments) == 2
    assert expected in capsys.readouterr().err


def test_a_case_that_fails_besides_those_that_failed_before_is_a_regression(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, engine: type[InProcess]
) -> None:
    for after, status in (("a", 0), ("ab", 1)):

        def run(_: InProcess, target: RunTarget, *__: Any, after: str = after, **___: Any) -> RunOutcome:
            failing = "a" if target.runtime.toolchain is None else after
            failure = Failure(stage=Stage.COMPARE, summary="values differ")
            cases = tuple(
                CaseOutcome(name=name, seconds=0.1, failure=failure if name in failing else None) for name in "ab"
            )
            return RunOutcome(devices=(), cases=cases, failure=failure)

        monkeypatch.setattr(engine, "run", run)
        assert compared("--toolchains", "environment,new", "-k", "same") == status
    said = "regressed (1):\n  toys::same_tiny_flat  compare: values differ → compare: values differ (b)\n"
    assert said in capsys.readouterr().out
