"""Tables → configs: good and new names, inheritance by `extends`, references, words.

The devices of runtime configs: what their tables mean, and how roles fit the devices of compiler configs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from retarget.declare.named_configs import (
    Names,
    Redirections,
    Scope,
    env_problems,
    find_named,
    hosts_of,
    names_of,
    new_names,
    reference_problems,
    toolchains_of,
    unknown_name,
    word_problems,
)
from retarget.declare.schema.kept import Declared, FileTables, fields_of
from retarget.extension import CompilerError
from retarget.model import CompilerConfig, Host, Origin, Requirement, RuntimeConfig, TargetConfig, Toolchain
from retarget.model.devices import DEVICE_TYPES
from retarget.model.marks import SYSTEM_ALIASES
from retarget.model.names import config_name_error, name_error
from retarget.profiles.files import Profile
from retarget.profiles.requirements import requirement_error
from retarget.support.errors import RetargetError, did_you_mean, display_path
from retarget.support.toml import KeyPath, Problem, format_key_path, parse_key_path
from retarget.targets.availability import HOST_ARCHITECTURES, HOST_SYSTEMS, word_error

if TYPE_CHECKING:
    from retarget.declare.schema.tables import CompilerConfigTable, DeviceTable, RuntimeConfigTable
    from retarget.extension.registry import Registry


_InheritableT = TypeVar("_InheritableT", bound=CompilerConfig | RuntimeConfig)
_InheritableTableT = TypeVar("_InheritableTableT", bound="CompilerConfigTable | RuntimeConfigTable")

_REPORTED = 20
"""How many configs of one product declaration have their own message: looking for near names takes time for each."""


def extend_scope(
    above: Scope, tables: FileTables, registry: Registry | None, redirected: Redirections
) -> tuple[Scope, tuple[Problem, ...]]:
    """Return what a file can see (its own configs and those above it) and what is wrong with its own.

    `registry` knows which drivers load what which compilers make; without it none is checked against the other.
    `redirected` says where some toolchains are in this session.
    """
    problems: list[Problem] = []
    toolchains = toolchains_of(above.toolchains, tables, redirected, problems)
    hosts = hosts_of(above.hosts, tables, problems)
    compilers = _inheritable(
        above.compilers,
        tables,
        tables.compilers,
        problems,
        check=partial(_compiler_problems, toolchains, tables.file, registry),
        check_devices=partial(compile_device_problems, registry),
        build=partial(_compiler, toolchains),
        check_built=partial(_target_problems, registry),
    )
    runtimes = _inheritable(
        above.runtimes,
        tables,
        tables.runtimes,
        problems,
        check=partial(_runtime_problems, toolchains, hosts),
        check_devices=partial(device_problems, registry),
        build=partial(_runtime, toolchains, hosts),
    )
    targets = _target_configs(above.targets, tables, compilers, runtimes, problems, registry=registry)
    scope = Scope(toolchains=toolchains, hosts=hosts, compilers=compilers, runtimes=runtimes, targets=targets)
    return scope, tuple(problems)


def requirements(texts: Sequence[str], file: Path, path: KeyPath) -> tuple[Requirement, ...]:
    """Return the requirements of a list, each with its origin."""
    return tuple(
        Requirement(text=text, origin=Origin(file=file, key_path=format_key_path((*path, index))))
        for index, text in enumerate(texts)
    )


# ---------------------------------------------------------------- inheritance


def _inheritable(
    above: Names[_InheritableT],
    tables: FileTables,
    declared: Sequence[Declared[_InheritableTableT]],
    problems: list[Problem],
    *,
    check: Callable[[Declared[_InheritableTableT]], Iterable[Problem]],
    check_devices: Callable[[_InheritableTableT, KeyPath], Iterable[Problem]],
    build: Callable[[_InheritableTableT, tuple[Origin, ...], Origin], _InheritableT],
    check_built: Callable[[_InheritableT, KeyPath], Iterable[Problem]] = lambda *_: (),
) -> Names[_InheritableT]:
    """Build the configs that may extend one another, bases first.

    Each is checked by itself, whatever is wrong with its name or its base; its devices together with what it takes from
    its base.
    """
    tool = {"compiler_config": "compiler", "runtime_config": "driver"}[above.sort]
    good, bad = new_names(above, declared, config_name_error, problems)
    found = [(one.table.name, tuple(check(one))) for one in declared]
    problems += [problem for _, own in found for problem in own]
    unsound = {name for name, own in found if own}
    is_complete = above.is_complete and above.sort not in tables.hiding
    bases = {name: entry.table.extends for name, entry in good.items() if entry.table.extends is not None}
    in_order, cyclic = _bases_first(good, bases, problems)
    invalid = bad | above.invalid | tables.invalid.get(above.sort, frozenset()) | cyclic
    configs = dict(above.configs)
    complete = dict(above.tables)
    reported: Counter[KeyPath] = Counter()
    for name in (name for name in in_order if name not in invalid):
        entry = good[name]
        base = bases.get(name)
        if base is not None and base not in configs:
            if is_complete and base not in invalid and reported[entry.path] < _REPORTED:
                reported[entry.path] += 1
                known = [*above.configs, *(other for other in good if other != name)]
                problems.append(Problem((*entry.path, "extends"), unknown_name(above.sort, base, known)))
            invalid.add(name)
            continue
        if name in unsound:
            invalid.add(name)
            continue
        own = _located(entry.table, tables.file)
        table = own if base is None else _inherited(own, complete[base])
        diagnostics: tuple[Problem, ...] = tuple(check_devices(table, entry.path))
        if not diagnostics and not (main_driver(cast("Any", table)) if tool == "driver" else getattr(table, tool)):
            message = f"found no {tool}, expected its name here or by extends"
            diagnostics = (Problem((*entry.path, tool), message),)
        origin = Origin(file=tables.file, key_path=format_key_path(entry.path))
        inherited = () if base is None else configs[base].flag_origins
        built = build(table, (*inherited, *(origin for _ in entry.table.flags)), origin)
        diagnostics = diagnostics or tuple(check_built(built, entry.path))
        problems.extend(diagnostics)
        if diagnostics:
            invalid.add(name)
            continue
        complete[name] = table
        configs[name] = built
    ordered = {name: configs[name] for name in (*above.configs, *good) if name in configs}
    return Names(sort=above.sort, configs=ordered, tables=complete, invalid=frozenset(invalid), is_complete=is_complete)


def _located(table: _InheritableTableT, file: Path) -> _InheritableTableT:
    """Return a table whose profile files have absolute paths: one that extends it may be in another folder."""
    located: dict[str, object] = {}
    if profile := getattr(table, "profile", None):
        located["profile"] = Profile.located(file, profile)
    if profiles := getattr(table, "target_from", ()):
        located["target_from"] = [Profile.located(file, one) for one in profiles]
    return cast("_InheritableTableT", table.model_copy(update=located)) if located else table


def _inherited(own: _InheritableTableT, base: CompilerConfigTable | RuntimeConfigTable) -> _InheritableTableT:
    """Return a table with the keys that it lacks taken from its base."""
    written = own.model_fields_set
    if {"device", "devices"} & written:
        written = written | {"device", "devices"}
    taken = {key: value for key, value in base if key not in written}
    taken |= {"flags": [*base.flags, *own.flags], "env": {**base.env, **own.env}}
    return cast("_InheritableTableT", own.model_copy(update=taken))


def _bases_first(
    good: Mapping[str, Declared[_InheritableTableT]], bases: Mapping[str, str], problems: list[Problem]
) -> tuple[list[str], set[str]]:
    """Return the names, each after its base, and those that extend themselves by way of others.

    Each cycle is reported once, at the first of its configs. Linear in the number of names.
    """
    position = {name: at for at, name in enumerate(good)}
    ordered: dict[str, None] = {}
    cyclic: set[str] = set()
    for first in good:
        chain: dict[str, None] = {}
        name = first
        while name in good and name not in ordered and name not in chain:
            chain[name] = None
            name = bases.get(name, "")
        if name in chain:
            cycle = [*chain][[*chain].index(name) :]
            start = cycle.index(min(cycle, key=position.__getitem__))
            cycle = cycle[start:] + cycle[:start]
            cyclic.update(cycle)
            message = f"found a cycle: {' → '.join([*cycle, cycle[0]])}; expected a chain that ends"
            problems.append(Problem((*good[cycle[0]].path, "extends"), message))
        ordered |= dict.fromkeys(reversed(chain))
    return [*ordered], cyclic


# ---------------------------------------------------------------- the sorts


def _compiler_problems(
    names: Names[Toolchain], file: Path, registry: Registry | None, entry: Declared[CompilerConfigTable]
) -> Iterable[Problem]:
    yield from word_problems(entry.table.tags, (*entry.path, "tags"))
    yield from env_problems(entry.table.env, (*entry.path, "env"))
    yield from reference_problems(names, entry.table.toolchain, entry.path)
    compiler = registry.compilers.get(entry.table.compiler or "") if registry is not None else None
    if entry.table.target_from and compiler is not None and not compiler.overrides("profile_target"):
        message = f"found device profiles, but the compiler {compiler.name!r} does not compile for them"
        yield Problem((*entry.path, "target_from"), message)
    for index, reference in enumerate(entry.table.target_from):
        if (found := Profile.reference_error(Profile.located(file, reference))) is not None:
            yield Problem((*entry.path, "target_from", index), found)


def _compiler(
    names: Names[Toolchain], table: CompilerConfigTable, flag_origins: tuple[Origin, ...], origin: Origin
) -> CompilerConfig:
    values = fields_of(table, CompilerConfig) | {"toolchain": names.configs.get(table.toolchain or "")}
    return CompilerConfig(**values, flag_origins=flag_origins, origin=origin)


def _target_problems(registry: Registry | None, config: CompilerConfig, path: KeyPath) -> Iterable[Problem]:
    if message := target_error(registry, config, config.flags):
        yield Problem((*path, "target_from"), message)


def target_error(registry: Registry | None, config: CompilerConfig, flags: Sequence[str]) -> str:
    """Return why a config's compiler cannot compile for its profiles with these flags; empty where it can."""
    compiler = registry.compilers.get(config.compiler) if registry is not None else None
    if config.target_from and compiler is not None:
        try:
            compiler.target_parts(config, tuple(flags))
        except (CompilerError, RetargetError) as error:
            return str(error)
    return ""


