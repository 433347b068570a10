"""What is written to a bundle's folder: source, flags, artifact, cases, devices, code; without a compile or a run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.extension import CompilerError, Resolved, UnavailableError
from retarget.model import (
    Artifact,
    CompileOutcome,
    DeviceInfo,
    Failure,
    Module,
    RunOutcome,
    Stage,
    Suite,
    Target,
    Toolchain,
)
from retarget.session import load_extensions
from retarget.support import RetargetError
from retarget_repro.attempt import Chosen, FailedTarget
from retarget_repro.bundle import archive, write
from retarget_repro.bundle.format import read_bundle

GONE = Failure(stage=Stage.RUN, summary="\x1b[1mINTERNAL; gone\x1b[0m")
DEVICE = DeviceInfo(driver="d", uri="d://0", ordinal=0, name="n", physical_id="p", driver_version="1", runtime="rt 1")


installed = cache(load_extensions)


class Engine:
    """Resolves flags as given, and writes no cases but a list of which it was to."""

    def __init__(self, registry: Any, flags: Sequence[str] = (), inputs: Sequence[tuple[str, str]] = ()) -> None:
        self.registry, self._flags, self._inputs = registry, tuple(flags), tuple(inputs)
        self.exported: list[Any] = []

    def generated(self, target: Any) -> Any:
        return target

    def resolved(self, _: object) -> Any:
        return Resolved(build_id="b", flags=self._flags, facts=(("a", "fact"),)), self._inputs

    def export_cases(self, target: Any, artifact: Artifact, folder: Path, *, references: Any, only: Any) -> None:
        self.exported.append((target.name, artifact.path, references, only))
        folder.mkdir()
        (folder / "cases.json").write_text('{"cases": null, "parameters": []}')


class Bench:
    """The folder of a module, its bundle's, and what is packed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bundle = folder, folder / "bundle"
        self.registry: Any = installed()
        (folder / "m.mlir").write_text("module {}\n")
        (folder / "a.vmfb").write_bytes(b"artifact")
        self.compiled = replace(compile_target(), module=Module(name="m", path=folder / "m.mlir"))

    def failed(self, target: Target, *, compiles: bool = True, runs: bool = True) -> FailedTarget:
        suite = Suite(name="s", folder=Path(), modules=(), kind="check", targets=(), origin=ORIGIN)
        artifact = Artifact(digest="0", size=1, path=str(self.folder / "a.vmfb")) if compiles else None
        return FailedTarget(
            chosen=Chosen(registry=self.registry, suite=suite, target=target),
            compiled=CompileOutcome(key="k", seconds=1.0, reused=False, artifact=artifact, build="comp 1"),
            ran=RunOutcome(devices=(DEVICE, DEVICE)) if runs else None,
            failure=GONE,
            way=GONE.observation,
            cases=("f", "g"),
        )

    def step(
        self, target: Any = None, *, toolchain: str = "iree", without_env: Sequence[str] = (), **engine: Any
    ) -> Any:
        self.bundle.mkdir(exist_ok=True)
        target = target or self.compiled
        own: Any = Engine(self.registry, **engine)
        return write._compile_step(
            self.bundle, self.failed(target), target, own, toolchain=toolchain, without_env=without_env
        )

    def files(self) -> list[str]:
        found = (path.relative_to(self.bundle) for path in self.bundle.rglob("*") if path.is_file())
        return sorted(path.as_posix() for path in found if path.parts[0] != "lib")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path)


# ---------------------------------------------------------------- the whole folder


