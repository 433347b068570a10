"""What `repro.py` makes of what a compile and a run do: its verdict, and where it finds tools and packages."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from retarget.model import Failure, Stage
from retarget_repro.bundle import repro
from retarget_repro.bundle.repro import CannotTell

GOOD, BAD, CANNOT_TELL = 0, 1, 125  # as `git bisect run` has them

NO_OP = Failure(stage=Stage.COMPILE, summary="m.mlir:1:2: error: no such op")
DIFFERS = Failure(stage=Stage.COMPARE, summary="1 of 2 elements differ, first at [1]: actual 4.0, expected 5.0")
CRASH = Failure(stage=Stage.RUN, summary="crashed: SIGSEGV", signal="SIGSEGV")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the bundle."""
    monkeypatch.setattr(repro, "HERE", tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def options(*words: str) -> argparse.Namespace:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["repro.py", *words])
        return repro._options()


def bundle(at: str = "compile", stage: str = "compile", signature: str = "no such op", **fields: Any) -> dict[str, Any]:
    step = {"source": "m.mlir", "flags": ["--a={bundle}/b"], "env": {"A": "1"}, "timeout": 5.0}
    observed = {"at": at, "stage": stage, "signature": signature}
    known = {"toolchain": "iree", "observed": observed, "compile": step, "artifact": "a.vmfb"}
    return {**known, "run": {"timeout": 7.0, "env": {}}, **fields}


@pytest.mark.parametrize(
    ("found", "wanted", "words", "status", "said"),
    [
        ([NO_OP], {}, [], BAD, ["bad: compile: no such op", "     m.mlir:1:2: error: no such op"]),
        ([], {}, [], GOOD, ["good: it does not fail; expected: compile: no such op"]),
        (
            [NO_OP],
            {"at": "run", "stage": "run"},
            [],
            CANNOT_TELL,
            [
                "cannot tell: another failure: compile: no such op",
                "     m.mlir:1:2: error: no such op",
                "expected: run: no such op",
            ],
        ),
        (
            [DIFFERS, CRASH],
            {"at": "run", "stage": "crash", "signature": "SIGSEGV"},
            [],
            BAD,
            ["bad: crash (run): SIGSEGV", "     crashed: SIGSEGV"],
        ),
        (
            [],
            {"at": "run", "stage": "timeout", "signature": ""},
            [],
            GOOD,
            ["good: it does not fail; expected: timeout (run)"],
        ),
        ([], {}, ["--compile-only"], GOOD, ["good: it does not fail; expected: compile: no such op"]),
        (
            [],
            {"at": "compare", "stage": "compare", "signature": "values differ"},
            ["--compile-only"],
            CANNOT_TELL,
            ["cannot tell: it compiles; the failure comes later, which needs a run: compare: values differ"],
        ),
    ],
)
def test_the_verdict_is_bad_only_for_the_same_stage_and_signature(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    found: list[Failure],
    wanted: dict[str, str],
    words: list[str],
    status: int,
    said: list[str],
) -> None:
    monkeypatch.setattr(repro, "_attempt", lambda *_: found)
    assert repro._verdict(bundle(**wanted), options(*words)) == status
    assert capsys.readouterr().out.splitlines() == said


def test_a_toolchain_that_is_no_folder_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repro, "_attempt", lambda *_: [])
    with pytest.raises(CannotTell, match=r"--toolchain: found no folder .*/none"):
        repro._verdict(bundle(), options("--toolchain", str(here / "none")))
    assert repro._verdict(bundle(), options("--toolchain", str(here))) == GOOD


@pytest.mark.parametrize("error", [CannotTell("no device"), ValueError("odd"), KeyboardInterrupt()])
def test_no_error_ends_with_the_status_of_the_failure(
    error: BaseException, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "bundle.json").write_text(json.dumps(bundle()))

    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr(repro, "_verdict", fail)
    monkeypatch.setattr(sys, "argv", ["repro.py"])
    status = repro.main()
    printed = capsys.readouterr()
    assert (status, printed.out + printed.err) == {
        CannotTell: (125, "cannot tell: no device\n"),
        ValueError: (125, "cannot tell: ValueError: odd\n"),
        KeyboardInterrupt: (130, "interrupted\n"),
    }[type(error)]


# ---------------------------------------------------------------- which steps are done