def _runtime_problems(
    names: Names[Toolchain], hosts: Names[Host], entry: Declared[RuntimeConfigTable]
) -> Iterable[Problem]:
    table, given = entry.table, entry.table.model_fields_set
    yield from reference_problems(names, table.toolchain, entry.path)
    yield from reference_problems(hosts, table.host, entry.path)
    yield from word_problems(table.tags, (*entry.path, "tags"))
    yield from env_problems(table.env, (*entry.path, "env"))
    yield from word_problems(_systems(table), (*entry.path, "host_os"), partial(word_error, known=HOST_SYSTEMS))
    yield from word_problems(table.host_arch, (*entry.path, "host_arch"), partial(word_error, known=HOST_ARCHITECTURES))
    yield from word_problems(table.requires, (*entry.path, "requires"), requirement_error)
    if table.device_type is not None and (message := word_error(table.device_type, DEVICE_TYPES)):
        yield Problem((*entry.path, "device_type"), message)
    if {"device", "devices"} <= given:
        yield Problem((*entry.path, "devices"), "found both device and devices, expected one of them")
    if "run_under" in given and table.run_under[:1] == [""]:
        yield Problem((*entry.path, "run_under", 0), "found an empty string, expected a command")


def _systems(table: RuntimeConfigTable) -> list[str]:
    return [SYSTEM_ALIASES.get(word, word) for word in table.host_os]


