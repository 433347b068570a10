"""`retarget repro`: what its options become, what it prints, and its exit status. Nothing is compiled or run."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.model import Failure, Stage, Suite, Target
from retarget.support import RetargetError
from retarget_repro import command
from retarget_repro.attempt import Attempt, Chosen
from retarget_repro.bundle.format import Bundle, CompileStep, Digest, Observed, Reproduced
from retarget_repro.bundle.write import NotReproducedError
from retarget_repro.command import NOT_REPRODUCED
from retarget_repro.reduce import Reduced

BUNDLE = Bundle(
    target="t",
    toolchain="iree",
    observed=Observed(at="run", stage="run", signature="INTERNAL"),
    reproduced=Reproduced(runs=1, same=1),
    compile=CompileStep(compiler="iree", source="m.mlir", flags=(), timeout=1.0),
    files={"m.mlir": Digest(size=1, sha256="0")},
)


class Bench:
    """What the parts of the command were given. The bundle that is written is `bundle`."""

    def __init__(self) -> None:
        self.target: Target = run_target(compile_target())
        self.bundle, self.error = BUNDLE, ""
        self.engines: list[dict[str, Any]] = []
        self.reduced: dict[str, Any] = {}
        self.cases: tuple[str, ...] = ()
        self.found: list[Chosen] = []
        self.written: dict[str, Any] = {}

    def chosen(self, _: object) -> Chosen:
        suite = Suite(name="s", folder=Path(), modules=(), kind="check", targets=(), origin=ORIGIN)
        registry: Any = SimpleNamespace(origins={("compiler", "iree"): "mine", ("driver", "cpu"): "theirs"})
        return Chosen(registry=registry, suite=suite, target=self.target)

    def engine(self, **given: Any) -> Any:
        self.engines.append(given)
        return nullcontext("open")

    def find(self, engine: object, chosen: Chosen) -> Any:
        assert engine == "open"
        self.found.append(chosen)
        return SimpleNamespace(failure=Failure(stage=Stage.RUN, summary="INTERNAL; gone"))

    def write(self, _: object, output: Path, **given: Any) -> Bundle:
        self.written = {"output": output, **given}
        if self.error:
            raise NotReproducedError(self.error)
        output.write_bytes(b"1234")
        given["note"]("reproducing it")
        return self.bundle

    def reduce(self, chosen: Chosen, found: Attempt, _: Path, **given: Any) -> Reduced:
        self.reduced = {"found": found, **given}
        target = replace(chosen.target, name="reduced")
        return Reduced(
            target=target,
            cases=self.cases,
            steps=(),
            before="9 bytes",
            after="9 bytes",
            cases_before=2,
            tries=1,
            seconds=1.0,
        )


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "chosen_target", made.chosen)
    monkeypatch.setattr(command, "Engine", made.engine)
    monkeypatch.setattr(command, "attempt", lambda *_: Attempt(unavailable="found"))
    monkeypatch.setattr(command, "find_failure", made.find)
    monkeypatch.setattr(command, "write_bundle", made.write)
    monkeypatch.setattr(command, "reduce_failure", made.reduce)
    return made


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--retarget-extension", action="append", default=[])
    command.add_arguments(parser)
    return command.run(parser.parse_args(words))


def test_a_bundle_is_written_beside_and_described(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("m_c_r") == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "m_c_r.tar.zst: 4 bytes, 2 files",
        "reproduced once from the bundle alone: run: INTERNAL",
    ]
    assert printed.err == "suite.toml::s::m_c_r fails at run: INTERNAL; gone\nreproducing it\n"
    given = {name: bench.written[name] for name in ("output", "runs", "keep", "without_env")}
    assert given == {"output": Path("m_c_r.tar.zst"), "runs": None, "keep": False, "without_env": []}
    assert (bench.engines[0]["cases"], bench.engines[0]["extensions"]) == ((), [])


def test_variables_in_the_bundle_are_named(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    step = CompileStep(compiler="iree", source="m.mlir", flags=(), env={"A": "1", "B": "2"}, timeout=1.0)
    bench.bundle = Bundle(**{name: getattr(BUNDLE, name) for name in BUNDLE.__struct_fields__} | {"compile": step})
    assert run("m") == 0
    said = "bundle.json holds the values of env: A, B; --without-env NAME leaves one out"
    assert said in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("kept", [True, False])
def test_what_is_not_reproduced_ends_with_a_status_of_its_own(
    kept: bool, bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    if kept:
        reproduced = Reproduced(runs=2, same=0, others=("good: x",))
        bench.bundle = Bundle(
            **{name: getattr(BUNDLE, name) for name in BUNDLE.__struct_fields__} | {"reproduced": reproduced}
        )
    else:
        bench.error = "it does not fail"
    assert run("m") == NOT_REPRODUCED
    printed = capsys.readouterr()
    assert ("not reproduced in 2 runs: good: x\n" in printed.out) is kept
    assert ("it does not fail\n" in printed.err) is not kept


@pytest.mark.parametrize(("left", "used"), [((), ("f", "g")), (("g",), ("g",))])
def test_a_failure_is_reduced_before_it_is_packed(
    left: tuple[str, ...], used: tuple[str, ...], bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.cases = left
    assert run("m", "--reduce", "--reduce-seconds", "7", "--case", "f", "--case", "g") == 0
    assert (bench.reduced["seconds"], bench.reduced["cases"]) == (7, ["f", "g"])
    assert [chosen.target.name for chosen in bench.found] == ["reduced"]
    assert [tuple(given["cases"]) for given in bench.engines] == [("f", "g"), used]
    printed = capsys.readouterr()
    assert "reducing suite.toml::s::m_c_r: found\n" in printed.err
    first = ["cases: 2 → 1 (g)"] if left else []
    assert printed.out.splitlines()[1:-1] == [*first, "module: 9 bytes, not reduced", "1 try in 1 s"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "x.zip"], "found -o x.zip, expected a file that ends in .tar.zst"),
        (["-o", "none/x.tar.zst"], "-o none/x.tar.zst: found no folder none"),
        (["-o", "folder.tar.zst"], "-o folder.tar.zst: found a folder, expected a file"),
        (["-o", "locked/x.tar.zst"], "-o locked/x.tar.zst: the folder locked is read-only"),
        (
            ["--without-env", "C"],
            "--without-env: found 'C', which is not in env of the configs of suite.toml::s::m_c_r; "
            "expected one of: A, B",
        ),
    ],
)
def test_wrong_options_are_found_before_anything_is_compiled(
    words: list[str], said: str, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder.tar.zst").mkdir()
    (tmp_path / "locked").mkdir()
    monkeypatch.setattr(command.os, "access", lambda path, _: path.name != "locked")
    compiled = compile_target()
    compiled = replace(compiled, compiler=replace(compiled.compiler, env=(("A", "1"),)))
    bench.target = run_target(compiled, env=(("B", "2"),))
    with pytest.raises(argparse.ArgumentError) as error:
        run("m", *words)
    assert str(error.value) == said
    assert bench.engines == []


def test_a_compile_target_has_the_variables_of_its_compiler(bench: Bench) -> None:
    bench.target = compile_target()
    with pytest.raises(argparse.ArgumentError, match="m_c; its configs have no variables"):
        run("m", "--without-env", "A")
    bench.target = replace(bench.target, compiler=replace(bench.target.compiler, env=(("A", "1"),)))
    assert run("m", "--without-env", "A") == 0


def test_a_bundle_loads_no_extension_that_only_the_command_names(bench: Bench) -> None:
    with pytest.raises(
        RetargetError, match=r"its compiler 'iree' is of the extension 'mine', which --retarget-ext.*--keep"
    ):
        run("m", "--retarget-extension", "other", "--retarget-extension", "mine")
    assert bench.engines == []
    assert run("m", "--retarget-extension", "other") == 0
    assert run("m", "--retarget-extension", "mine", "--keep") == 0


@pytest.mark.parametrize(
    ("output", "folder", "changed", "said"),
    [
        ([], "x", (), "nothing was executed; repro.py and lib/ are those of this retarget"),
        (
            ["-o", "new"],
            "new",
            ("repro.py", "lib/a.py"),
            "nothing was executed; read before you run it what is not of this retarget: repro.py, lib/a.py",
        ),
    ],
)
@pytest.mark.usefixtures("bench")
def test_a_bundle_is_opened_to_a_folder_of_its_name(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    output: list[str],
    folder: str,
    changed: tuple[str, ...],
    said: str,
) -> None:
    unpacked = {(Path("there/x.tar.zst"), Path(folder)): BUNDLE}
    monkeypatch.setattr(command, "unpack", lambda *given: unpacked[given])
    monkeypatch.setattr(command, "foreign_code", {Path(folder): changed}.__getitem__)
    assert run("--open", "there/x.tar.zst", *output) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{folder}: t",
        "  failed at run: ",
        "  reproduced once from the bundle alone: run: INTERNAL",
        said,
        f"  python3 {folder}/repro.py",
    ]
