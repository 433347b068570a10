"""Suites → compile targets and run targets; pure, ordered, deterministic.

What depends on configs alone is worked out once per suite and set of overrides (a `_Plan`); a module then only adds its
name. Targets of one plan share their tuples, so that a hundred thousand of them stay light.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from msgspec.structs import replace

from retarget.extension.registry import Registry
from retarget.model import (
    CompilerConfig,
    CompileTarget,
    Module,
    ModuleOverride,
    RunTarget,
    RuntimeConfig,
    Suite,
    Target,
    TargetConfig,
)
from retarget.model.locations import SourceLocations
from retarget.support.errors import Diagnostic, DiagnosticsError
from retarget.support.toml import Problem
from retarget.targets.selection import tag_sources

_RETURNED = ".returned"
"""Ends the name of a compile target that no item has: the module as runs by a tool need it, for a config whose other
runs do without."""

MAX_TARGETS = 1_000_000
"""How many targets a suite may have: pytest takes a minute to collect so many."""


def run_target_name(module: str, compiler: str, runtime: str) -> str:
    """Return the name of a run target: `foo_llvm-cpu_linux-x64-local-task`."""
    return f"{module}_{compiler}_{runtime}"


def expand_suite(suite: Suite, registry: Registry) -> tuple[Target, ...]:
    """Return the targets of a suite: per module, per compiler config, the compile target and then its run targets.

    A target that is reached through several target configs is one target with the words of them all. Compilers and
    drivers that `registry` does not have add no words; that is all it is used for. Raises `DiagnosticsError` if two
    targets get one name, and for more than `MAX_TARGETS`.
    """
    most = sum(len(target.compilers) * (1 + len(target.runtimes)) for target in suite.targets)
    if most > MAX_TARGETS:
        raise DiagnosticsError(_too_many(suite, f"up to {most} targets for each module"))
    active_for = _active_for(suite)
    plans: dict[tuple[tuple[int, ...], tuple[str, ...]], _Plan] = {}
    planned: list[tuple[Module, _Plan]] = []
    for module in suite.modules:
        active = active_for(module.name)
        plan = plans.get((active, module.tags))
        if plan is None:
            overrides = [suite.overrides[index] for index in active]
            plan = plans[active, module.tags] = _plan(suite, overrides, module.tags, registry)
        planned.append((module, plan))
    count = sum(1 + len(runs) for _, plan in planned for *_, runs in plan)
    if count > MAX_TARGETS:
        raise DiagnosticsError(_too_many(suite, f"{count} targets of {len(planned)} modules"))
    targets = [target for module, plan in planned for target in _targets(plan, module)]
    if len({target.name for target in targets}) != len(targets):
        raise DiagnosticsError(_collisions(suite, targets))
    return tuple(targets)


def running_compilers(suite: Suite) -> dict[str, tuple[str, ...]]:
    """Return, by module, the names of the compiler configs that it is run with on some runtime config, in order."""
    return {module: tuple(dict.fromkeys(name for name, _ in runs)) for module, runs in running_configs(suite).items()}


def running_configs(suite: Suite) -> dict[str, tuple[tuple[str, str], ...]]:
    """Return, by module, the names of the compiler and the runtime config of each of its runs, in order."""
    active_for = _active_for(suite)

    @cache
    def running(active: tuple[int, ...]) -> tuple[tuple[str, str], ...]:
        included = _included(suite, [suite.overrides[index] for index in active])
        runs = ((compiler.name, runtime.name) for _, compiler, runtimes in included for runtime in runtimes)
        return tuple(dict.fromkeys(runs))

    return {module.name: running(active_for(module.name)) for module in suite.modules}


_Plan = Sequence[tuple[str, Callable[..., CompileTarget], Sequence[tuple[str, bool, Callable[..., RunTarget]]]]]
"""For each compiler config its name and what makes its compile target for a module, and so for each runtime config;
of these also whether the module must return its checks."""


def _targets(plan: _Plan, module: Module) -> Iterator[Target]:
    for compiler, compile_target, runs in plan:
        compiled: CompileTarget = compile_target(name=module.target(compiler), module=module)
        yield compiled
        returned = compiled
        for runtime, returns_checks, run_target in runs:
            if returns_checks and returned is compiled and not compiled.returns_checks:
                returned = replace(compiled, name=f"{compiled.name}{_RETURNED}", returns_checks=True)
            yield run_target(
                name=run_target_name(module.name, compiler, runtime), compile=returned if returns_checks else compiled
            )


def _plan(suite: Suite, overrides: Sequence[ModuleOverride], own: tuple[str, ...], registry: Registry) -> _Plan:
    is_run = registry.artifact_checker(suite.kind) is None
    through: dict[tuple[str, str], list[TargetConfig]] = {}
    compilers: dict[str, CompilerConfig] = {}
    runtimes: dict[str, dict[str, RuntimeConfig]] = {}
    for target, compiler, others in _included(suite, overrides):
        compilers.setdefault(compiler.name, compiler)
        through.setdefault((compiler.name, ""), []).append(target)
        for runtime in others if is_run else ():
            runtimes.setdefault(compiler.name, {}).setdefault(runtime.name, runtime)
            through.setdefault((compiler.name, runtime.name), []).append(target)
    module_flags = tuple(flag for override in overrides for flag in override.flags)
    module_tags = tuple(tag for override in overrides for tag in override.tags)
    requires = (*suite.requires, *(one for override in overrides for one in override.requires))

    def tags(
        compiler: CompilerConfig, backends: Sequence[str], runtime: RuntimeConfig | None = None
    ) -> tuple[str, ...]:
        sources = tag_sources(
            suite=suite,
            compiler=compiler,
            backends=backends,
            targets=through[compiler.name, runtime.name if runtime is not None else ""],
            runtime=runtime,
            driver=registry.derived_tags(runtime) if runtime is not None else (),
            module=module_tags,
            own=own,
        )
        return tuple(sources)

    plan: list[tuple[str, Callable[..., CompileTarget], Sequence[tuple[str, bool, Callable[..., RunTarget]]]]] = []
    for name, compiler in compilers.items():
        backends = registry.derived_tags(compiler)
        returning = [registry.returns_checks(suite.kind, runtime) for runtime in runtimes.get(name, {}).values()]
        compile_target = partial(
            CompileTarget,
            suite=suite.name,
            kind=suite.kind,
            folder=suite.folder,
            compiler=compiler,
            flags=(*compiler.flags, *suite.compiler_flags, *module_flags),
            timeout=compiler.timeout if suite.timeout is None else suite.timeout,
            tags=tags(compiler, backends),
            backends=backends,
            returns_checks=bool(returning) and all(returning),
            agree=suite.agree,
            known_compilers=suite.known_compilers,
        )
        runs = [
            (
                runtime.name,
                returns_checks,
                partial(
                    RunTarget,
                    runtime=registry.in_order(compiler, runtime),
                    timeout=runtime.timeout if suite.timeout is None else suite.timeout,
                    tags=tags(compiler, backends, runtime),
                    requires=(*runtime.requires, *requires),
                ),
            )
            for runtime, returns_checks in zip(runtimes.get(name, {}).values(), returning, strict=True)
        ]
        plan.append((name, compile_target, runs))
    return plan


# ---------------------------------------------------------------- overrides


def _included(
    suite: Suite, overrides: Sequence[ModuleOverride]
) -> Iterator[tuple[TargetConfig, CompilerConfig, tuple[RuntimeConfig, ...]]]:
    """Yield the configs of a suite that overrides leave: each compiler config of each target config, with runtimes."""
    is_excluded = _any_glob([glob for override in overrides for glob in override.exclude_targets])
    for target in suite.targets:
        if not is_excluded(target.name):
            runtimes = tuple(runtime for runtime in target.runtimes if not is_excluded(runtime.name))
            yield from ((target, one, runtimes) for one in target.compilers if not is_excluded(one.name))


def _active_for(suite: Suite) -> Callable[[str], tuple[int, ...]]:
    """Return what gives the indices of the overrides that match a module's name."""
    matchers = [_any_glob(override.match) for override in suite.overrides]
    return lambda module: tuple(index for index, matches in enumerate(matchers) if matches(module))


