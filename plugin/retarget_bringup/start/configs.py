"""The configs of a new backend and of the backend that it is compared with, as the text of a `matrix.toml`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct
from retarget.declare.files import discover
from retarget.declare.load import DeclarationLoader
from retarget.declare.scope import Scope
from retarget.extension import SuggestedTarget
from retarget.extension.registry import Registry
from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.support.toml.read import toml_table

_NAMES = "# What suites name: what is compiled how, and run where.\n"
_Suggestion = tuple[SuggestedTarget, str]
"""A target config that a compiler suggests, and the compiler."""


class Configs(Struct, frozen=True, kw_only=True):
    """The configs of a bring-up. `drivers` are the backend's; `reference` is COMPILER/RUNTIME of the backend to compare
    with, or empty. `text` declares the configs that no file declares yet, `targets` are the target configs of the
    starter suite; `paths` are the top folders of suites that test the backend already, in place of a starter
    suite."""

    drivers: tuple[str, ...]
    reference: str
    text: str = ""
    targets: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def configs_like(name: str, like: str, scope: Scope, registry: Registry) -> Configs:
    """Return configs that differ from those of a backend by their name alone.

    Raises `argparse.ArgumentError` for a backend that no compiler suggests, `RetargetError` for a name that is taken.
    """
    known = _suggestions(registry)
    if like not in known:
        found = f"--like: found {like!r}" if like else f"found no target config {name!r} here"
        msg = f"{found}; expected --like with one of {', '.join(known)}, or --extension{did_you_mean(like, known)}"
        raise argparse.ArgumentError(None, msg)
    suggested, compiler = known[like]
    drivers = suggested.drivers
    runtimes = {name if len(drivers) == 1 else f"{name}-{driver}": driver for driver in drivers}
    _expect_free(name, runtimes, scope)
    tables = [
        f"# {suggested.comment}\n{_compiler_text(name, suggested, compiler)}",
        *(toml_table("runtime_config", name=runtime, driver=driver) for runtime, driver in runtimes.items()),
        _NAMES + toml_table("target_config", name=name, compiler=name, runtimes=tuple(runtimes)),
    ]
    return _with_reference(name, tables, drivers, _reference(known, {like}), scope)


def extension_configs(name: str, scope: Scope, registry: Registry) -> Configs:
    """Return the configs of a package whose compiler and driver have the backend's name. Raises `RetargetError` for a
    name that is taken."""
    _expect_free(name, (name,), scope)
    tables = [
        f"# The compiler of the package retarget-{name}. Add `flags` as it learns to read them.\n"
        + toml_table("compiler_config", name=name, compiler=name),
        "# Its driver.\n" + toml_table("runtime_config", name=name, driver=name),
        _NAMES + toml_table("target_config", name=name, compiler=name, runtimes=(name,)),
    ]
    return _with_reference(name, tables, (name,), _reference(_suggestions(registry), set()), scope)


def declared_configs(name: str, root: Path, scope: Scope, registry: Registry) -> Configs | None:
    """Return the configs of the target config that suites of the project test, or else that a `matrix.toml` above
    declares; None where there is no such target config."""
    loader = DeclarationLoader(registry)
    suites = [suite for path in discover([root]) for suite in loader.read_suite_file(path)[0]]
    using = {suite: target for suite in suites for target in suite.targets if target.name == name}
    declared = next(iter(using.values()), scope.targets.configs.get(name))
    if declared is None:
        return None
    own = {config.name for config in declared.compilers}
    drivers = tuple(dict.fromkeys(driver for config in declared.runtimes for driver in config.drivers))
    if not using:
        return _with_reference(name, [], drivers, _reference(_suggestions(registry), own), scope)
    others = [target for suite in using for target in suite.targets if target.runtimes]
    pairs = [(compiler.name, target.runtimes[-1].name) for target in others for compiler in target.compilers]
    reference = next((f"{compiler}/{runtime}" for compiler, runtime in pairs if compiler not in own), "")
    paths = dict.fromkeys((suite.folder.relative_to(root).parts or (".",))[0] for suite in using)
    return Configs(drivers=drivers, reference=reference, paths=tuple(paths))


def _suggestions(registry: Registry) -> Mapping[str, _Suggestion]:
    """Return what compilers suggest where every driver finds a device, by the names of the compiler configs."""
    known: dict[str, _Suggestion] = {}
    for name, compiler in sorted(registry.compilers.items()):
        for target in compiler.suggest_targets(dict.fromkeys(registry.drivers, ())):
            known.setdefault(target.compiler_config, (target, name))
    return known


def _reference(known: Mapping[str, _Suggestion], own: set[str]) -> _Suggestion | None:
    """Return the first suggestion that is another backend."""
    return next((pair for name, pair in known.items() if name not in own), None)


def _with_reference(
    name: str, tables: Iterable[str], drivers: tuple[str, ...], reference: _Suggestion | None, scope: Scope
) -> Configs:
    """Add the configs of the reference backend, as far as no file above declares them."""
    texts = list(tables)
    targets: tuple[str, ...] = (name,)
    written = ""
    if reference is not None:
        suggested, compiler = reference
        config, driver = suggested.compiler_config, suggested.drivers[-1]
        targets, written = (name, f"{name}-reference"), f"{config}/{driver}"
        comment = f"# The backend to compare with. {suggested.comment}\n"
        added = []
        if config not in scope.compilers.configs:
            added.append(_compiler_text(config, suggested, compiler))
        if driver not in scope.runtimes.configs:
            added.append(toml_table("runtime_config", name=driver, driver=driver))
        added.append(toml_table("target_config", name=targets[1], compiler=config, runtimes=(driver,)))
        texts += [comment + added[0], *added[1:]]
    return Configs(targets=targets, drivers=drivers, text="\n\n".join(texts), reference=written)


def _compiler_text(name: str, suggested: SuggestedTarget, compiler: str) -> str:
    profiles = suggested.target_from
    target_from = profiles[0] if len(profiles) == 1 else profiles or None
    flags = suggested.flags or None
    return toml_table("compiler_config", name=name, compiler=compiler, flags=flags, target_from=target_from)


def _expect_free(name: str, runtimes: Iterable[str], scope: Scope) -> None:
    """Raise `RetargetError` where a file above declares one of the configs that would be written."""
    taken = [scope.compilers.configs.get(name), scope.targets.configs.get(name)]
    for other in (*taken, *(scope.runtimes.configs.get(runtime) for runtime in runtimes)):
        if other is not None:
            where = f"{other.origin.key_path} of {display_path(other.origin.file)}"
            msg = f"found the name {other.name!r} in {where} already; choose another NAME"
            raise RetargetError(msg)