def _steps(monkeypatch: pytest.MonkeyPatch, failing: str = "") -> list[str]:
    done: list[str] = []

    def compile_(*_: object) -> list[Failure]:
        done.append("iree-compile")
        return [NO_OP] if failing == "iree-compile" else []

    def child(_: object, step: str, _what: object, artifact: Path, at: str) -> list[Failure]:
        done.append(f"{step} {artifact.name} from {at}")
        return [NO_OP] if failing == step else []

    monkeypatch.setattr(repro, "_compile", compile_)
    monkeypatch.setattr(repro, "_child", child)
    return done


@pytest.mark.parametrize(
    ("fields", "words", "failing", "steps"),
    [
        ({}, [], "", ["iree-compile", "run artifact from load"]),
        ({}, [], "iree-compile", ["iree-compile"]),
        ({}, ["--compile-only"], "", ["iree-compile"]),
        ({}, ["--run-only"], "", ["run a.vmfb from load"]),
        ({"run": None}, [], "", ["iree-compile"]),
        ({"toolchain": "retarget"}, [], "", ["compile artifact from compile", "run artifact from load"]),
        ({"toolchain": "retarget"}, [], "compile", ["compile artifact from compile"]),
    ],
)
def test_what_is_compiled_and_run(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    fields: dict[str, Any],
    words: list[str],
    failing: str,
    steps: list[str],
) -> None:
    done = _steps(monkeypatch, failing)
    found = repro._attempt(bundle(**fields), options(*words), here)
    assert (done, found) == (steps, [NO_OP] if failing else [])


