"""Artifacts carried from a build host to a device host in a folder.

`<suite>/<target name><artifact suffix>` is the artifact, `<suite>/<target name>.json` says what it is: its SHA-256, the
module's, the compile key, or the failure where the compile came to nothing; and what it was compiled with: compiler,
flags, devices, environment, build, and the content of what the flags name. A difference from this checkout's
declarations is an error; only the build may differ, since a device host need not have a compiler. Each file is written
to a temporary file and renamed, and no file is shared by two targets, so that several processes may export at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from retarget.extension.registry import Registry
from retarget.model import CompileTarget
from retarget.model.outcomes import Artifact, CompileOutcome
from retarget.session.cache.key import InputDigests, digest_of
from retarget.session.cache.sealed_files import DamagedError, outcome_body, read_outcome, read_sealed, seal
from retarget.support.errors import RetargetError
from retarget.support.files import write_atomically

_FORMAT = 2
"""The format of manifests, incremented with each new field."""


class _Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a manifest beside the outcome, as `export_artifact` writes them."""

    key: str
    module: str
    build_id: str
    build: str
    inputs: tuple[tuple[str, str], ...]
    compiler: str
    flags: tuple[str, ...]
    devices: tuple[tuple[str, ...], ...]
    env: tuple[tuple[str, str], ...]


def export_artifact(outcome: CompileOutcome, target: CompileTarget, registry: Registry, folder: Path) -> None:
    """Write `outcome` of `target` into `folder`, in place of what is there. A transient failure is not written.

    Raises `RetargetError` if the artifact has gone or the folder cannot be written.
    """
    failure = outcome.failure
    manifest, stem = _manifest(folder, target), _stem(folder, target)
    suffix = registry.compiler(target.compiler.compiler).artifact_suffix
    body = {
        "format": _FORMAT,
        "target": target.name,
        "suite": target.suite,
        "key": outcome.key,
        "build_id": outcome.build_id,
        "build": outcome.build,
        "inputs": [list(entry) for entry in outcome.inputs],
        **_declared(target),
        **outcome_body(outcome, suffix),
    }
    try:
        if failure is not None and failure.transient:
            manifest.unlink(missing_ok=True)
            return
        body["module"] = digest_of(target.module.path.read_bytes())
        if outcome.artifact is not None:
            write_atomically(stem.with_name(stem.name + suffix), Path(outcome.artifact.path).read_bytes())
        write_atomically(manifest, seal(body))
    except OSError as error:
        where = error.filename or folder
        msg = f"cannot export {target.name} to {folder}: {where}: {error.strerror or error}"
        raise RetargetError(msg) from error


def _declared(target: CompileTarget) -> dict[str, Any]:
    """Return the declared properties of a compile, as JSON values."""
    config = target.compiler
    return {
        "compiler": config.compiler,
        "flags": list(target.flags),
        "devices": [list(device) for device in config.devices],
        "env": [list(variable) for variable in sorted(config.env)],
    }


