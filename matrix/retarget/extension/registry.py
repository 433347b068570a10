"""Loading extensions: compilers, drivers, case loaders and subcommands, checked as they register.

An extension is named by an entry point of the group `retarget`, by `RETARGET_EXTENSIONS` or by an option. What is wrong
with one is reported at once with its name: an import that fails, an unknown hook, a hook or a method with
another signature, a product that is of no base class, a name that another extension has taken.

A module that is named is imported from `sys.path`. If it is not there, it is looked for in the current folder and in
those above it, up to the one that holds `.git`, and then in the folders of the caller (pytest's rootdir). The folder
that has it is appended to `sys.path`, which worker processes take over.

The hooks by which extensions provide compilers, drivers, case loaders and subcommands, and the check of those.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import uuid
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pluggy
from msgspec import Struct, field
from msgspec.structs import replace

from retarget.extension.cases import CaseLoader
from retarget.extension.compilers import Compiler, Resolved, SuggestedTarget
from retarget.extension.drivers import Driver
from retarget.extension.products import Command, Product, check_attributes, methods_of, no_subclass, note_place
from retarget.model import CompilerConfig, CompileTarget, RunTarget, RuntimeConfig, Suite, Target, Toolchain
from retarget.model.calls import CompilerError, UnavailableError
from retarget.model.locations import SourceLocations
from retarget.model.names import tag_error
from retarget.model.outcomes import DeviceInfo
from retarget.support.dependencies import code_judging, code_reached, installed_extensions, variables_named
from retarget.support.errors import RetargetError, did_you_mean

EXTENSIONS_VARIABLE = "RETARGET_EXTENSIONS"

_ProductT = TypeVar("_ProductT")
_HOOK_PREFIX = "retarget_"
_OWN = "retarget"
"""The entry point of this package's own subcommands, the first to be asked."""


_TargetT = TypeVar("_TargetT", bound=CompileTarget | RunTarget)
_PARTS = ("compiler", "runtime")
_UNKNOWN = "? "


