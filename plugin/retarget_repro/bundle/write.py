"""Writes a bundle, after its failure was reproduced from it in a folder and processes of their own."""

from __future__ import annotations

import importlib.util
import json
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

import msgspec
from retarget.model import CompileTarget, DeviceInfo, RunTarget
from retarget.profiles import Profile
from retarget.session import TIMEOUTS, Engine, ReferenceRuns
from retarget.support import RetargetError, ScratchFolder, first_line, strip_colour

from retarget_repro.attempt import FailedTarget
from retarget_repro.bundle.archive import default_runs, pack, reproduce, unpack
from retarget_repro.bundle.format import Bundle, CompileStep, DeviceUse, Observed, Reproduced, RunStep, write_json

_IREE_RUNTIME = ("iree-base-runtime",)
_LIBRARY = (
    "retarget.arrays.comparison",
    "retarget.arrays.dtypes",
    "retarget.extension.drivers",
    "retarget.extension.products",
    "retarget.model.calls",
    "retarget.model.devices",
    "retarget.model.element_types",
    "retarget.model.names",
    "retarget.model.outcomes",
    "retarget.model.signatures",
    "retarget.support.doors",
    "retarget.support.errors",
    "retarget.support.text",
    "retarget_iree.noise",
    "retarget_iree.runtime.elements",
    "retarget_iree.runtime.exports",
    "retarget_iree.runtime.program",
)
"""The modules that a bundle holds copies of, which import each other and nothing else of these packages.

Their records are dataclasses, not structs as elsewhere: a bundle runs where msgspec is not installed.
"""

_IMPORTED = {".py", ".pyc", ".pyd", ".pyw", ".so"}
"""Endings of what Python imports."""

_IMPORT_ONNX = "iree.compiler.tools.import_onnx"


class NotReproducedError(RetargetError):
    """The bundle did not show the failure."""


def write_bundle(
    failed: FailedTarget,
    output: Path,
    *,
    engine: Engine,
    runs: int | None = None,
    keep: bool = False,
    without_env: Collection[str] = (),
    note: Callable[[str], None] = lambda _: None,
) -> Bundle:
    """Write the bundle of a failure to `output`, if the failure occurs `runs` times, or some of them, from it alone.

    The cases that failed are tried first, then all cases. With `keep` it is written in any case and says what differed.
    The variables `without_env` are left out of the bundle, and not set when it is tried.
    Raises `NotReproducedError`, and `RetargetError` for what cannot be packed or written.
    """
    wanted = default_runs(failed.way.stage) if runs is None else runs
    toolchain = _toolchain(failed)
    with ScratchFolder("bundle") as scratch:
        selections = [failed.cases, ()] if failed.cases and len(failed.ran.names if failed.ran else ()) > 1 else [()]
        for number, cases in enumerate(selections):
            folder = scratch.path / str(number) / _folder_name(failed)
            bundle = fill(folder, failed, engine=engine, cases=cases, without_env=without_env)
            pack(folder, archive := scratch.path / f"{number}.tar.zst")
            unpack(archive, again := scratch.path / f"again{number}")
            note(f"reproducing it from the bundle{f', {wanted} times' if wanted > 1 else ''}")
            found = reproduce(again, runs=wanted, toolchain=toolchain, hidden=without_env)
            if found.same or not any(line.startswith("good: ") for line in found.others):
                break
        if not found.same and not keep:
            what = "; ".join(found.others)
            msg = (
                f"{failed.chosen.id} does not fail in the same way from the bundle, in {found.runs} runs of it:\n"
                f"  expected: {bundle.observed}\n  found: {what}\n"
                "the bundle is not written; --keep writes it with this statement in it"
            )
            raise NotReproducedError(msg)
        write_json(msgspec.structs.replace(bundle, reproduced=found), folder)
        return pack(folder, output)


