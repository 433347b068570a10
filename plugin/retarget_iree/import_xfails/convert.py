"""Config files of iree-test-suites → configs and few rules.

A config becomes a compiler config, a runtime config (which configs that run alike share) and a target config. The lists
distinguish compile from run and nothing more: rules from them name the stages that each may mean. A test is
compiled and run under the name it has in the lists, which is its folder's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from retarget.expect.update.text import rule_text
from retarget.model import CompilerConfig, Expectation, Origin, RuntimeConfig
from retarget.model.names import as_config_name, config_name_error
from retarget.support.errors import Diagnostic
from retarget.support.toml.write import toml_table

from retarget_iree.import_xfails.golden import GoldenValue, golden_rules
from retarget_iree.import_xfails.read import ConfigLists

__all__ = ["Imported", "config_errors", "import_configs"]

_STAGES = {
    "expected_compile_failures": ("compile", "crash"),
    "expected_run_failures": ("load", "run", "compare", "crash"),
}
_SORTS = {
    "skip_compile_tests": "",
    "expected_compile_failures": "compile",
    "skip_run_tests": "run",
    "expected_run_failures": "run",
}
"""The tag of the targets that each list is about. What is not compiled is not run."""

_BEFORE = {
    "skip_compile_tests": (),
    "expected_compile_failures": ("skip_compile_tests",),
    "skip_run_tests": ("skip_compile_tests",),
    "expected_run_failures": ("skip_compile_tests", "skip_run_tests", "expected_compile_failures"),
}
"""The lists, in the order of their rules, each with those that claim a test before it does."""

_ORIGIN = Origin(file=Path("matrix.toml"), key_path="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of the lists: the texts of two files, and the counts.

    `entries` counts each config's entries, `rules` the rules that name it, `golden` the golden
    values. `notes` say what was in two lists at once.
    """

    matrix: str
    expectations: str
    entries: Mapping[str, int]
    rules: Mapping[str, int]
    rules_in_all: int
    golden: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Config:
    lists: ConfigLists
    compiler: CompilerConfig
    runtime: RuntimeConfig


def import_configs(
    configs: Sequence[ConfigLists], golden: Sequence[GoldenValue] = (), files: Sequence[Path] = ()
) -> Imported:
    """Return what configs without `config_errors` become, with the golden values of the files."""
    converted = _configs(configs)
    notes: list[str] = []
    claims = {config.compiler.name: _claims(config, notes) for config in converted}
    rules = _rules(converted, claims)
    sources = (*(config.lists.file for config in converted), *(files if golden else ()))
    about = ", ".join(dict.fromkeys(file.name for file in sources))
    bounds = [
        replace(one, config=name if (name := as_config_name(one.config)) in claims else one.config) for one in golden
    ]
    return Imported(
        matrix="\n".join([f"# Taken over from {about}.\n", *_tables(converted)]),
        expectations="\n".join(
            [f"# Taken over from {about}.\n", *(rule_text(rule) for rule, _ in rules), *golden_rules(bounds, claims)]
        ),
        entries={config.compiler.name: sum(map(len, config.lists.lists.values())) for config in converted},
        rules={name: sum(name in names for _, names in rules) for name in claims},
        rules_in_all=len(rules),
        golden=len(golden),
        notes=tuple(notes),
    )


def config_errors(configs: Sequence[ConfigLists]) -> Iterator[Diagnostic]:
    """Yield an error for each unusable name, for two configs of one name, and for a config that names no device."""
    first: dict[str, ConfigLists] = {}
    for config in configs:
        name = as_config_name(config.name)
        found: list[tuple[str, str]] = []
        if error := config_name_error(name):
            found.append(("config_name", f"{error}: NAME={config.file} gives it"))
        if (other := first.setdefault(name, config)) is not config:
            expected = f"expected another one: NAME={config.file} gives it"
            message = f"found the name {config.name!r}, which {other.file} gives its config too; {expected}"
            found.append(("config_name", message))
        if not _devices(config):
            message = "found no --device=…, expected one: it names the driver to run with"
            found.append(("iree_run_module_flags", message))
        for key_path, message in found:
            yield Diagnostic(file=config.file, line=0, key_path=key_path, message=message)


def _devices(config: ConfigLists) -> list[str]:
    return [flag.partition("=")[2] for flag in config.run_flags if flag.startswith("--device=") and flag[9:]]


# ------------------------------------------------------------ configs