def _any_glob(globs: Sequence[str]) -> Callable[[str], bool]:
    if not globs:
        return lambda _: False
    pattern = re.compile("|".join(fnmatch.translate(glob) for glob in globs))
    return lambda name: pattern.match(name) is not None


def active_overrides(suite: Suite, module: str) -> tuple[int, ...]:
    """Return the indices of the overrides that match a module's name."""
    return _active_for(suite)(module)


def excluding_override(suite: Suite, module: str, names: Sequence[str]) -> int | None:
    """Return the index of the first override that takes a module out of one of the named configs, or None."""
    for index in active_overrides(suite, module):
        is_excluded = _any_glob(suite.overrides[index].exclude_targets)
        if any(is_excluded(name) for name in names):
            return index
    return None


def _too_many(suite: Suite, found: str) -> Sequence[Diagnostic]:
    expected = f"expected at most {MAX_TARGETS} in a suite: name fewer modules in srcs, or fewer configs in targets"
    return SourceLocations.diagnostics([(suite.origin, Problem(("targets",), f"found {found}, {expected}"))])


def _collisions(suite: Suite, targets: Sequence[Target]) -> Sequence[Diagnostic]:
    first: dict[str, Target] = {}
    expected = "expected another name for one of the modules or configs"
    found = (
        f"found the target name {target.name!r} for {_parts(other)} and {_parts(target)}, {expected}"
        for target in targets
        if (other := first.setdefault(target.name, target)) is not target
    )
    return SourceLocations.diagnostics((suite.origin, Problem((), message)) for message in found)


def _parts(target: Target) -> str:
    if isinstance(target, CompileTarget):
        return f"module {target.module.name!r} with compiler config {target.compiler.name!r}"
    return f"{_parts(target.compile)} on runtime config {target.runtime.name!r}"