def _runtime(
    names: Names[Toolchain],
    hosts: Names[Host],
    table: RuntimeConfigTable,
    flag_origins: tuple[Origin, ...],
    origin: Origin,
) -> RuntimeConfig:
    values = fields_of(table, RuntimeConfig) | {"toolchain": names.configs.get(table.toolchain or "")}
    values["host"] = hosts.configs.get(table.host or "")
    values["host_os"] = tuple(dict.fromkeys(_systems(table)))
    path = parse_key_path(origin.key_path)
    needs = requirements(table.requires, origin.file, (*path, "requires"))
    if table.device_type is not None:
        where = Origin(file=origin.file, key_path=format_key_path((*path, "device_type")))
        needs = (Requirement(text=f"device_type = {table.device_type}", origin=where), *needs)
    values |= {"profile": table.profile or "", "requires": needs}
    values |= device_values(table)
    return RuntimeConfig(**values, flag_origins=flag_origins, origin=origin)


def _target_configs(
    above: Names[TargetConfig],
    tables: FileTables,
    compilers: Names[CompilerConfig],
    runtimes: Names[RuntimeConfig],
    problems: list[Problem],
    *,
    registry: Registry | None,
) -> Names[TargetConfig]:
    good, bad = new_names(above, tables.targets, name_error, problems)
    configs = dict(above.configs)
    reported: Counter[KeyPath] = Counter()
    for entry in tables.targets:
        table, name = entry.table, entry.table.name
        if reported[entry.path] >= _REPORTED:
            bad.add(name)
            continue
        found_compilers, compiler_diagnostics = find_named(compilers, table.compiler, (*entry.path, "compiler"))
        found_runtimes, runtime_diagnostics = find_named(runtimes, table.runtimes, (*entry.path, "runtimes"))
        diagnostics = [*compiler_diagnostics, *runtime_diagnostics, *word_problems(table.tags, (*entry.path, "tags"))]
        if registry is not None:
            diagnostics += _misfits(registry, found_compilers, found_runtimes, (*entry.path, "compiler"))
        diagnostics += role_problems(found_compilers, found_runtimes, entry.path, registry)
        problems.extend(diagnostics)
        reported[entry.path] += bool(diagnostics)
        if diagnostics or not found_compilers:
            bad.add(name)
            continue
        if good.get(name) is not entry:
            continue
        configs[name] = TargetConfig(
            name=name,
            compilers=found_compilers,
            runtimes=found_runtimes,
            tags=tuple(table.tags),
            origin=Origin(file=tables.file, key_path=format_key_path(entry.path)),
        )
    return names_of(above, tables, configs, bad)