def test_a_run_that_failed_is_packed_with_artifact_cases_devices_and_code(bench: Bench) -> None:
    engine: Any = Engine(bench.registry, ["--x=1"])
    target = run_target(bench.compiled, devices=("local-sync://0", "local-sync://1"))
    bundle = write.fill(bench.bundle, bench.failed(target), engine=engine, cases=["f"])
    assert bench.files() == [
        "artifact.vmfb",
        "bundle.json",
        "cases/cases.json",
        "device0.toml",
        "device1.toml",
        "m.mlir",
        "repro.py",
    ]
    assert (bench.bundle / "lib" / "retarget" / "model" / "signatures.py").is_file()
    assert 'driver = "d"' in (bench.bundle / "device0.toml").read_text()
    assert (bench.bundle / "artifact.vmfb").read_bytes() == b"artifact"
    assert engine.exported == [("m_c_r", str(bench.folder / "a.vmfb"), (), ["f"])]
    assert read_bundle(bench.bundle) == bundle
    assert (bundle.target, bundle.toolchain, bundle.artifact) == ("suite.toml::s::m_c_r", "iree", "artifact.vmfb")
    assert msgspec.structs.asdict(bundle.observed) == {
        "at": "run",
        "stage": "run",
        "signature": "INTERNAL; gone",
        "summary": "INTERNAL; gone",
        "case": "f",
    }
    assert (bundle.reproduced.runs, bundle.reproduced.same) == (0, 0)
    assert bundle.builds == ("comp 1", "rt 1")
    assert bundle.commands == ("python3 repro.py", "iree-compile m.mlir --x=1 -o artifact.vmfb")


def test_a_compile_that_failed_is_packed_without_a_run(bench: Bench) -> None:
    engine: Any = Engine(bench.registry)
    failed = bench.failed(run_target(bench.compiled), compiles=False, runs=False)
    bundle = write.fill(bench.bundle, failed, engine=engine)
    assert bench.files() == ["bundle.json", "m.mlir", "repro.py"]
    assert (bundle.run, bundle.artifact, bundle.builds) == (None, "", ("comp 1",))
    assert engine.exported == []


def test_a_run_on_other_drivers_is_packed_without_a_copy_of_the_library(bench: Bench) -> None:
    engine: Any = Engine(bench.registry)
    target = run_target(bench.compiled, driver="opencl", devices=("opencl://0", "opencl://1"))
    bundle = write.fill(bench.bundle, bench.failed(target), engine=engine)
    assert (bundle.toolchain, bundle.run is not None) == ("retarget", True)
    assert not (bench.bundle / "lib").exists()


def test_a_module_that_the_library_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "_LIBRARY", ("retarget.nowhere",))
    with pytest.raises(
        RetargetError, match=r"^found no module retarget.nowhere, which bundles hold a copy of; install"
    ):
        write.copy_library(tmp_path)


# ---------------------------------------------------------------- source and flags


def test_files_that_flags_name_are_packed_and_no_others(bench: Bench) -> None:
    (bench.folder / "data").mkdir()
    for name in ("spec.mlir", "unnamed.mlir", "data/a"):
        (bench.folder / name).write_text(name)
    spec, data = bench.folder / "spec.mlir", bench.folder / "data"
    inputs = [(str(bench.folder / name), "0") for name in ("unnamed.mlir", "spec.mlir", "data", "none")]
    step = bench.step(flags=[f"--spec={spec}", f"--two={data},{spec}", f"--none={bench.folder}/none"], inputs=inputs)
    assert step.flags == (
        "--spec={bundle}/inputs/1/spec.mlir",
        "--two={bundle}/inputs/2/data,{bundle}/inputs/1/spec.mlir",
        f"--none={bench.folder}/none",
    )
    assert bench.files() == ["inputs/1/spec.mlir", "inputs/2/data/a", "m.mlir"]


@pytest.mark.parametrize("flag", ["--cpu=host", "--cpus=a,host", "--cpu:host", "host"])
def test_a_flag_that_means_another_thing_elsewhere_is_refused(flag: str, bench: Bench) -> None:
    with pytest.raises(RetargetError, match=f"^found the flag {flag}, which means another thing on another machine"):
        bench.step(flags=["--x", flag])
    assert bench.step(flags=["--cpu=ghost", "--cpu=host-like"]).flags == ("--cpu=ghost", "--cpu=host-like")


def test_a_step_has_the_environment_limits_and_facts_of_its_config(bench: Bench) -> None:
    env = (("A", "1"), ("B", "2"))
    target = replace(bench.compiled, timeout=3.0, compiler=replace(bench.compiled.compiler, env=env))
    step = bench.step(target, without_env=["A"])
    assert (step.compiler, step.source, step.env, step.timeout, step.facts) == ("iree", "m.mlir", {"B": "2"}, 3.0, ())
    step = bench.step(toolchain="retarget")
    assert (step.env, step.timeout, step.facts) == ({}, write.TIMEOUTS.compile, (("a", "fact"),))


