"""The digest of what an outcome depends on: what changes it, and what does not."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from model_targets import compile_target, run_target
from msgspec.structs import replace
from retarget.extension.registry import load_extensions
from retarget.model import RunTarget
from retarget.model.outcomes import DeviceInfo
from retarget.session.run.reuse import RunDependencies

DEVICE = DeviceInfo(
    driver="d", uri="d://0", ordinal=0, name="n", physical_id="p", driver_version="1", features=(("memory", 1),)
)
RUN = run_target(compile_target(kind="check"))
REGISTRY = load_extensions(())


def digest(
    target: RunTarget = RUN, artifact: str = "a", *more: str, cases: str = "c", device: DeviceInfo = DEVICE
) -> str:
    return RunDependencies(REGISTRY, ()).of(target, artifact, cases, (device,), *more)


def test_where_a_device_is_listed_does_not_count() -> None:
    assert (
        digest(device=dataclasses.replace(DEVICE, uri="d://1", ordinal=1, capabilities=(("free", "1 GiB"),)))
        == digest()
    )


def test_artifact_cases_runtime_device_driver_and_what_else_is_given_count() -> None:
    others = [
        digest(RUN, "b"),
        digest(cases="other"),
        digest(RUN, "a", "more"),
        digest(replace(RUN, runtime=replace(RUN.runtime, driver="opencl"))),
        digest(run_target(compile_target(kind="run-module"))),
        digest(device=dataclasses.replace(DEVICE, physical_id="q")),
        digest(device=dataclasses.replace(DEVICE, driver_version="2")),
        digest(device=dataclasses.replace(DEVICE, runtime="3")),
        digest(device=dataclasses.replace(DEVICE, arrays="numpy 3")),
        digest(device=dataclasses.replace(DEVICE, features=(("memory", 2),))),
    ]
    assert len({digest(), *others}) == 1 + len(others)


def test_where_no_device_is_reported_the_command_that_it_runs_under_counts(tmp_path: Path) -> None:
    of = RunDependencies(REGISTRY, ()).of
    assert of(RUN, "a", "c", ()) == ""
    command = tmp_path / "qemu"
    found = set()
    for text in ("one", "two"):
        command.write_text(text)
        command.chmod(0o755)
        under = replace(RUN, runtime=replace(RUN.runtime, run_under=(str(command), text)))
        found.add(of(under, "a", "c", ()))
    assert len(found - {""}) == 2


def under(command: Sequence[str], env: Sequence[tuple[str, str]] = ()) -> str:
    target = replace(RUN, runtime=replace(RUN.runtime, run_under=tuple(command), env=tuple(env)))
    return RunDependencies(REGISTRY, ()).of(target, "a", "c", ())


def test_a_script_its_interpreter_and_a_program_on_the_path_of_the_config_count(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (program := tmp_path / "bin/mysh").write_text("one")
    program.chmod(0o755)
    (script := tmp_path / "wrap.sh").write_text("one")
    command, path = ("mysh", str(script)), [("PATH", str(tmp_path / "bin"))]
    before = under(command, path)
    assert before == under(command, path) != ""
    script.write_text("two")
    assert before != (edited := under(command, path))
    program.write_text("two")
    assert under(command, path) not in {before, edited}


@pytest.mark.parametrize("text", ['myw "$0" "$@"', 'exec myw "$0"', "X=1;myw $0", "(myw) || exit 1"])
def test_a_program_that_the_text_for_a_shell_names_counts(tmp_path: Path, text: str) -> None:
    (program := tmp_path / "bin/myw").parent.mkdir()
    program.write_text("one")
    program.chmod(0o755)
    command, path = ("sh", "-c", text), [("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")]
    before = under(command, path)
    assert before == under(command, path) != ""
    program.write_text("two")
    assert before != under(command, path)


@pytest.mark.parametrize(
    ("module", "file"), [("wrap", "wrap.py"), ("tools.wrap", "tools/wrap.py"), ("tools", "tools/__main__.py")]
)
def test_a_module_that_an_interpreter_runs_counts(cwd: Path, module: str, file: str) -> None:
    (path := cwd / file).parent.mkdir(exist_ok=True)
    path.write_text("one")
    before = under(["python3", "-m", module])
    path.write_text("two")
    assert before != under(["python3", "-m", module]) != ""


@pytest.mark.parametrize(
    ("variable", "counts"),
    [
        ("VK_ICD_FILENAMES", True),
        ("HIP_VISIBLE_DEVICES", True),
        ("QEMU_CPU", True),
        ("RADV_DEBUG", True),
        ("GALLIVM_PERF", True),
        ("LVP_POISON_MEMORY", True),
        ("MALLOC_PERTURB_", True),
        ("OCLGRIND_DATA_RACES", True),
        ("EDITOR", False),
    ],
)
def test_variables_that_choose_drivers_and_devices_count(
    monkeypatch: pytest.MonkeyPatch, variable: str, counts: bool
) -> None:
    before = digest()
    monkeypatch.setenv(variable, "another")
    assert (digest() != before) is counts


@pytest.mark.parametrize("by", ["manifest", "folder", "config", "library", "HOME", "XDG_DATA_HOME"])
def test_the_library_of_a_driver_that_a_variable_names_or_the_user_has_registered_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    (library := tmp_path / "driver.so.1").write_text("one")
    registered = {"HOME": ".local/share/vulkan/implicit_layer.d", "XDG_DATA_HOME": "vulkan/icd.d"}
    folder = tmp_path / registered.get(by, "icd.d")
    (manifest := folder / "mine.json").parent.mkdir(parents=True)
    (manifest.parent / "folder.json").mkdir()  # which nothing can read, and comes before
    manifest.write_text(f'{{"ICD": {{"library_path": "{os.path.relpath(library, folder)}"}}}}')
    value = str({"library": library, "folder": manifest.parent}.get(by, manifest))
    env = [("VK_DRIVER_FILES", value)] if by == "config" else []
    if by in registered:
        monkeypatch.setenv(by, str(tmp_path))
    else:
        monkeypatch.setenv("OCL_ICD_VENDORS" if by != "library" else "LD_PRELOAD", "" if env else f"/nowhere:{value}")
    target = replace(RUN, runtime=replace(RUN.runtime, env=tuple(env)))
    before = digest(target)
    assert digest(target) == before != ""
    library.write_text("two")
    assert digest(target) != before