def _configs(configs: Sequence[ConfigLists]) -> list[_Config]:
    runtimes: dict[tuple[str, ...], RuntimeConfig] = {}
    drivers = [_driver(config) for config in configs]
    alike = {
        driver: {config.run_flags for config, own in zip(configs, drivers, strict=True) if own == driver}
        for driver in drivers
    }
    converted = []
    for config, driver in zip(configs, drivers, strict=True):
        name = as_config_name(config.name)
        uris = _devices(config)
        runtime = runtimes.get(config.run_flags)
        if runtime is None:
            runtime = runtimes[config.run_flags] = RuntimeConfig(
                name=driver if len(alike[driver]) == 1 and "_" not in driver else name,
                driver=driver,
                devices=() if uris == [driver] else tuple(uris),
                flags=tuple(flag for flag in config.run_flags if not flag.startswith("--device=")),
                origin=_ORIGIN,
            )
        compiler = CompilerConfig(name=name, compiler="iree", flags=config.compile_flags, origin=_ORIGIN)
        converted.append(_Config(lists=config, compiler=compiler, runtime=runtime))
    return converted


def _driver(config: ConfigLists) -> str:
    return _devices(config)[0].partition("://")[0]


def _tables(configs: Sequence[_Config]) -> Iterable[str]:
    for config in configs:
        compiler = config.compiler
        yield _table("compiler_config", name=compiler.name, compiler=compiler.compiler, flags=compiler.flags)
    for runtime in {id(config.runtime): config.runtime for config in configs}.values():
        device = runtime.devices[0] if len(runtime.devices) == 1 else ""
        optional: dict[str, str | tuple[str, ...]] = {
            "device": device,
            "devices": () if device else runtime.devices,
            "flags": runtime.flags,
        }
        written = {key: value for key, value in optional.items() if value}
        yield _table("runtime_config", name=runtime.name, driver=runtime.driver, **written)
    for config in configs:
        name = config.compiler.name
        yield _table("target_config", name=name, compiler=name, runtimes=(config.runtime.name,))


def _table(table: str, **values: str | tuple[str, ...]) -> str:
    return f"{toml_table(table, **values)}\n"


# ------------------------------------------------------------ rules


def _claims(config: _Config, notes: list[str]) -> dict[str, list[str]]:
    """Return the tests of each list, each test once for the compile and once for the run.

    What is skipped is not expected to fail, and what is not compiled is not run.
    """
    lists = config.lists.lists
    claims: dict[str, list[str]] = {}
    for key, others in _BEFORE.items():
        claimed = {test: other for other in others for test in lists[other]}
        claims[key] = [test for test in lists[key] if test not in claimed]
        notes += [
            f"{config.lists.file.name}: {test} is in {claimed[test]} too; left out of {key}"
            for test in lists[key]
            if test in claimed
        ]
    return claims


def _rules(
    configs: Sequence[_Config], claims: Mapping[str, Mapping[str, Sequence[str]]]
) -> list[tuple[Expectation, tuple[str, ...]]]:
    """Return the rules, each with the names of the configs that it is about: one for those in whose list a test is."""
    rules = []
    for key in _BEFORE:
        by_test: dict[str, list[str]] = {}
        for name, lists in claims.items():
            for test in lists[key]:
                by_test.setdefault(test, []).append(name)
        groups: dict[tuple[str, ...], list[str]] = {}
        for test, names in by_test.items():
            groups.setdefault(tuple(names), []).append(test)
        for about, tests in groups.items():
            config_names = [config.lists.name for config in configs if config.compiler.name in about]
            sources = [config.lists.source or key for config in configs if config.compiler.name in about]
            rule = Expectation(
                match=tuple(sorted(tests)),
                when=_when(key, about if len(about) < len(configs) else ()),
                stages=_STAGES.get(key, ()),
                outcome="skip" if key.startswith("skip") else "xfail",
                reason=f"taken over from {', '.join(dict.fromkeys(sources))} of {', '.join(config_names)}",
                origin=_ORIGIN,
            )
            rules.append((rule, about))
    return rules


def _when(key: str, names: Sequence[str]) -> str:
    """Return the expression for what a list is about, of the configs of these names; of all, if there are none."""
    configs = " or ".join(names)
    if not (sort := _SORTS[key]):
        return configs
    return f"{sort} and {f'({configs})' if len(names) > 1 else configs}" if names else sort