def test_a_module_of_checks_is_rewritten_to_return_them(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rewriter = SimpleNamespace(return_checks_command=lambda source, to: ("rewrite", str(source), str(to)))
    bench.registry = SimpleNamespace(check_rewriter=lambda _: rewriter)
    asked: list[Any] = []
    done = [subprocess.CompletedProcess((), 0, "", ""), subprocess.CompletedProcess((), 1, "", "no check\nmore")]
    monkeypatch.setattr(subprocess, "run", lambda argv, **_: asked.append(argv) or done.pop(0))
    target = replace(bench.compiled, returns_checks=True)
    assert bench.step(target).source == "m.returned.mlir"
    assert asked == [("rewrite", str(bench.folder / "m.mlir"), str(bench.bundle / "m.returned.mlir"))]
    with pytest.raises(RetargetError, match=r"^m.mlir cannot be rewritten: no check$"):
        bench.step(target)
    assert bench.step().source == "m.mlir"


def test_a_model_is_packed_as_the_compiler_imports_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.folder / "m.onnx").touch()
    target = replace(bench.compiled, module=Module(name="m", path=bench.folder / "m.onnx"))
    status = 0

    def run(argv: Sequence[str], **_: Any) -> Any:
        assert list(argv[:4]) == [sys.executable, "-P", "-m", "iree.compiler.tools.import_onnx"]
        assert (argv[4], argv[5]) == (str(bench.bundle / "m.onnx"), "-o")
        Path(argv[6]).touch()
        return SimpleNamespace(returncode=status)

    monkeypatch.setattr(subprocess, "run", run)
    assert bench.step(target).source == "m.mlir"
    status = 1
    assert bench.step(target).source == "m.onnx"
    assert bench.files() == ["m.onnx"]  # what was written in part is removed
    assert bench.step(target, toolchain="retarget").source == "m.onnx"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0))
    assert bench.step(target).source == "m.onnx"  # it wrote nothing


# ---------------------------------------------------------------- toolchain, name, recording


def test_a_bundle_takes_one_toolchain(bench: Bench) -> None:
    one, two, bare = (
        Toolchain(name=name, path=path, origin=ORIGIN)
        for name, path in (("one", Path("/one")), ("two", Path("/two")), ("bare", None))
    )

    def folder(compiler: Toolchain | None, runtime: Toolchain | None) -> Path | None:
        compiled = replace(bench.compiled, compiler=replace(bench.compiled.compiler, toolchain=compiler))
        target = run_target(compiled)
        return write._toolchain(bench.failed(replace(target, runtime=replace(target.runtime, toolchain=runtime))))

    assert [folder(None, None), folder(one, None), folder(None, one), folder(one, one), folder(one, bare)] == [
        None,
        *[Path("/one")] * 4,
    ]
    with pytest.raises(RetargetError, match=r"m_c_r is compiled with one toolchain and run with another; a bundle "):
        folder(one, two)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("m_c", "m_c"),
        ("cases/m_c-1.0+x", "cases-m_c-1.0+x"),
        ("é:m", "--m"),
        ("m" * 79 + "..x", "m" * 79),
        ("..", "bundle"),
    ],
)
def test_the_folder_of_a_bundle_is_named_as_every_file_system_takes_it(name: str, folder: str, bench: Bench) -> None:
    assert write._folder_name(bench.failed(replace(bench.compiled, name=name))) == folder


# ---------------------------------------------------------------- steps of other extensions


class Extensions:
    """A compiler that answers or raises, and a driver."""

    takes_toolchains = True

    def __init__(self, answer: Any = b"compiled") -> None:
        self.answer, self.asked = answer, []

    def compiler(self, name: str) -> Any:
        self.asked.append(name)
        return SimpleNamespace(compile=self.compile)

    def driver(self, name: str) -> Any:
        return SimpleNamespace(name=name, open=lambda config: (name, config), overrides=lambda _: self.takes_toolchains)

    def worker_environment(self, config: Any) -> Any:
        if isinstance(self.answer, UnavailableError):
            raise self.answer
        return (("TOOLS", str(config.toolchain and config.toolchain.path)),)

    def compile(self, request: Any) -> Any:
        self.asked.append((request.source, request.source_name, request.resolved.flags, request.resolved.facts))
        if isinstance(self.answer, Exception):
            raise self.answer
        return SimpleNamespace(artifact=self.answer)