def test_what_a_run_alone_needs_is_named(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    done = _steps(monkeypatch)
    with pytest.raises(CannotTell, match="the bundle holds no artifact to run: its module did not compile"):
        repro._attempt(bundle(artifact=""), options("--run-only"), here)
    own = options("--run-only", "--toolchain", str(here))
    with pytest.raises(CannotTell, match=r"--toolchain: found no iree/runtime in .*; pip install iree-base-runtime"):
        repro._attempt(bundle(), own, here)
    assert repro._attempt(bundle(toolchain="retarget"), own, here) == []
    _package(here, "runtime")
    assert repro._attempt(bundle(), own, here) == []
    assert done == ["run a.vmfb from load"] * 2


def _package(folder: Path, part: str) -> Path:
    (folder / "iree" / part).mkdir(parents=True, exist_ok=True)
    (folder / "iree" / part / "__init__.py").touch()
    return folder


def test_a_run_with_another_runtime_than_the_toolchain_s_is_said(
    monkeypatch: pytest.MonkeyPatch, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _steps(monkeypatch)
    repro._attempt(bundle(), options("--toolchain", str(here)), here)
    assert capsys.readouterr().out == f"running with this environment's runtime: found no iree/runtime in {here}\n"
    _package(here, "runtime")
    repro._attempt(bundle(), options("--toolchain", str(here)), here)
    assert capsys.readouterr().out == ""


def test_packages_of_a_toolchain_are_found_in_each_layout(here: Path) -> None:
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    assert repro._packages(here, "compiler") == []
    build = _package(here / "compiler/bindings/python", "compiler")
    assert repro._packages(here, "compiler") == [build]
    assert repro._packages(here, "runtime") == []
    site = _package(here / "lib" / python / "site-packages", "compiler")
    assert repro._packages(here, "compiler") == [site]
    _package(here, "compiler")
    assert repro._packages(here, "compiler") == [here]


def test_code_is_imported_from_the_toolchain_then_from_the_bundle(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _package(_package(here / "tools", "compiler"), "runtime")
    before = list(sys.path)
    repro._import_from(bundle(), here / "tools")
    tools = str(here / "tools")
    assert sys.path == [tools, tools, str(here / "lib"), *before]
    monkeypatch.setattr(sys, "path", list(before))
    repro._import_from(bundle(toolchain="retarget"), None)
    assert sys.path == before
    monkeypatch.setattr(repro.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(CannotTell, match="this bundle needs the package retarget"):
        repro._import_from(bundle(toolchain="retarget"), None)


def test_a_tool_is_that_of_the_toolchain_of_the_package_or_of_path(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = repro._iree_compile(None)
    assert installed.parts[-4:] == ("iree", "compiler", "_mlir_libs", "iree-compile")
    with pytest.raises(CannotTell, match=f"found no iree-compile in {here}; pip install iree-base-compiler"):
        repro._iree_compile(here)
    (here / "bin").mkdir()
    (here / "bin" / "iree-compile").touch()
    assert repro._iree_compile(here) == here / "bin" / "iree-compile"
    library = _package(here, "compiler") / "iree/compiler/_mlir_libs"
    library.mkdir()
    (library / "iree-compile").touch()
    assert repro._iree_compile(here) == library / "iree-compile"
    monkeypatch.setattr(repro.importlib.util, "find_spec", lambda _: None)
    (here / "bin" / "iree-compile").chmod(0o755)
    monkeypatch.setenv("PATH", str(here / "bin"))
    assert repro._iree_compile(None) == here / "bin" / "iree-compile"
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotTell, match="found no iree-compile in this environment; pip install iree-base-compiler"):
        repro._iree_compile(None)


# ---------------------------------------------------------------- the compile


Ran = list[tuple[list[str], Mapping[str, str], float]]


def _finishing(monkeypatch: pytest.MonkeyPatch, *results: tuple[int | None, str]) -> Ran:
    left, ran = list(results), Ran()

    def finished(argv: list[str], _: Path, env: Mapping[str, str], limit: float) -> tuple[int | None, str]:
        ran.append((argv, env, limit))
        if left[0][0] == 0 and "-o" in argv:
            Path(argv[-1]).touch()
        return left.pop(0)

    monkeypatch.setattr(repro, "_finished", finished)
    return ran


@pytest.mark.parametrize(
    ("result", "failure"),
    [
        ((0, "m.mlir:1:1: warning: w"), None),
        ((None, ""), Failure(stage=Stage.COMPILE, summary="compile timed out after 5 s", timed_out=True)),
        ((-11, ""), Failure(stage=Stage.COMPILE, summary="compiler crashed: SIGSEGV", signal="SIGSEGV")),
        ((-99, ""), Failure(stage=Stage.COMPILE, summary="compiler crashed: signal 99", signal="signal 99")),
        ((1, "m.mlir:1:2: error: no such op\n"), NO_OP),
    ],
)
def test_how_a_compile_ends_is_its_failure(
    result: tuple[int | None, str], failure: Failure | None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = _finishing(monkeypatch, result)
    found = repro._compile(bundle()["compile"], options(), here / "artifact")
    assert found == ([] if failure is None else [failure])
    ((argv, env, limit),) = ran
    assert argv[1:] == ["m.mlir", f"--a={here}/b", "-o", str(here / "artifact")]
    assert (env["A"], env["LLVM_DISABLE_SYMBOLIZATION"], limit) == ("1", "1", 5.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("iree-compile: Unknown command line argument '--x'", "Unknown command line argument"),
        ("x\nlast words", "last words"),
        ("", "exit status 1"),
    ],
)
def test_a_compiler_that_says_nothing_of_the_module_tells_nothing(
    text: str, said: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = _finishing(monkeypatch, (1, text))
    with pytest.raises(CannotTell, match=f"the compiler says nothing of the module: .*{said}"):
        repro._compile(bundle()["compile"], options("--timeout", "2"), here / "artifact")
    assert ran[0][2] == 2.0


def test_a_compiler_that_writes_nothing_tells_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repro, "_finished", lambda *_: (0, ""))
    with pytest.raises(CannotTell, match="the compiler ended without an error and wrote no artifact"):
        repro._compile(bundle()["compile"], options(), here / "artifact")


def test_a_model_is_imported_before_it_is_compiled(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = {**bundle()["compile"], "source": "m.onnx"}
    ran = _finishing(monkeypatch, (0, ""), (0, ""))
    assert repro._compile(step, options(), here / "artifact") == []
    assert ran[0][0][-3:] == ["--step", "import", str(here / "m.mlir")]
    assert ran[1][0][1] == "m.mlir"
    for result, said in (
        ((None, ""), "the model is not imported: it takes too long"),
        ((1, "…\nModuleNotFoundError: No module named 'onnx'\n"), "No module named 'onnx'"),
    ):
        _finishing(monkeypatch, result)
        with pytest.raises(CannotTell, match=said):
            repro._compile(step, options(), here / "artifact")
    for text, said in (("ValueError: bad model", "bad model"), ("bad", "bad")):
        _finishing(monkeypatch, (1, text))
        (failure,) = repro._compile(step, options(), here / "artifact")
        assert failure.summary == f"m.onnx: the ONNX importer refused the model: {said}"


def test_a_process_is_ended_by_the_clock_and_its_status_and_errors_come_back(here: Path) -> None:
    assert repro._finished(["sh", "-c", "echo said >&2; exit 3"], here, {"PATH": "/bin"}, 60) == (3, "said\n")
    assert repro._finished(["sh", "-c", "kill -9 $$"], here, {"PATH": "/bin"}, 60) == (-signal.SIGKILL, "")
    assert repro._finished(["sleep", "60"], here, {"PATH": "/bin"}, 0.05) == (None, "")


# ---------------------------------------------------------------- a step in a process of its own


@pytest.mark.parametrize(
    ("notes", "status", "failures"),
    [
        ([{"end": True}], 0, []),
        ([{"failure": ["compile", "m.mlir:1:2: error: no such op"]}], 0, [NO_OP]),
        (
            [{"at": "run", "case": "f"}],
            None,
            [Failure(stage=Stage.RUN, summary="timed out after 7 s in 'f'", timed_out=True)],
        ),
        ([], None, [Failure(stage=Stage.LOAD, summary="timed out after 7 s", timed_out=True)]),
        ([{"at": "compare"}], -11, [Failure(stage=Stage.COMPARE, summary="crashed: SIGSEGV", signal="SIGSEGV")]),
        (
            [{"failure": ["run", "gone"], "signal": "SIGABRT"}, {"at": "run", "case": "g"}],
            -6,
            [
                Failure(stage=Stage.RUN, summary="gone", signal="SIGABRT"),
                Failure(stage=Stage.RUN, summary="crashed: SIGABRT in 'g'", signal="SIGABRT"),
            ],
        ),
    ],
)
def test_what_a_step_notes_and_how_it_ends_are_its_failures(
    notes: list[dict[str, Any]],
    status: int | None,
    failures: list[Failure],
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repro, "_finished", _noting(notes, status))
    assert repro._child(options(), "run", bundle()["run"], here / "a", "load") == failures


def _noting(notes: list[dict[str, Any]], status: int | None, errors: str = "") -> Callable[..., Any]:
    def finished(argv: list[str], _: Path, env: Mapping[str, str], limit: float) -> tuple[int | None, str]:
        assert argv[-3:-1] == ["--step", "run"]
        assert limit == 7.0
        monkey = pytest.MonkeyPatch()
        monkey.setenv("REPRO_NOTES", env["REPRO_NOTES"])
        for note in notes:
            repro._note(**note)
        monkey.undo()
        return status, errors

    return finished


@pytest.mark.parametrize(
    ("notes", "status", "errors", "said"),
    [
        ([{"cannot_tell": "no device"}], 0, "", "no device"),
        ([{"at": "run", "case": "f"}], 0, "", "^the process ended with status 0 before the step 'run' did$"),
        ([], 1, "Traceback\nlast", "^last$"),
        ([], 2, "", "exit status 2"),
    ],
)
def test_a_step_that_says_nothing_of_the_failure_tells_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, *, notes: list[dict[str, Any]], status: int, errors: str, said: str
) -> None:
    monkeypatch.setattr(repro, "_finished", _noting(notes, status, errors))
    with pytest.raises(CannotTell, match=said):
        repro._child(options(), "run", bundle()["run"], here / "a", "load")


def test_options_are_passed_on_to_the_steps(here: Path) -> None:
    assert repro._passed(options()) == []
    given = options("--device", "a://1", "--device", "b", "--toolchain", str(here))
    assert repro._passed(given) == ["--device=a://1", "--device=b", f"--toolchain={here}"]


@pytest.mark.parametrize("step", ["run", "compile"])
@pytest.mark.parametrize("error", [None, CannotTell("no device"), ValueError("odd")])
def test_a_step_notes_why_it_cannot_tell_and_ends(
    step: str, error: Exception | None, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, noted, ended = [], [], []

    def act(*_: object) -> None:
        done.append(step)
        if error is not None:
            raise error

    monkeypatch.setattr(repro, "_run", act if step == "run" else None)
    monkeypatch.setattr("retarget_repro.bundle.archive.compile_module", act if step == "compile" else None)
    monkeypatch.setattr(repro, "_note", lambda **what: noted.append(what))
    monkeypatch.setattr(repro.os, "_exit", ended.append)
    repro._step(bundle(), options("--step", step, str(here / "a")))
    said = {CannotTell: {"cannot_tell": "no device"}, ValueError: {"cannot_tell": "ValueError: odd"}}
    assert (done, noted, ended) == ([step], [{"end": True} if error is None else said[type(error)]], [0])


def test_the_script_is_one_file_that_python_runs_alone(here: Path) -> None:
    source = Path(repro.__file__).read_text()
    (here / "repro.py").write_text(source)
    (here / "bundle.json").write_text(json.dumps(bundle(artifact="")))
    argv = [sys.executable, "-I", str(here / "repro.py"), "--run-only"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (
        125,
        "cannot tell: the bundle holds no artifact to run: its module did not compile\n",
    )
