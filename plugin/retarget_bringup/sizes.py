"""The sizes of modules, measured by a compiler: what a new backend can do first comes first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace
from retarget.engine.engine import Engine
from retarget.extension import Compiler, ModuleSize, UnavailableError, overrides
from retarget.model import CompileTarget
from retarget.support.errors import RetargetError

ModuleKey = tuple[str, str]
"""A suite and a module of it."""


def module_key(target: CompileTarget) -> ModuleKey:
    """Return which module a target compiles."""
    return target.suite, target.module.name


def module_sizes(engine: Engine, targets: Iterable[CompileTarget]) -> Mapping[ModuleKey, ModuleSize]:
    """Measure the module of each target once, with the first of its targets whose compiler measures.

    Sizes are kept in the cache like any artifact. A module that cannot be measured, as one that the compiler refuses
    before it counts anything, is left out.
    """
    chosen: dict[ModuleKey, tuple[Compiler, CompileTarget]] = {}
    for target in targets:
        measures = engine.registry.compilers.get(target.compiler.compiler)
        if measures is not None and overrides(measures, "module_size") and module_key(target) not in chosen:
            measured = replace(target, flags=(*target.flags, *measures.measuring_flags))
            chosen[module_key(target)] = measures, measured
    sizes = {}
    try:
        engine.submit([target for _, target in chosen.values()])
        for key, (compiler, target) in chosen.items():
            if (artifact := engine.compile(target).artifact) is not None:
                sizes[key] = compiler.module_size(Path(artifact.path).read_bytes())
    except (OSError, RetargetError, UnavailableError):
        return sizes  # the order of modules is a help, no result: without it the compile seconds order them
    return sizes


def size_text(size: ModuleSize) -> str:
    """Return a size in words: `1 dispatch; f32; arith.addf`."""
    dispatches = f"{size.dispatches} dispatch{'' if size.dispatches == 1 else 'es'}"
    return "; ".join(filter(None, [dispatches, " ".join(size.types), " ".join(size.ops)]))