def _misfits(
    registry: Registry, compilers: Sequence[CompilerConfig], runtimes: Sequence[RuntimeConfig], path: KeyPath
) -> Sequence[Problem]:
    """Return the first pair of configs whose compiler and driver do not fit: one line says it for all targets."""
    makers = {config.compiler: config for config in reversed(compilers)}
    drivers = {config.driver: config for config in reversed(runtimes)}
    pairs = ((maker, driver) for maker in makers.values() for driver in drivers.values())
    message = next((message for pair in pairs if (message := registry.artifact_mismatch(*pair))), "")
    return (Problem(path, message),) if message else ()


def main_driver(table: RuntimeConfigTable) -> str:
    """Return the driver that opens a config's devices: its own, else that of its first device; empty where a device
    names none."""
    drivers = [_driver(one) for one in table.devices]
    return table.driver or (drivers[0] if drivers and all(drivers) else "")


def device_values(table: RuntimeConfigTable) -> dict[str, Any]:
    """Return the values of the fields of `RuntimeConfig` that the devices and the driver give."""
    several = table.devices if table.device is None else []
    uris = [_uri(one, table) for one in several] if table.device is None else [_with_driver(table.device, table)]
    return {
        "driver": main_driver(table),
        "devices": tuple(uris),
        "roles": tuple(one.role for one in several) if any(one.role for one in several) else (),
        "used": tuple(one.used for one in several) if any(one.used is not None for one in several) else (),
    }