class Registry(Struct, frozen=True, kw_only=True):
    """What the extensions provide. `origins` has the extension of each (`"driver"`, `"vulkan"`)."""

    compilers: Mapping[str, Compiler] = field(default_factory=dict)
    drivers: Mapping[str, Driver] = field(default_factory=dict)
    case_loaders: Mapping[str, CaseLoader] = field(default_factory=dict)
    commands: Mapping[str, Command] = field(default_factory=dict)
    origins: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def compiler(self, name: str) -> Compiler:
        """Return a compiler. Raises `RetargetError` that names those there are."""
        return _found(self.compilers, "compiler", name)

    def driver(self, name: str) -> Driver:
        """Return a driver. Raises `RetargetError` that names those there are."""
        return _found(self.drivers, "driver", name)

    def case_loader(self, kind: str) -> CaseLoader:
        """Return the case loader of a kind. Raises `RetargetError` that names those there are."""
        return _found(self.case_loaders, "case loader", kind)

    def suggested_targets(self, devices: Mapping[str, Sequence[DeviceInfo]]) -> list[tuple[SuggestedTarget, str]]:
        """Return the target configs that compilers suggest for devices, by driver, each with its compiler; of those of
        one name the first."""
        found: dict[str, tuple[SuggestedTarget, str]] = {}
        for name, compiler in sorted(self.compilers.items()):
            for target in compiler.suggest_targets(devices):
                found.setdefault(target.name, (target, name))
        return list(found.values())

    def artifact_checker(self, kind: str) -> CaseLoader | None:
        """Return the case loader of a kind whose artifacts are checked and not run; None for every other kind."""
        return self._loader_with("check", kind)

    def module_generator(self, kind: str) -> CaseLoader | None:
        """Return the case loader of a kind whose modules are generated on demand; None for every other kind."""
        return self._loader_with("make", kind)

    def check_rewriter(self, kind: str) -> CaseLoader | None:
        """Return the case loader of a kind whose modules can return what they would check; None for every other."""
        return self._loader_with("return_checks", kind)

    def data_namer(self, kind: str) -> CaseLoader | None:
        """Return the case loader of a kind whose cases name further files; None for every other kind."""
        return self._loader_with("data_files", kind)

    def _loader_with(self, method: str, kind: str) -> CaseLoader | None:
        loader = self.case_loaders.get(kind)
        return loader if loader is not None and loader.overrides(method) else None

    def runs_by_tool(self, config: RuntimeConfig) -> bool:
        """Return whether a tool of the driver runs a config's programs; false where there is no such driver."""
        driver = self.drivers.get(config.driver)
        return driver is not None and driver.runs_by_tool(config)

    def returns_checks(self, kind: str, config: RuntimeConfig) -> bool:
        """Return whether runs of a config need modules of a kind that return what they would check."""
        return self.check_rewriter(kind) is not None and self.runs_by_tool(config)

    def runs_on_hosts(self, driver: str) -> bool:
        """Return whether a driver runs artifacts on hosts; false where there is no such driver."""
        return driver in self.drivers and self.drivers[driver].overrides("probe_on_host")

    def gives_no_outputs(self, config: RuntimeConfig) -> bool:
        """Return whether runs of a config give no outputs back: behind `run_under`, without a tool of the driver."""
        return bool(config.run_under) and not self.runs_by_tool(config)

    def unknown(self, suite: Suite) -> tuple[str, ...]:
        """Return an error for each compiler, driver and kind of a suite that no extension provides.

        The words that such a one would derive for its targets are not known then, nor is how they fail.
        """
        compilers = {config.compiler for target in suite.targets for config in target.compilers}
        drivers = {driver for target in suite.targets for config in target.runtimes for driver in config.drivers}
        requested: Iterable[tuple[Callable[[str], object], Iterable[str]]]
        requested = (self.compiler, compilers), (self.driver, drivers), (self.case_loader, [suite.kind])
        found = []
        for find, name in ((find, name) for find, names in requested for name in sorted(names)):
            try:
                find(name)
            except RetargetError as error:
                found.append(str(error))
        return tuple(found)

    def describe_build(self, *, compiler: str = "", driver: str = "", toolchain: Toolchain | None = None) -> str:
        """Return the build of a compiler or a driver, without a toolchain that which this process imports; empty where
        it is unknown.

        Raises `UnavailableError` if it is not installed, `RetargetError` for one that no extension provides.
        """
        product = self.compiler(compiler) if compiler else self.driver(driver)
        return product.describe_build(toolchain)

    @staticmethod
    def environment() -> dict[str, str]:
        """Return the variables with which another process of this Python, in any folder, finds the extensions that
        `RETARGET_EXTENSIONS` names and that this one has loaded."""
        roots = [sys.modules.get(name.partition(".")[0]) for name in named_extensions()]
        files = [Path(root.__file__) for root in roots if root is not None and root.__file__ is not None]
        folders = [str(file.parents[file.name == "__init__.py"]) for file in files]
        path = dict.fromkeys([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
        return {"PYTHONPATH": os.pathsep.join(path)} if folders else {}

    def worker_environment(self, config: CompilerConfig | RuntimeConfig) -> tuple[tuple[str, str], ...]:
        """Return the variables of the workers of a config.

        The variables that select the toolchain have paths of this machine: they are no part of any key. Raises
        `UnavailableError` if the toolchain is not there or lacks what the config needs of it, `RetargetError` if no
        extension can use one.
        """
        toolchain = config.toolchain
        if toolchain is None:
            return config.env
        user: Compiler | Driver
        if isinstance(config, CompilerConfig):
            user, what = self.compiler(config.compiler), f"compiler {config.compiler!r}"
        else:
            user, what = self.driver(config.driver), f"driver {config.driver!r}"
        where = f"toolchain {toolchain.name!r} ({SourceLocations().location(toolchain.origin, 'path')})"
        if not user.overrides("toolchain_environment"):
            msg = f"{where}: config {config.name!r} names it, and the {what} uses no toolchains"
            raise RetargetError(msg)
        try:
            selecting = user.toolchain_environment(config)
        except UnavailableError as error:
            msg = f"{where}: {error}"
            hint = f"`{toolchain.install}` installs it" if toolchain.install else error.hint
            raise UnavailableError(msg, hint) from error
        return (*config.env, *selecting)

    def with_toolchain(
        self, target: _TargetT, toolchain: Toolchain | None, parts: Container[str] = _PARTS, like: Target | None = None
    ) -> _TargetT:
        """Return a target of which those `parts` that can use a toolchain in place of their own; None is what is
        installed. One whose own are not those of `like` stays."""
        if like is not None and _toolchains(target) != _toolchains(like):
            return target
        if isinstance(target, CompileTarget):
            moves = "compiler" in parts
            return replace(target, compiler=replace(target.compiler, toolchain=toolchain)) if moves else target
        config = target.runtime
        driver = self.drivers.get(config.driver)
        if "runtime" in parts and driver is not None and driver.overrides("toolchain_environment"):
            config = replace(config, toolchain=toolchain)
        compiled = self.with_toolchain(target.compile, toolchain, parts)
        compiled = replace(compiled, returns_checks=self.returns_checks(compiled.kind, config))
        return replace(target, compile=compiled, runtime=config)

    def code_of(self, product: object) -> str:
        """Return a digest of a product's code: of the package that its class lies in, and of what that imports. Raises
        `ImportError`, `OSError` and `ValueError` where it cannot be found."""
        return code_reached(type(product).__module__)

    def fingerprint(self, config: CompilerConfig) -> str:
        """Return `Compiler.fingerprint`, with the extension's code and the variables that it names where these are no
        part of that. Raises as it does."""
        compiler = self.compiler(config.compiler)
        found, code = compiler.fingerprint(config), self._code_of_build(compiler)
        facts = [value for _, value in _variables_of(compiler, code)]
        return found and " ".join([found, *filter(None, [code]), *facts])

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        """Return what `Compiler.resolve` does, with the extension's code and the variables that it names. Raises as it
        does."""
        compiler = self.compiler(config.compiler)
        code = self._code_of_build(compiler)
        return compiler.resolve(config, flags).with_facts(*_variables_of(compiler, code), code=code)

    def _code_of_build(self, compiler: Compiler) -> str:
        """Return the digest of a compiler's code; empty where the build says it, another one each time where there is
        none: then nothing is reused."""
        try:
            return "" if compiler.build_has_code else self.code_of(compiler)
        except (ImportError, OSError, ValueError):
            return f"{_UNKNOWN}{uuid.uuid4().hex}"

    def expect_code(self, compiler: Compiler, resolved: Resolved) -> None:
        """Raise `CompilerError` where this process does not have the code that a config was resolved with."""
        code = resolved.code
        if code and not code.startswith(_UNKNOWN) and code != self._code_of_build(compiler):
            msg = f"the code of the compiler {compiler.name!r} was edited while the session ran"
            raise CompilerError(msg)

    def code_judging(self, kind: str, drivers: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return the texts of what runs and judges cases of a kind on drivers: names and digests."""
        found = (self.case_loaders.get(kind), *map(self.drivers.get, drivers))
        return code_judging(*(type(one).__module__ for one in found if one is not None))

    def runtime_devices(self, compiler: str, devices: Mapping[str, str]) -> Mapping[str, bool]:
        """Return what `Compiler.runtime_devices` does; all in declared order where there is no such compiler."""
        found = self.compilers.get(compiler)
        return dict.fromkeys(devices, True) if found is None else found.runtime_devices(devices)

    def in_order(self, compiler: CompilerConfig, runtime: RuntimeConfig) -> RuntimeConfig:
        """Return a runtime config whose devices have roles with its devices in the order in which the artifacts of a
        compiler config count them; every other as it is."""
        if not runtime.roles:
            return runtime
        names = list(self.runtime_devices(compiler.compiler, dict(compiler.devices)))
        order = sorted(range(len(runtime.roles)), key=lambda index: names.index(runtime.roles[index]))
        return runtime.with_devices(order)

    def not_beside(self, main: str, driver: str) -> str:
        """Return why a driver does not open devices of another beside its own; empty where it does, or is unknown."""
        opener = self.drivers.get(main)
        together = (main, *opener.opens_with) if opener is not None else (main,)
        if opener is None or driver not in self.drivers or driver in together:
            return ""
        expected = f"expected devices of {' or '.join(map(repr, dict.fromkeys(together)))}"
        return f"found a device of the driver {driver!r}, which {main!r} does not open beside its own; {expected}"

    def not_sanitized(self, driver: str) -> str:
        """Return why a driver takes no `sanitize = true`; empty where it does, or is unknown."""
        if driver not in self.drivers or self.drivers[driver].sanitizers:
            return ""
        can = sorted(name for name, other in self.drivers.items() if other.sanitizers)
        return (
            f"found sanitize = true for the driver {driver!r}, expected it of {' or '.join(map(repr, can)) or 'none'}"
        )

    def artifact_mismatch(self, compiler: CompilerConfig, runtime: RuntimeConfig) -> str:
        """Return why the driver of a runtime config cannot load the artifacts of a compiler config; empty where it
        may."""
        made_by, run_by = self.compilers.get(compiler.compiler), self.drivers.get(runtime.driver)
        loaded = () if run_by is None else run_by.artifact_suffixes
        if made_by is None or not loaded or made_by.artifact_suffix in loaded:
            return ""
        fit = sorted(name for name, other in self.compilers.items() if other.artifact_suffix in loaded)
        return (
            f"found compiler config {compiler.name!r} of compiler {compiler.compiler!r}, whose artifacts "
            f"({made_by.artifact_suffix}) the driver {runtime.driver!r} of runtime config {runtime.name!r} does not "
            f"load; expected one with compiler = {' or '.join(map(repr, fit)) or 'one that writes ' + loaded[0]}"
        )

    def derived_tags(self, config: CompilerConfig | RuntimeConfig) -> tuple[str, ...]:
        """Return the words that the config's compiler or driver derives from it; none if there is no such one.

        Raises `RetargetError` for a word that cannot be used in `-m`.
        """
        product: Any
        if isinstance(config, CompilerConfig):
            word, name, product = "compiler", config.compiler, self.compilers.get(config.compiler)
        else:
            word, name, product = "driver", config.driver, self.drivers.get(config.driver)
        tags: Sequence[str] = () if product is None else product.tags(config)
        for tag in tags:
            if diagnostic := tag_error(tag):
                extension = self.origins.get((word, name), "?")
                msg = f"extension {extension!r}: {word} {name!r}: tags of config {config.name!r}: {diagnostic}"
                raise RetargetError(msg)
        return tuple(tags)


def _variables_of(compiler: Compiler, code: str) -> Sequence[tuple[str, str]]:
    """Return a digest of the variables that a compiler's code names, where the core adds this `code` to its build."""
    named = variables_named(type(compiler).__module__) if code and not code.startswith(_UNKNOWN) else []
    return [("variables", hashlib.sha256(repr(named).encode()).hexdigest())] if named else []


def _toolchains(target: Target) -> tuple[object, ...]:
    own = target.compiled.compiler
    return own.compiler, own.toolchain, target.runtime and target.runtime.toolchain


def _found(products: Mapping[str, _ProductT], word: str, name: str) -> _ProductT:
    if name in products:
        return products[name]
    known = ", ".join(sorted(products)) or "none"
    hint = did_you_mean(name, products) or "; is the extension that provides it installed?"
    msg = f"found the {word} {name!r}, expected a registered one: {known}{hint}"
    raise RetargetError(msg)


def load_extensions(
    extra: Sequence[str] = (),
    *,
    installed: Sequence[tuple[str, str]] | None = None,
    folders: Sequence[Path] = (),
    checked: bool = False,
) -> Registry:
    """Import and check the extensions: entry points first, then `RETARGET_EXTENSIONS`, then `extra` (module names).

    `folders` are where named modules are looked for in addition to `sys.path` and the current folder. What is `checked`
    already, by the process that started this one, is not checked again; nor is looked for what it found `installed`
    (names and values of entry points).

    Raises `RetargetError` for the first that is failing, naming it.
    """
    sources: dict[str, object] = {}
    for name, import_extension in _sources(extra, installed, folders):
        if name not in sources:
            sources[name] = import_extension()
    return registry_of(sources, checked=checked)


class Commands(Struct, frozen=True, kw_only=True):
    """The subcommands of all extensions, the names that several extensions provide, and every error of loading."""

    provided: Mapping[str, Command]
    conflicts: Mapping[str, RetargetError]
    errors: tuple[RetargetError, ...]


def load_commands(wanted: str = "") -> Commands:
    """Return the subcommands. An extension that fails takes only its own subcommands away.

    Where `wanted` is one of this package's own, no extension is imported.
    """
    commands: dict[str, Command] = {}
    providers: dict[str, str] = {}
    conflicts: dict[str, RetargetError] = {}
    errors: list[RetargetError] = []
    seen: list[object] = []
    for name, import_extension in _sources():
        try:
            extension = import_extension()
            if any(extension is other for other in seen):
                continue
            seen.append(extension)
            registry = registry_of({name: extension})
        except RetargetError as error:
            errors.append(error)
            continue
        for key, command in registry.commands.items():
            if key in commands:
                conflicts[key] = _taken(name, "command", key, providers[key])
                errors.append(conflicts[key])
            else:
                commands[key], providers[key] = command, name
        if wanted in commands and name == _OWN:
            break
    return Commands(provided=commands, conflicts=conflicts, errors=tuple(errors))


def _sources(
    extra: Sequence[str] = (), installed: Sequence[tuple[str, str]] | None = None, folders: Sequence[Path] = ()
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name of every extension with the function that imports it."""
    points = installed_extensions() if installed is None else installed
    for name, value in sorted(points, key=lambda point: point[0] != _OWN):
        yield name, partial(_imported, name, value)
    for module in named_extensions(extra):
        yield module, partial(_imported, module, module, (*_folders_here(), *folders))


def _taken(name: str, word: str, key: str, other: str) -> RetargetError:
    return RetargetError(f"extension {name!r}: {word} {key!r} is provided by extension {other!r} already")


def named_extensions(extra: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the modules that `RETARGET_EXTENSIONS` names, then those of `extra`, each once."""
    named = os.environ.get(EXTENSIONS_VARIABLE, "").split(os.pathsep)
    return tuple(dict.fromkeys(name.strip() for name in (*named, *extra) if name.strip()))


def pass_on(names: Sequence[str]) -> None:
    """Let the processes that this one starts load these extensions as well."""
    if named := named_extensions(names):
        os.environ[EXTENSIONS_VARIABLE] = os.pathsep.join(named)


def _folders_here() -> tuple[Path, ...]:
    """Return the current folder, and those above it up to a repository's; without a repository the first alone."""
    here = Path.cwd()
    above = (here, *here.parents)
    ends = next((at for at, folder in enumerate(above) if os.path.lexists(folder / ".git")), 0)
    return above[: ends + 1]


def _make_importable(package: str, folders: Sequence[Path]) -> None:
    """Append to `sys.path` the first of `folders` that has a package or module which is not there yet."""
    try:
        if importlib.util.find_spec(package) is not None:
            return
    except (ImportError, ValueError):
        return
    found = next((one for one in folders if (one / f"{package}.py").is_file() or (one / package).is_dir()), None)
    if found is not None:
        sys.path.append(str(found))


def _not_found(package: str, folders: Sequence[Path]) -> str:
    """Say where a module was looked for that is nowhere."""
    if package.endswith(".py") or "/" in package:
        return f"; expected a module's name, such as {Path(package).stem!r}"
    stems = {path.stem for folder in folders for path in folder.glob("*.py")}
    searched = ", ".join(str(folder) for folder in dict.fromkeys(folders))
    return f"; it is neither on sys.path nor in {searched}{did_you_mean(package, sorted(stems))}"


def _imported(name: str, value: str, folders: Sequence[Path] = ()) -> object:
    module, _, attribute = value.partition(":")
    package = module.partition(".")[0] if not module.endswith(".py") else module
    if folders:
        _make_importable(package, folders)
    try:
        found: object = importlib.import_module(module)
        for part in attribute.split(".") if attribute else ():
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # a script that is not meant to be imported exits
        where = name if name == value else f"{name} = {value}"
        is_missing = isinstance(error, ModuleNotFoundError) and error.name in {package, package.removesuffix(".py")}
        hint = _not_found(package, folders) if folders and is_missing else ""
        msg = f"extension {where!r} cannot be imported: {type(error).__name__}: {error}{hint}"
        raise RetargetError(msg) from error
    return found


def registry_of(extensions: Mapping[str, object], *, checked: bool = False) -> Registry:
    """Return the registry of extensions that are imported already, by name. `checked` as in `load_extensions`."""
    products: dict[str, dict[str, Any]] = {kind.word: {} for kind in PRODUCT_KINDS}
    origins: dict[tuple[str, str], str] = {}
    seen: list[object] = []
    for name, extension in extensions.items():
        if any(extension is other for other in seen):
            continue  # one module under two names: an entry point and the option
        seen.append(extension)
        _check_hooks(name, extension)
        for kind in PRODUCT_KINDS:
            for product in _products(name, extension, kind):
                one: Any = product if checked else checked_product(name, kind, product)
                key = getattr(one, kind.name)
                other = origins.setdefault((kind.word, key), name)
                if key in products[kind.word]:
                    raise _taken(name, kind.word, key, other)
                products[kind.word][key] = one
                note_place(one, f"extension {name!r}: {kind.word} {key!r}")
    return Registry(
        compilers=MappingProxyType(products["compiler"]),
        drivers=MappingProxyType(products["driver"]),
        case_loaders=MappingProxyType(products["case loader"]),
        commands=MappingProxyType(products["command"]),
        origins=MappingProxyType(origins),
    )


def _check_hooks(name: str, extension: object) -> None:
    known = [kind.hook for kind in PRODUCT_KINDS]
    hooks = 0
    for attribute in dir(extension):
        value = getattr(extension, attribute, None)
        is_marked = is_hook(value)
        if is_marked and attribute not in known:
            expected = f"expected one of {', '.join(known)}{did_you_mean(attribute, known)}"
            msg = f"extension {name!r}: found the unknown hook {attribute!r}, {expected}"
            raise RetargetError(msg)
        if attribute.startswith(_HOOK_PREFIX) and inspect.isroutine(value) and not is_marked:
            expected = "expected @retarget.extension.hookimpl before it"
            msg = f"extension {name!r}: found the hook {attribute!r} unmarked, {expected}"
            raise RetargetError(msg)
        if is_marked and not can_be_called(value, ()):
            found = f"{attribute}{inspect.signature(value)}" if callable(value) else attribute
            msg = f"extension {name!r}: found the hook {found}, expected {attribute}() without arguments"
            raise RetargetError(msg)
        hooks += is_marked
    if not hooks:
        msg = f"extension {name!r}: found no hook, expected one or more of {', '.join(known)}"
        raise RetargetError(msg)


def _products(name: str, extension: object, kind: ProductKind) -> Iterable[object]:
    hook: Any = getattr(extension, kind.hook, None)
    if not is_hook(hook):
        return ()
    try:
        returned = hook()
        products = tuple(returned) if isinstance(returned, Iterable) and not isinstance(returned, str) else None
    except (Exception, SystemExit) as error:
        msg = f"extension {name!r}: hook {kind.hook} failed: {type(error).__name__}: {error}"
        raise RetargetError(msg) from error
    if products is None:
        msg = f"extension {name!r}: hook {kind.hook} returned {returned!r}, expected a tuple of {kind.word}s"
        raise RetargetError(msg)
    return products


PROJECT = "retarget"
"""What pluggy calls the project, and the group of the entry points."""

hookimpl = pluggy.HookimplMarker(PROJECT)


class ProductKind(Struct, frozen=True, kw_only=True):
    """One kind of product that extensions provide: its hook, its base class, and which attribute names it.

    A hook takes no arguments, and returns all such products of the extension. It is called once, when that is loaded.
    """

    word: str
    hook: str
    base: type[Product]
    name: str = "name"


PRODUCT_KINDS = (
    ProductKind(word="compiler", hook="retarget_compilers", base=Compiler),
    ProductKind(word="driver", hook="retarget_drivers", base=Driver),
    ProductKind(word="case loader", hook="retarget_case_loaders", base=CaseLoader, name="kind"),
    ProductKind(word="command", hook="retarget_commands", base=Command),
)


def checked_product(extension: str, kind: ProductKind, product: object) -> Product:
    """Return a product that is an object of a subclass, with a name, and with methods that can be called as those of
    the base class. Raises `RetargetError` for another."""
    where = f"extension {extension!r}: hook {kind.hook}"
    if not isinstance(product, kind.base):
        msg = f"{where}: {no_subclass(product, kind.base)}"
        raise RetargetError(msg)
    name = getattr(product, kind.name, None)
    if not isinstance(name, str) or not name:
        found = f"{type(product).__name__} with {kind.name} = {name!r}"
        msg = f"{where}: found {found}, expected a {kind.word} whose {kind.name} is a string"
        raise RetargetError(msg)
    where = f"{where}: {kind.word} {name!r}"
    if kind.base is Command and re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", name) is None:
        msg = f"{where}: expected a name of lower-case letters, digits and single hyphens"
        raise RetargetError(msg)
    for method, declared in methods_of(kind.base).items():
        own = getattr(product, method)
        parameters = tuple(inspect.signature(declared).parameters)[1:]
        if getattr(own, "__func__", None) is not declared and not can_be_called(own, parameters):
            found = f"{method}{inspect.signature(own)}" if callable(own) else f"{method} = {own!r}"
            msg = f"{where}: found {found}, expected {method}({', '.join(parameters)})"
            raise RetargetError(msg)
    check_attributes(product, where)
    return product


def can_be_called(function: object, parameters: Sequence[str]) -> bool:
    """Return whether a callable takes these arguments, by position and by name alike."""
    if not callable(function):
        return False
    signature = inspect.signature(function)
    try:
        signature.bind(*parameters)
        signature.bind(**dict.fromkeys(parameters))
    except TypeError:
        return False
    return True


def is_hook(function: object) -> bool:
    """Return whether something is marked as a hook of this project."""
    return inspect.isroutine(function) and hasattr(function, f"{PROJECT}_impl")
