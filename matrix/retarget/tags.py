"""Which words select a target with `-m`, and which keyword marks: `-m "driver(name='vulkan')"`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .model import CompilerConfig, CompileTarget, RunTarget, RuntimeConfig, Suite, Target, TargetConfig
from .names import TARGET_SORTS, is_tag

__all__ = ["MARK_FIELDS", "Mark", "compile_tags", "marks", "run_tags"]

Mark = tuple[str, tuple[tuple[str, str], ...]]

MARK_FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("suite", ("name",)),
    ("compiler", ("name",)),
    ("backend", ("name",)),
    ("runtime", ("name",)),
    ("driver", ("name",)),
    ("platform", ("os", "arch")),
    ("device", ("name",)),
)
"""Each keyword mark with the names of its arguments. `compiler` and `runtime` are the names of the configs."""

_COMPILE, _RUN = TARGET_SORTS
_NUMBER = re.compile(r"\d+")


def compile_tags(
    *,
    suite: Suite,
    compiler: CompilerConfig,
    backends: Sequence[str],
    targets: Iterable[TargetConfig],
    module: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the words of a compile target, in order and once each.

    `targets` are the target configs that it is reached through, `module` the words that overrides add.
    """
    return (_COMPILE, *_shared(suite, compiler, backends, targets, module))


def run_tags(
    *,
    suite: Suite,
    compiler: CompilerConfig,
    backends: Sequence[str],
    runtime: RuntimeConfig,
    driver: Sequence[str],
    targets: Iterable[TargetConfig],
    module: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return the words of a run target: those of its compile target but for the sort, and those of its runtime.

    `driver` are the words that the driver derived from the config, `targets` the target configs that the run target is
    reached through.
    """
    words = [
        *_shared(suite, compiler, backends, targets, module),
        runtime.name,
        runtime.driver,
        *driver,
        *runtime.host_os,
        *runtime.host_arch,
        *(device for device in runtime.devices if not _NUMBER.fullmatch(device)),
        *runtime.tags,
    ]
    return (_RUN, *dict.fromkeys(word for word in words if is_tag(word)))


def _shared(
    suite: Suite,
    compiler: CompilerConfig,
    backends: Sequence[str],
    targets: Iterable[TargetConfig],
    module: Sequence[str],
) -> tuple[str, ...]:
    words = [suite.name, *suite.tags, compiler.name, *backends, *compiler.tags]
    for target in targets:
        words += [target.name, *target.tags]
    words += module
    return tuple(dict.fromkeys(words))


def marks(target: Target) -> tuple[Mark, ...]:
    """Return the keyword marks of a target as (name, ((argument, value), …)), in the order of `MARK_FIELDS`.

    A runtime config that allows several systems or architectures has one `platform` mark for each pair.
    """
    if isinstance(target, CompileTarget):
        return _compile_marks(target)
    return (*_compile_marks(target.compile), *_runtime_marks(target))


def _compile_marks(target: CompileTarget) -> tuple[Mark, ...]:
    return (
        ("suite", (("name", target.suite),)),
        ("compiler", (("name", target.compiler.name),)),
        *(("backend", (("name", backend),)) for backend in target.backends),
    )


def _runtime_marks(target: RunTarget) -> tuple[Mark, ...]:
    runtime = target.runtime
    platforms = [
        tuple((name, word) for name, word in (("os", system), ("arch", architecture)) if word)
        for system in runtime.host_os or ("",)
        for architecture in runtime.host_arch or ("",)
    ]
    return (
        ("runtime", (("name", runtime.name),)),
        ("driver", (("name", runtime.driver),)),
        *(("platform", platform) for platform in platforms if platform),
        *(("device", (("name", device),)) for device in runtime.devices),
    )