def fill(
    folder: Path, failed: FailedTarget, *, engine: Engine, cases: Sequence[str] = (), without_env: Collection[str] = ()
) -> Bundle:
    """Write what a failure is reproduced with to a new folder; of its cases those named, all if there are none. The
    variables `without_env` are left out of the environments.

    Raises `RetargetError` for what cannot be packed.
    """
    folder.mkdir(parents=True)
    compile_target = engine.generated(failed.chosen.compiled)
    toolchain = _kind_of_toolchain(failed, engine)
    compiled = _compile_step(folder, failed, compile_target, engine, toolchain=toolchain, without_env=without_env)
    artifact, ran, target = failed.compiled.artifact, failed.ran, failed.chosen.target
    builds, name, run = [failed.compiled.build], "", None
    if artifact is not None:
        name = f"artifact{Path(artifact.path).suffix}"
        shutil.copyfile(artifact.path, folder / name)
    if artifact is not None and ran is not None and isinstance(target, RunTarget):
        run = _run_step(target, ran.devices, without_env)
        for number, info in enumerate(ran.devices):
            profile = Profile.of_device(info, info.runtime or info.driver).text()
            (folder / f"device{number}.toml").write_text(profile)
        builds += [info.runtime for info in ran.devices]
        with closing(ReferenceRuns(engine)) as runs:
            references = runs.of(target, failed.chosen.others)
            engine.export_cases(target, artifact, folder / "cases", references=references, only=cases)
    bundle = Bundle(
        target=failed.chosen.id,
        toolchain=toolchain,
        observed=Observed(
            at=str(failed.failure.stage),
            stage=failed.way.stage,
            signature=failed.way.signature,
            summary=strip_colour(failed.failure.summary),
            case=failed.case,
        ),
        expectation=failed.expectation(),
        reproduced=Reproduced(runs=0, same=0),
        compile=compiled,
        artifact=name,
        run=run,
        machine=f"{platform.platform()}, Python {platform.python_version()}",
        builds=tuple(dict.fromkeys(filter(None, builds))),
    )
    bundle = msgspec.structs.replace(bundle, commands=tuple(_commands(folder, bundle)))
    shutil.copyfile(Path(__file__).with_name("repro.py"), folder / "repro.py")
    if toolchain == "iree":
        copy_library(folder / "lib")
    write_json(bundle, folder)
    return bundle


def copy_library(folder: Path) -> None:
    """Copy the modules that compute stage and signature, word for word, with what says which module has which name."""
    for name in _LIBRARY:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            msg = f"found no module {name}, which bundles hold a copy of; install retarget again"
            raise RetargetError(msg)
        source, file = Path(spec.origin), folder.joinpath(*name.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, file)
        for package, of in zip(file.parents[: name.count(".")], source.parents, strict=False):
            (package / "__init__.py").touch()
            if (stub := of / "__init__.pyi").is_file():
                shutil.copyfile(stub, package / stub.name)
                shutil.copyfile(stub.with_suffix(".py"), package / "__init__.py")


def foreign_code(folder: Path) -> tuple[str, ...]:
    """Return the files of an unpacked bundle that Python might import, and all in `lib/`, but those that are, byte for
    byte, what is written here."""
    with ScratchFolder("bundle") as own:
        copy_library(own.path / "lib")
        shutil.copyfile(Path(__file__).with_name("repro.py"), own.path / "repro.py")
        found = []
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            file = path.relative_to(folder)
            if path.suffix.lower() not in _IMPORTED and file.parts[0].lower() != "lib":
                continue
            ours = own.path / file
            if not ours.is_file() or ours.read_bytes() != path.read_bytes():
                found.append(file.as_posix())
        return tuple(found)


# ---------------------------------------------------------------- what is compiled and run


def _kind_of_toolchain(failed: FailedTarget, engine: Engine) -> Literal["iree", "retarget"]:
    """Return `iree` where IREE's packages are all that is needed, else `retarget`."""
    is_iree = failed.chosen.compiled.compiler.compiler == "iree"
    if isinstance(failed.chosen.target, RunTarget):
        runtime = failed.chosen.target.runtime
        drivers = [engine.registry.driver(name) for name in runtime.drivers]
        is_iree &= not engine.registry.runs_by_tool(runtime) and all(
            tuple(one.release_packages()) == _IREE_RUNTIME for one in drivers
        )
    return "iree" if is_iree else "retarget"


def _toolchain(failed: FailedTarget) -> Path | None:
    """Return the folder of the toolchain that the target used; None for what is installed. Raises `RetargetError`."""
    runtimes = [failed.chosen.target.runtime] if isinstance(failed.chosen.target, RunTarget) else []
    toolchains = [failed.chosen.compiled.compiler.toolchain, *(runtime.toolchain for runtime in runtimes)]
    paths = {one.path.absolute() for one in toolchains if one is not None and one.path is not None}
    if len(paths) > 1:
        msg = f"{failed.chosen.id} is compiled with one toolchain and run with another; a bundle takes one"
        raise RetargetError(msg)
    return next(iter(paths), None)


