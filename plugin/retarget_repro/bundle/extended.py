"""The steps of `repro.py` for compilers and drivers that are extensions of retarget: there the package is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from retarget.extension import ArtifactRequest, CompileRequest, CompilerError, Device, Resolved
from retarget.model import Origin, RuntimeConfig
from retarget.session import load_extensions
from retarget.support import RetargetError, first_line


def open_devices(run: Mapping[str, Any], uris: Sequence[str]) -> Device:
    """Open the devices of a bundle, or those that are named instead. Raises what `Driver.open` does."""
    config = RuntimeConfig(
        name="repro",
        driver=run["driver"],
        devices=tuple(uris or [device["uri"] for device in run["devices"]]),
        used=tuple(run["used"]),
        flags=tuple(run["flags"]),
        run_under=tuple(run["run_under"]),
        origin=Origin(file=Path("bundle.json"), key_path="run"),
    )
    return load_extensions().driver(run["driver"]).open(config)


def compile_module(bundle: Mapping[str, Any], folder: Path, artifact: Path, note: Callable[..., None]) -> None:
    """Compile the module of a bundle, and judge what came out where its kind does that. Failures go to `note`.

    Raises `RetargetError` where the compiler gives no verdict, and what it raises without one.
    """
    step, check = bundle["compile"], bundle.get("check")
    source = folder / step["source"]
    registry = load_extensions()
    request = CompileRequest(
        source=source.read_bytes(),
        source_name=source.name,
        source_path=source,
        resolved=Resolved(
            build_id="",
            flags=tuple(flag.replace("{bundle}", str(folder)) for flag in step["flags"]),
            facts=tuple((name, value) for name, value in step["facts"]),
        ),
    )
    try:
        compiled = registry.compiler(step["compiler"]).compile(request)
    except CompilerError as error:
        if not error.verdict:
            msg = f"the compiler says nothing of the module: {error}"
            raise RetargetError(msg) from error
        summary = first_line(str(error)) or first_line(error.diagnostics, "the compiler refused it without a word")
        note(failure=["compile", summary])
        return
    artifact.write_bytes(compiled.artifact)
    if check and (checker := registry.artifact_checker(check["kind"])) is not None:
        note(at="compare")
        wanted = ArtifactRequest(
            module=check["module"],
            source=source,
            artifact=bytes(compiled.artifact),
            compiler=check["compiler"],
            tags=tuple(check["tags"]),
            known_compilers=tuple(check["known_compilers"]),
        )
        cases = checker.check(wanted)
        if not cases:
            note(failure=["compare", "there was nothing to check"])
        for case in cases:
            if case.summary:
                note(failure=["compare", case.summary])