def device_problems(registry: Registry | None, table: RuntimeConfigTable, path: KeyPath) -> Iterable[Problem]:
    """Yield what is wrong with a runtime config's devices by themselves."""
    devices = table.devices
    first_role: dict[str, int] = {}
    first_device: dict[str, int] = {}
    for index, one in enumerate(devices):
        where = (*path, "devices", index)
        if not one.role and any(other.role for other in devices):
            yield Problem(where, "found a device without a role, expected one: other devices of this config have roles")
        if one.role and first_role.setdefault(one.role, index) != index:
            expected = "expected one device for each role"
            yield Problem((*where, "role"), f"found the role {one.role!r} a second time, {expected}")
        if table.distinct and first_device.setdefault(_uri(one, table), index) != index:
            expected = "expected distinct ones, because of distinct = true"
            yield Problem(where, f"found the device {_uri(one, table)!r} a second time, {expected}")
        scheme = one.device.partition("://")[0] if "://" in one.device else ""
        if one.driver and scheme not in {"", one.driver}:
            message = f"found the device {one.device!r} of the driver {scheme!r}, expected one of {one.driver!r}"
            yield Problem((*where, "device"), message)
    if table.distinct and len(devices) < 2:
        yield Problem((*path, "distinct"), "found distinct = true, expected it beside two devices or more")
    drivers = [_driver(one) for one in devices]
    if table.driver and drivers and all(drivers) and table.driver not in drivers:
        message = f"found the driver {table.driver!r}, but devices of {_words(dict.fromkeys(drivers))}"
        yield Problem((*path, "driver"), f"{message}; expected one of these, or no such key")
    main = main_driver(table)
    if registry is None or not main:
        return
    if table.sanitize and (message := registry.not_sanitized(main)):
        yield Problem((*path, "sanitize"), message)
    for index, driver in enumerate(drivers):
        if message := registry.not_beside(main, driver or main):
            yield Problem((*path, "devices", index), message)
            return


def compile_device_problems(registry: Registry | None, table: CompilerConfigTable, path: KeyPath) -> Iterable[Problem]:
    """Yield what a compiler config's compiler finds wrong with its compile devices."""
    compiler = None if registry is None else registry.compilers.get(table.compiler or "")
    if compiler is not None:
        for name, message in compiler.device_problems(table.devices):
            yield Problem((*path, "devices", name), message)


def role_problems(
    compilers: Sequence[CompilerConfig], runtimes: Sequence[RuntimeConfig], path: KeyPath, registry: Registry | None
) -> Iterable[Problem]:
    """Yield where the roles of a runtime config are not the compile devices of a compiler config: of each runtime
    config the first fault."""
    for runtime in runtimes:
        messages = (
            message for compiler in compilers if runtime.roles and (message := _role_fault(compiler, runtime, registry))
        )
        if message := next(messages, ""):
            yield Problem((*path, "runtimes"), message)


def _role_fault(compiler: CompilerConfig, runtime: RuntimeConfig, registry: Registry | None) -> str:
    names = [name for name, _ in compiler.devices]
    devices = f"the compile devices of {compiler.name!r} ({_place(compiler)}): {_words(names) or 'none'}"
    for index, role in enumerate(runtime.roles):
        if role not in names:
            place = _place(runtime, f".devices[{index}].role")
            return (
                f"found the role {role!r} of runtime config {runtime.name!r} ({place}), expected one of "
                f"{devices}{did_you_mean(role, names)}"
            )
    needed = {} if registry is None else registry.runtime_devices(compiler.compiler, dict(compiler.devices))
    for name in names:
        if name not in runtime.roles and needed.get(name, True):
            return (
                f"found no device with the role {name!r} in runtime config {runtime.name!r} ({_place(runtime)}), "
                f"expected one for each of {devices}"
            )
    return ""


def _place(config: CompilerConfig | RuntimeConfig, further: str = "") -> str:
    return f"{display_path(config.origin.file)}: {config.origin.key_path}{further}"


def _words(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _driver(one: DeviceTable) -> str:
    """Return the driver that a device names, by itself or by its URI; the empty string where it names none."""
    return one.driver or (one.device.partition("://")[0] if "://" in one.device else "")


def _uri(one: DeviceTable, table: RuntimeConfigTable) -> str:
    return _with_driver(one.device, table, one.driver or (main_driver(table) if one.role else ""))


def _with_driver(device: str, table: RuntimeConfigTable, driver: str = "") -> str:
    """Return the URI of a device of a driver; without one, what the table's driver takes for it."""
    driver = driver or ("" if device else main_driver(table))
    return f"{driver}://{device}" if driver and "://" not in device else device