def _compile_step(
    folder: Path,
    failed: FailedTarget,
    target: CompileTarget,
    engine: Engine,
    *,
    toolchain: str,
    without_env: Collection[str],
) -> CompileStep:
    """Write the source, and the files that flags name. Raises `RetargetError`."""
    resolved, inputs = engine.resolved(failed.chosen.compiled)
    flags = list(resolved.flags)
    for number, (text, _) in enumerate(inputs):
        path = Path(text)
        if not any(text in flag for flag in flags) or not path.exists():
            continue
        place = Path("inputs") / str(number) / path.resolve().name
        (folder / place).parent.mkdir(parents=True)
        (shutil.copytree if path.is_dir() else shutil.copyfile)(path, folder / place)
        flags = [flag.replace(text, f"{{bundle}}/{place.as_posix()}") for flag in flags]
    if unresolved := [flag for flag in flags if re.search(r"(?:^|[=,:])host$", flag)]:
        msg = f"found the flag {unresolved[0]}, which means another thing on another machine; name what it is here"
        raise RetargetError(msg)
    source = folder / target.module.path.name
    rewriter = engine.registry.check_rewriter(target.kind) if target.returns_checks else None
    if rewriter is not None:
        source = source.with_name(f"{source.stem}.returned{source.suffix}")
        done = subprocess.run(
            rewriter.return_checks_command(target.module.path, source), capture_output=True, text=True, check=False
        )
        if done.returncode:
            msg = f"{target.module.path.name} cannot be rewritten: {first_line(done.stderr, 'no message')}"
            raise RetargetError(msg)
    else:
        shutil.copyfile(target.module.path, source)
    if source.suffix == ".onnx" and toolchain == "iree":
        source = _imported(source)
    return CompileStep(
        compiler=target.compiler.compiler,
        source=source.name,
        flags=tuple(flags),
        facts=() if toolchain == "iree" else resolved.facts,
        env={name: value for name, value in target.compiler.env if name not in without_env},
        timeout=TIMEOUTS.compile if target.timeout is None else target.timeout,
    )


def _imported(source: Path) -> Path:
    """Import an ONNX model beside it, so that the package onnx is not needed; return the model where that fails."""
    output = source.with_suffix(".mlir")
    argv = [sys.executable, "-P", "-m", _IMPORT_ONNX, str(source), "-o", str(output)]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode == 0 and output.is_file():
        return output
    output.unlink(missing_ok=True)
    return source


def _run_step(target: RunTarget, infos: Sequence[DeviceInfo], without_env: Collection[str]) -> RunStep:
    runtime = target.runtime
    parameters = [device.partition("?")[2] for device in runtime.devices] or [""] * len(infos)
    return RunStep(
        driver=runtime.driver,
        devices=tuple(
            DeviceUse(
                uri=f"{info.uri}?{words}" if words else info.uri,
                name=info.name,
                driver_version=info.driver_version,
                runtime=info.runtime,
            )
            for info, words in zip(infos, parameters, strict=True)
        ),
        flags=runtime.flags,
        env={name: value for name, value in runtime.env if name not in without_env},
        roles=runtime.roles,
        used=runtime.used,
        run_with=(runtime.toolchain is not None and runtime.toolchain.run_with) or msgspec.UNSET,
        timeout=TIMEOUTS.run if target.timeout is None else target.timeout,
    )


# ---------------------------------------------------------------- what else is in it


def _commands(folder: Path, bundle: Bundle) -> Iterable[str]:
    """Yield the commands that do the same by hand, in the folder of the bundle."""
    yield "python3 repro.py"
    if bundle.toolchain != "iree":
        return
    step = bundle.compile
    flags = [flag.replace("{bundle}/", "") for flag in step.flags]
    if step.source.endswith(".onnx"):
        return
    source = f"./{step.source}" if step.source.startswith("-") else step.source
    yield _line(step.env, ["iree-compile", source, *flags, "-o", "artifact.vmfb"])
    if bundle.run is not None and (argv := _run_command(folder, bundle.run, bundle.artifact)):
        yield _line(bundle.run.env, argv)


def _run_command(folder: Path, run: RunStep, artifact: str) -> list[str]:
    """Return the `iree-run-module` command of the first case; nothing where the tool does not take it."""
    content = json.loads((folder / "cases" / "cases.json").read_bytes())
    case = next(iter(content["cases"] or ()), None)
    if case is None or case["must_check"]:
        return []  # IREE's packages hold no tool that knows the check module
    arrays = [*case["inputs"], *filter(None, case["expected"] or ())]
    if any(not re.fullmatch(r"(?:u?int|float|complex)\d\d+|u?int8|bool", one["dtype"]) for one in arrays):
        return []
    flags = [f"--input={one['number'] if 'number' in one else '@cases/' + one['file']}" for one in case["inputs"]]
    flags += [f"--parameters={f'{scope}=' if scope else ''}cases/{file}" for scope, file in content["parameters"]]
    devices = [f"--device={device.uri.removesuffix('://')}" for device in run.devices]
    return ["iree-run-module", *devices, f"--module={artifact}", f"--function={case['function']}", *flags, *run.flags]


def _line(env: dict[str, str], argv: Sequence[str]) -> str:
    return shlex.join([*(f"{name}={value}" for name, value in env.items()), *argv])


def _folder_name(failed: FailedTarget) -> str:
    return re.sub(r"[^\w.+-]", "-", failed.chosen.target.name, flags=re.ASCII)[:80].rstrip(".") or "bundle"
