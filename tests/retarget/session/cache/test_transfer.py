"""Artifacts carried in a folder: what comes out is what went in, or an error that says what to do."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import worker_doubles
from data_errors import error_of
from msgspec.structs import replace
from retarget.extension.registry import Registry, registry_of
from retarget.model import CompileTarget
from retarget.model.outcomes import Artifact, CompileOutcome, Failure, Stage
from retarget.session.cache.key import digest_of
from retarget.session.cache.sealed_files import read_sealed, seal
from retarget.session.cache.transfer import ArtifactFolder, export_artifact
from retarget.support.errors import RetargetError
from targets_of_doubles import compile_target

AGAIN = "export it again with --retarget-export"


@pytest.fixture
def registry() -> Registry:
    return registry_of({"doubles": worker_doubles})


@pytest.fixture
def target(tmp_path: Path) -> CompileTarget:
    return compile_target(tmp_path / "src", "deep/a", "pass a")


@pytest.fixture
def outcome(tmp_path: Path) -> CompileOutcome:
    path = tmp_path / "stored"
    path.write_bytes(b"PASS A")
    artifact = Artifact(digest=digest_of(b"PASS A"), size=6, path=str(path))
    return CompileOutcome(key="k", seconds=1.5, reused=False, artifact=artifact, diagnostics="w")


def test_an_artifact_comes_out_as_it_went_in(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    folder = tmp_path / "out"
    export_artifact(outcome, target, registry, folder)
    found = ArtifactFolder(folder).outcome(target)
    path = folder / "doubles" / "deep" / "a_double.up"
    assert outcome.artifact is not None
    assert found.artifact == Artifact(digest=outcome.artifact.digest, size=6, path=str(path))
    assert path.read_bytes() == b"PASS A"
    assert (found.key, found.seconds, found.reused, found.diagnostics) == ("k", 1.5, True, "w")
    assert sorted(file.name for file in path.parent.iterdir()) == ["a_double.json", "a_double.up"]


def test_a_failure_comes_out_as_a_failure(tmp_path: Path, registry: Registry, target: CompileTarget) -> None:
    failure = Failure(stage=Stage.COMPILE, summary="no", text="error: no", hint="yes")
    export_artifact(CompileOutcome(key="k", seconds=1, reused=False, failure=failure), target, registry, tmp_path)
    assert ArtifactFolder(tmp_path).outcome(target).failure == failure


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    expected = f"the artifact folder {tmp_path / 'gone'} is not there; fill it with --retarget-export on the build host"
    assert error_of(ArtifactFolder, tmp_path / "gone") == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a_double.up", "artifact {} is damaged: 5 bytes, expected 6 of other content"),
        ("a_double.json", "{} is damaged: its content does not have the SHA-256 that its first line says"),
    ],
)
def test_a_truncated_file_is_reported(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome, *, name: str, message: str
) -> None:
    export_artifact(outcome, target, registry, tmp_path)
    path = tmp_path / "doubles" / "deep" / name
    path.write_bytes(path.read_bytes()[:-1])
    assert error_of(ArtifactFolder(tmp_path).outcome, target) == f"{message.format(path)}; {AGAIN}"


def test_another_version_of_the_module_is_reported(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    export_artifact(outcome, target, registry, tmp_path)
    target.module.path.write_text("pass b")
    what = f"the artifact of deep/a_double in {tmp_path} was compiled from another {target.module.path}"
    assert error_of(ArtifactFolder(tmp_path).outcome, target) == f"{what}; {AGAIN}"


FLAGS = ("--a", "--b=1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flags": ("--a", "--b=2")}, "with other flags (there, not here: --b=1; here, not there: --b=2)"),
        ({"flags": ("--a",)}, "with other flags (there, not here: --b=1)"),
        ({"flags": ("--b=1", "--a")}, "with other flags (the same in another order or number)"),
        ({"env": (("A", "2"),)}, "with other environment (there, not here: A=1; here, not there: A=2)"),
        ({"devices": (("gpu", "hip"),)}, "with other devices (here, not there: gpu=hip)"),
        ({"compiler": "other"}, "by the compiler 'double', not 'other'"),
    ],
)
def test_an_artifact_compiled_with_something_else_is_reported(
    tmp_path: Path, registry: Registry, outcome: CompileOutcome, changes: dict[str, Any], message: str
) -> None:
    target = compile_target(tmp_path / "src", "deep/a", "pass a", flags=FLAGS, env=(("A", "1"),))
    export_artifact(outcome, target, registry, tmp_path)
    config = replace(target.compiler, **changes)
    changed = replace(target, compiler=config, flags=config.flags)
    assert ArtifactFolder(tmp_path).outcome(replace(target, compiler=replace(target.compiler, name="renamed"))).artifact
    expected = f"the artifact of deep/a_double in {tmp_path} was compiled {message}; {AGAIN}"
    assert error_of(ArtifactFolder(tmp_path).outcome, changed) == expected


def test_a_file_that_flags_name_is_compared_where_it_is_in_the_checkout(
    cwd: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    inputs = (("/dev/null", "elsewhere"), ("x.so", digest_of(b"one")))
    export_artifact(dataclasses.replace(outcome, inputs=inputs), target, registry, cwd / "out")
    artifacts = ArtifactFolder(cwd / "out")
    assert artifacts.outcome(target).inputs == inputs
    (cwd / "x.so").write_bytes(b"one")
    artifacts.outcome(target)
    (cwd / "x.so").write_bytes(b"two")
    with pytest.raises(RetargetError, match=r"was compiled with another x\.so; export it again"):
        artifacts.outcome(target)


def test_a_manifest_of_another_version_is_to_be_exported_again(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    export_artifact(outcome, target, registry, tmp_path)
    manifest = tmp_path / "doubles" / "deep" / "a_double.json"
    body = read_sealed(manifest)
    del body["format"]
    manifest.write_bytes(seal(body))
    what = f"the artifact of deep/a_double in {tmp_path} was exported by another version of retarget"
    assert error_of(ArtifactFolder(tmp_path).outcome, target) == f"{what}; {AGAIN}"


def test_a_crash_takes_away_what_was_exported_before(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    export_artifact(outcome, target, registry, tmp_path)
    crash = Failure(stage=Stage.COMPILE, summary="gone", signal="SIGFPE")
    export_artifact(CompileOutcome(key="k", seconds=1, reused=False, failure=crash), target, registry, tmp_path)
    with pytest.raises(RetargetError, match="no artifact of deep/a_double"):
        ArtifactFolder(tmp_path).outcome(target)


def test_a_folder_that_cannot_be_written_is_reported(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "out"
    with pytest.raises(RetargetError) as caught:
        export_artifact(outcome, target, registry, folder)
    assert str(caught.value).startswith(f"cannot export deep/a_double to {folder}: {folder}/doubles/deep")
    assert str(caught.value).endswith(": Not a directory")