class ArtifactFile:
    """An artifact that was compiled by hand, for the first target that asks for one."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._of: CompileTarget | None = None

    def outcome(self, target: CompileTarget) -> CompileOutcome:
        """Return the file as the artifact of `target`. Raises `RetargetError` if it is of another, or not readable."""
        of = self._of = self._of or target
        if (of.module, of.compiler) != (target.module, target.compiler):
            msg = f"found no artifact of {target.name}: {self._file} is taken for that of {of.name}; run one at a time"
            raise RetargetError(msg)
        try:
            data = self._file.read_bytes()
        except OSError as error:
            msg = f"the artifact of {target.name} cannot be read: {self._file}: {error.strerror or error}"
            raise RetargetError(msg) from error
        artifact = Artifact(path=str(self._file), digest=digest_of(data), size=len(data))
        return CompileOutcome(key="", seconds=0.0, reused=True, artifact=artifact)


class ArtifactFolder:
    """A folder that `export_artifact` has filled."""

    def __init__(self, folder: Path) -> None:
        """Raises `RetargetError` if `folder` is not there."""
        if not folder.is_dir():
            msg = f"the artifact folder {folder} is not there; fill it with --retarget-export on the build host"
            raise RetargetError(msg)
        self._folder = folder
        self._inputs = InputDigests()

    def outcome(self, target: CompileTarget) -> CompileOutcome:
        """Return what was exported for `target`, its content verified.

        Raises `RetargetError` if there is none, if it is damaged, or if an input of its compile differs from that of
        this checkout.
        """
        again = "export it again with --retarget-export"
        try:
            body = read_sealed(_manifest(self._folder, target))
            if body.get("format") != _FORMAT:
                by = "was exported by another version of retarget"
                msg = f"the artifact of {target.name} in {self._folder} {by}; {again}"
                raise RetargetError(msg)
            said = msgspec.convert(body, _Manifest)
            other = "; ".join(self._differences(said, target))
            if other:
                msg = f"the artifact of {target.name} in {self._folder} was compiled {other}; {again}"
                raise RetargetError(msg)
            stem = _stem(self._folder, target)
            outcome = read_outcome(said.key, body, lambda _, suffix: stem.with_name(stem.name + suffix))
            if (artifact := outcome.artifact) is not None:
                data = Path(artifact.path).read_bytes()
                if digest_of(data) != artifact.digest:
                    msg = (
                        f"artifact {artifact.path} is damaged: {len(data)} bytes, expected {artifact.size} of other "
                        f"content; {again}"
                    )
                    raise RetargetError(msg)
            return replace(outcome, build_id=said.build_id, build=said.build, inputs=said.inputs)
        except FileNotFoundError as error:
            msg = f"no artifact of {target.name} in {self._folder}: {error.filename} is not there; {again}"
            raise RetargetError(msg) from error
        except OSError as error:
            msg = f"the artifact of {target.name} cannot be read: {error.filename}: {error.strerror or error}"
            raise RetargetError(msg) from error
        except DamagedError as error:
            msg = f"{error}; {again}"
            raise RetargetError(msg) from error
        except (ValueError, msgspec.ValidationError) as error:
            msg = f"the manifest of {target.name} in {self._folder} has another form: {error}; {again}"
            raise RetargetError(msg) from error

    def _differences(self, said: _Manifest, target: CompileTarget) -> Iterator[str]:
        """Yield the inputs of an artifact's compile that differ from those of this checkout."""
        if digest_of(target.module.path.read_bytes()) != said.module:
            yield f"from another {target.module.path}"
        config = target.compiler
        if said.compiler != config.compiler:
            yield f"by the compiler {said.compiler!r}, not {config.compiler!r}"
        for what, there, here in (
            ("flags", said.flags, target.flags),
            ("devices", said.devices, config.devices),
            ("environment", said.env, sorted(config.env)),
        ):
            if list(there) != list(here):
                shown = [[one if isinstance(one, str) else "=".join(one) for one in of] for of in (there, here)]
                yield f"with other {what} ({_difference(*shown)})"
        checkout = Path.cwd()
        for text, digest in said.inputs:
            path = Path(text)
            is_here = path.exists() and path.absolute().is_relative_to(checkout)
            if is_here and self._inputs.of((), files=[path.absolute()], fresh=True)[0][1] != digest:
                yield f"with another {text}"


def _difference(there: Sequence[str], here: Sequence[str]) -> str:
    only_there = [each for each in there if each not in here]
    only_here = [each for each in here if each not in there]
    if not only_there and not only_here:
        return "the same in another order or number"
    found = [f"there, not here: {' '.join(only_there)}" if only_there else ""]
    found.append(f"here, not there: {' '.join(only_here)}" if only_here else "")
    return "; ".join(filter(None, found))


def _stem(folder: Path, target: CompileTarget) -> Path:
    return folder / target.suite / target.name


def _manifest(folder: Path, target: CompileTarget) -> Path:
    stem = _stem(folder, target)
    return stem.with_name(stem.name + ".json")
