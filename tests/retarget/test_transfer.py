"""Artifacts carried in a folder: what comes out is what went in, or an error that says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import worker_doubles
from retarget.build.key import digest_of
from retarget.build.transfer import ArtifactFolder, export_artifact
from retarget.errors import RetargetError
from retarget.extensions import Registry, registry_of
from retarget.model import CompileTarget
from retarget.outcomes import Artifact, CompileOutcome, Failure, Stage
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


@pytest.mark.parametrize("kind", [{"signal": "SIGFPE"}, {"timed_out": True}, {"no_verdict": True}])
def test_a_crash_is_not_exported(
    tmp_path: Path, registry: Registry, target: CompileTarget, kind: dict[str, Any]
) -> None:
    crash = Failure(stage=Stage.COMPILE, summary="gone", **kind)
    folder = tmp_path / "out"
    export_artifact(CompileOutcome(key="k", seconds=1, reused=False, failure=crash), target, registry, folder)

    assert not folder.exists()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RetargetError) as caught:
        ArtifactFolder(tmp_path / "gone")

    expected = f"the artifact folder {tmp_path / 'gone'} is not there; fill it with --retarget-export on the build host"
    assert str(caught.value) == expected


def test_a_target_that_was_not_exported_is_told(tmp_path: Path, target: CompileTarget) -> None:
    with pytest.raises(RetargetError) as caught:
        ArtifactFolder(tmp_path).outcome(target)

    manifest = tmp_path / "doubles" / "deep" / "a_double.json"
    expected = f"no artifact of deep/a_double in {tmp_path}: {manifest} is not there; {AGAIN}"
    assert str(caught.value) == expected


def test_a_truncated_artifact_is_told(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    export_artifact(outcome, target, registry, tmp_path)
    path = tmp_path / "doubles" / "deep" / "a_double.up"
    path.write_bytes(b"PASS")

    with pytest.raises(RetargetError) as caught:
        ArtifactFolder(tmp_path).outcome(target)
    assert str(caught.value) == f"artifact {path} is damaged: 4 bytes, expected 6 of other content; {AGAIN}"


def test_a_truncated_manifest_is_told(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    export_artifact(outcome, target, registry, tmp_path)
    path = tmp_path / "doubles" / "deep" / "a_double.json"
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(RetargetError) as caught:
        ArtifactFolder(tmp_path).outcome(target)
    reason = "its content does not have the SHA-256 that its first line says"
    assert str(caught.value) == f"{path} is damaged: {reason}; {AGAIN}"


def test_another_version_of_the_module_is_told(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    export_artifact(outcome, target, registry, tmp_path)
    target.module.path.write_text("pass b")

    with pytest.raises(RetargetError) as caught:
        ArtifactFolder(tmp_path).outcome(target)
    what = f"the artifact of deep/a_double in {tmp_path} was made from another {target.module.path}"
    assert str(caught.value) == f"{what}; {AGAIN}"


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, registry: Registry, target: CompileTarget, outcome: CompileOutcome
) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "out"

    with pytest.raises(RetargetError) as caught:
        export_artifact(outcome, target, registry, folder)
    assert str(caught.value).startswith(f"cannot export deep/a_double to {folder}: {folder}/doubles/deep")
    assert str(caught.value).endswith(": Not a directory")
