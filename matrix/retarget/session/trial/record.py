"""The record before anything is tried: the session, and what is declared of a target."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from retarget import __version__
from retarget.extension.registry import Registry
from retarget.model import RunTarget, Target
from retarget.results.files import SessionStart, new_session
from retarget.results.plan import digest_of_ids
from retarget.results.record import TargetRecord
from retarget.support.checkout import revision
from retarget.targets.tags import marks_of
from retarget.worker.process import available_cores


def session_start(ids: Iterable[str], folder: Path, arguments: Sequence[str], **of_leg: str) -> SessionStart:
    """Return a session that starts now, of the targets with these node ids, in the checkout that `folder` is in."""
    selected = dict.fromkeys(ids)
    return new_session(
        selected=len(selected),
        digest=digest_of_ids(selected),
        revision=revision(folder),
        retarget=__version__,
        python=platform.python_version(),
        host=platform.node(),
        platform=platform.platform(),
        cores=available_cores(),
        arguments=tuple(arguments),
        **of_leg,
    )


def declared_record(target: Target, registry: Registry, **known: Any) -> TargetRecord:
    """Return what is declared of a target, and what else is known: its node id, its file, its place there."""
    compiled = target.compiled
    runtime = target.runtime if isinstance(target, RunTarget) else None
    module = compiled.module
    return TargetRecord(
        suite=compiled.suite,
        target=target.name,
        module=module.name,
        module_file="" if module.entry else str(module.path),
        compiler=compiled.compiler.name,
        runtime=runtime.name if runtime is not None else "",
        driver=runtime.driver if runtime is not None else "",
        tags=target.tags,
        marks=marks_of(target),
        runs_external=runtime is not None and registry.gives_no_outputs(runtime),
        **known,
    )