def compiled(
    folder: Path, extensions: Extensions, monkeypatch: pytest.MonkeyPatch, toolchain: Path | None = None, **more: Any
) -> list[Any]:
    notes: list[Any] = []
    monkeypatch.setattr(archive, "load_extensions", lambda: extensions)
    (folder / "m.mlir").write_bytes(b"source")
    step = {"compiler": "tiny", "source": "m.mlir", "flags": ["--a={bundle}/b"], "facts": [["x", "1"]]}
    bundle, artifact = {"compile": step, **more}, folder / "a"
    archive.compile_module(bundle, folder, artifact, lambda **what: notes.append(what), toolchain)
    return notes


def test_another_compiler_compiles_what_the_bundle_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extensions = Extensions()
    monkeypatch.setenv("TOOLS", "before")
    assert compiled(tmp_path, extensions, monkeypatch) == []
    assert os.environ["TOOLS"] == "before"
    assert compiled(tmp_path, Extensions(), monkeypatch, tmp_path) == []
    assert os.environ["TOOLS"] == str(tmp_path)
    assert (tmp_path / "a").read_bytes() == b"compiled"
    assert extensions.asked == ["tiny", (b"source", "m.mlir", (f"--a={tmp_path}/b",), (("x", "1"),))]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (CompilerError("error: bad\nmore", verdict=True), "error: bad"),
        (CompilerError("", diagnostics="text\nmore", verdict=True), "text"),
        (CompilerError("", verdict=True), "the compiler refused it without a word"),
    ],
)
def test_what_another_compiler_refuses_is_its_failure(
    error: CompilerError, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiled(tmp_path, Extensions(error), monkeypatch) == [{"failure": ["compile", said]}]
    assert not (tmp_path / "a").exists()


def test_another_compiler_that_says_nothing_of_the_module_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RetargetError, match=r"^the compiler says nothing of the module: no memory$"):
        compiled(tmp_path, Extensions(CompilerError("no memory")), monkeypatch)


@pytest.mark.parametrize(("uris", "devices"), [([], ("d://0", "d://1")), (["d://7"], ("d://7",))])
def test_devices_of_another_driver_are_opened_with_what_its_config_says(
    uris: list[str], devices: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "load_extensions", Extensions)
    run = {"driver": "d", "devices": [{"uri": "d://0"}, {"uri": "d://1"}], "used": [True, None], "flags": ["--x"]}
    (name, config), same = archive.open_devices(run, uris, print)  # type: ignore[misc]  (the double's answer)
    assert (name, config.driver, config.devices, same) == ("d", "d", devices, config)
    assert (config.used, config.flags) == ((True, None), ("--x",))


@pytest.mark.parametrize(
    ("takes", "why", "run_with", "used", "notes"),
    [
        (True, None, "", "tools", []),
        (False, None, "", "None", [{"said": "the driver 'd' uses no toolchains"}]),
        (True, UnavailableError("no runtime"), "", "before", [{"said": "no runtime"}]),
        (True, UnavailableError("no runtime"), "tool", "before", None),
    ],
)
def test_a_toolchain_opens_devices_where_the_driver_takes_one_that_has_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, *, takes: bool, why: Any, run_with: str, used: str, notes: list[Any] | None
) -> None:
    monkeypatch.setenv("TOOLS", "before")
    monkeypatch.setattr(archive, "load_extensions", lambda: Extensions(why))
    monkeypatch.setattr(Extensions, "takes_toolchains", takes)
    run = {"driver": "d", "devices": [], "used": [], "flags": [], "run_with": run_with}
    said: list[Any] = []
    with pytest.raises(UnavailableError) if notes is None else nullcontext():
        opened: Any = archive.open_devices(run, [], lambda **what: said.append(what), Path("tools"))
        toolchain = opened[1].toolchain
        assert (toolchain and str(toolchain.path)) == ("tools" if used == "tools" else None)
    assert (os.environ["TOOLS"], said) == (used, notes or [])
