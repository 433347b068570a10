"""Artifacts carried from a build host to a device host in a folder.

`<suite>/<target name><artifact suffix>` is the artifact, `<suite>/<target name>.json` says what it is: its SHA-256, the
module's, the compile key, or the failure where the compile came to nothing. Each file is written beside and renamed,
and no file is shared by two targets, so that several processes may export at a time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from ..errors import RetargetError
from ..extension import Compiler
from ..model import CompileTarget
from ..outcomes import Artifact, CompileOutcome, Failure, Stage
from .files import DamagedError, read_sealed, seal, write_renamed
from .key import digest_of

__all__ = ["ArtifactFolder", "export_artifact"]


class _Compilers(Protocol):
    """What is needed of `retarget.extensions.Registry`."""

    def compiler(self, name: str) -> Compiler: ...


def export_artifact(outcome: CompileOutcome, target: CompileTarget, registry: _Compilers, folder: Path) -> None:
    """Write `outcome` of `target` into `folder`. Failures are written too, but for transient ones.

    Raises `RetargetError` if the artifact has gone or the folder cannot be written.
    """
    failure = outcome.failure
    if failure is not None and failure.transient:
        return
    manifest, stem = _manifest(folder, target), _stem(folder, target)
    body: dict[str, Any] = {
        "target": target.name,
        "suite": target.suite,
        "key": outcome.key,
        "seconds": outcome.seconds,
        "diagnostics": outcome.diagnostics,
    }
    try:
        body["module"] = digest_of(target.module.path.read_bytes())
        if outcome.artifact is not None:
            suffix = registry.compiler(target.compiler.compiler).artifact_suffix
            write_renamed(stem.with_name(stem.name + suffix), Path(outcome.artifact.path).read_bytes())
            body["artifact"] = {"digest": outcome.artifact.digest, "size": outcome.artifact.size, "suffix": suffix}
        elif failure is not None:
            body["failure"] = {"summary": failure.summary, "text": failure.text, "hint": failure.hint}
        write_renamed(manifest, seal(body))
    except OSError as error:
        where = error.filename or folder
        msg = f"cannot export {target.name} to {folder}: {where}: {error.strerror or error}"
        raise RetargetError(msg) from error


class ArtifactFolder:
    """A folder that `export_artifact` has filled."""

    def __init__(self, folder: Path) -> None:
        """Raises `RetargetError` if `folder` is not there."""
        if not folder.is_dir():
            msg = f"the artifact folder {folder} is not there; fill it with --retarget-export on the build host"
            raise RetargetError(msg)
        self._folder = folder

    def outcome(self, target: CompileTarget) -> CompileOutcome:
        """Return what was exported for `target`, its content verified.

        Raises `RetargetError` if there is none, if it is damaged, or if it was made from another version of the module.
        """
        again = "export it again with --retarget-export"
        try:
            body = read_sealed(_manifest(self._folder, target))
            module, told = body["module"], body.get("artifact")
            if digest_of(target.module.path.read_bytes()) != module:
                other = f"was made from another {target.module.path}"
                msg = f"the artifact of {target.name} in {self._folder} {other}; {again}"
                raise RetargetError(msg)
            if told is None:
                return CompileOutcome(
                    key=body["key"],
                    seconds=body["seconds"],
                    reused=True,
                    failure=Failure(stage=Stage.COMPILE, **body["failure"]),
                    diagnostics=body["diagnostics"],
                )
            stem = _stem(self._folder, target)
            path = stem.with_name(stem.name + told["suffix"])
            data = path.read_bytes()
            if digest_of(data) != told["digest"]:
                msg = (
                    f"artifact {path} is damaged: {len(data)} bytes, expected {told['size']} of other content; {again}"
                )
                raise RetargetError(msg)
            return CompileOutcome(
                key=body["key"],
                seconds=body["seconds"],
                reused=True,
                artifact=Artifact(digest=told["digest"], size=told["size"], path=str(path)),
                diagnostics=body["diagnostics"],
            )
        except FileNotFoundError as error:
            msg = f"no artifact of {target.name} in {self._folder}: {error.filename} is not there; {again}"
            raise RetargetError(msg) from error
        except OSError as error:
            msg = f"the artifact of {target.name} cannot be read: {error.filename}: {error.strerror or error}"
            raise RetargetError(msg) from error
        except DamagedError as error:
            msg = f"{error}; {again}"
            raise RetargetError(msg) from error
        except (KeyError, TypeError) as error:
            msg = f"the manifest of {target.name} in {self._folder} has another form: {error}; {again}"
            raise RetargetError(msg) from error


def _stem(folder: Path, target: CompileTarget) -> Path:
    return folder / target.suite / target.name


def _manifest(folder: Path, target: CompileTarget) -> Path:
    stem = _stem(folder, target)
    return stem.with_name(stem.name + ".json")
