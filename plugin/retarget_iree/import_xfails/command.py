"""`retarget import-xfails`: take over the config files of iree-test-suites, with what they know to fail, as
configs and few rules.

A config becomes a compiler config, a runtime config (which configs that run alike share) and a target config. The lists
distinguish compile from run and nothing more: rules from them name the stages that each may mean. A test is
compiled and run under the name it has in the lists, which is its folder's.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from retarget.cli import output_folder
from retarget.model import as_config_name, config_name_error, name_error
from retarget.session import EXPECTATIONS_FILE, MATRIX_FILE, SUITE_FILE
from retarget.support import Diagnostic, DiagnosticsError, RetargetError, counted, toml_table, write_files

from retarget_iree.import_xfails.read import ConfigLists, GoldenValue, read_config_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget import-xfails`."""
    parser.add_argument(
        "config",
        nargs="+",
        metavar="[NAME=]CONFIG.json",
        help=(
            "config files of iree-test-suites (onnx_ops, onnx_models, torch_ops, and those of single models); "
            "NAME goes before the config_name in the file"
        ),
    )
    parser.add_argument(
        "-o",
        "--output",
        type=output_folder,
        metavar="DIR",
        help=f"write {MATRIX_FILE} and {EXPECTATIONS_FILE} to this folder (they are printed)",
    )
    parser.add_argument(
        "--suite",
        metavar="NAME",
        help=f"also a {SUITE_FILE} with a suite of this name, for a published tree of tests below the folder",
    )
    parser.add_argument(
        "--chip",
        default="",
        metavar="NAME",
        help="take over what a file has for this chip: golden values, and whether the model fails to compile",
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there with another content")


def run(arguments: argparse.Namespace) -> int:
    """Write or print the files, then the counts. Returns 0; raises `DiagnosticsError` and `RetargetError`.

    The configs are complete: they see none above them.
    """
    if arguments.suite is not None and (diagnostic := name_error(arguments.suite)):
        raise argparse.ArgumentError(None, f"argument --suite: {diagnostic}")
    named = [_named(text) for text in arguments.config]
    configs, golden, notes = _read(named, arguments.chip)
    names = [as_config_name(config.name) for config in configs]
    rules = rules_of(configs, notes)
    tables = {MATRIX_FILE: ["root = true", *config_tables(configs)]} if configs else {}
    tables[EXPECTATIONS_FILE] = [*rules, *golden_rules(golden, names)]
    about = f"# Taken over from {', '.join(dict.fromkeys(path.name for _, path in named))}."
    files = {name: "\n\n".join([about, *mine]) + "\n" for name, mine in tables.items()}
    if arguments.suite is not None:
        srcs = ["**/run_module_io_flags.txt"]
        suite = toml_table("module_test_suite", name=arguments.suite, srcs=srcs, kind="run-module", targets=names)
        files[SUITE_FILE] = f"{suite}\n"
    lines = [f"note: {note}" for note in notes]
    if configs:
        entries = sum(len(tests) for config in configs for tests in config.lists.values())
        found = f"{counted(entries, 'listed test')} of {counted(len(configs), 'config')}"
        lines.append(f"{found} became {counted(len(rules), 'rule')}")
    if golden:
        lines.append(f"{counted(len(golden), 'golden value')} became [[golden]] rules")
    counts = "\n".join([*lines, ""])
    if arguments.output is None:
        sys.stdout.write("\n".join(f"# {name}\n{text}" for name, text in files.items()))
        sys.stderr.write(counts)
        return 0
    remedy = "import into another folder, or replace them with --force"
    texts = ((arguments.output / name, text) for name, text in files.items())
    write_files(texts, force=arguments.force, remedy=remedy)
    sys.stdout.write(counts)
    return 0


def _named(text: str) -> tuple[str, Path]:
    name, separator, path = text.partition("=")
    return (name, Path(path)) if separator and "/" not in name and not Path(text).exists() else ("", Path(text))


def _read(
    files: list[tuple[str, Path]], chip: str
) -> tuple[list[ConfigLists], list[tuple[str, GoldenValue]], list[str]]:
    """Return the configs, golden values with the names of what they are about, and notes."""
    diagnostics: list[Diagnostic] = []
    configs: list[ConfigLists] = []
    notes: list[str] = []
    golden: list[tuple[str, GoldenValue]] = []
    for name, path in files:
        try:
            found, values, further = read_config_file(path, chip)
        except DiagnosticsError as error:
            diagnostics += error.diagnostics
            continue
        notes += further
        # A file of several models distinguishes its configs by what follows its own name.
        mine = [
            replace(config, name=name + config.name.removeprefix(path.stem) if len(found) > 1 else name)
            if name
            else config
            for config in found
        ]
        configs += mine
        about = [config.name for config in mine] or [name or path.stem]
        golden += [(one, value) for one in about for value in values]
    diagnostics += config_errors(configs)
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    if not configs and not golden:
        msg = f"{'; '.join(notes)}; expected config files with compile flags"
        raise RetargetError(msg)
    return configs, golden, notes


class _List(Struct, frozen=True, kw_only=True):
    """The meaning of a list of tests: the targets that it is about, of which the tests in the lists `above` are left
    out, and the stages at which they fail; without stages they are skipped. Tests that are not compiled are not run."""

    when: str = ""
    stages: tuple[str, ...] = ()
    above: tuple[str, ...] = ()


_LISTS = {
    "skip_compile_tests": _List(),
    "expected_compile_failures": _List(when="compile", stages=("compile", "crash"), above=("skip_compile_tests",)),
    "skip_run_tests": _List(when="run", above=("skip_compile_tests",)),
    "expected_run_failures": _List(
        when="run",
        stages=("load", "run", "compare", "crash"),
        above=("skip_compile_tests", "skip_run_tests", "expected_compile_failures"),
    ),
}
"""The lists in the order of their rules."""


def config_errors(configs: Sequence[ConfigLists]) -> Iterator[Diagnostic]:
    """Yield an error for each unusable name, for two configs of one name, and for a config that names no device."""
    first: dict[str, ConfigLists] = {}
    for config in configs:
        name = as_config_name(config.name)
        other = first.setdefault(name, config)
        remedy = f"NAME={config.file} gives it"
        if error := config_name_error(name):
            yield Diagnostic(file=config.file, key_path="config_name", message=f"{error}: {remedy}")
        if other is not config:
            message = f"found the name {config.name!r}, which {other.file} gives its config too; expected another one: "
            yield Diagnostic(file=config.file, key_path="config_name", message=message + remedy)
        if not _devices(config):
            message = "found no --device=…, expected one: it names the driver to run with"
            yield Diagnostic(file=config.file, key_path="iree_run_module_flags", message=message)


def _devices(config: ConfigLists) -> list[str]:
    return [flag.partition("=")[2] for flag in config.run_flags if flag.startswith("--device=") and flag[9:]]


def config_tables(configs: Sequence[ConfigLists]) -> list[str]:
    """Return the configs as TOML. They have no `config_errors`."""
    compilers, runtimes, targets = [], {}, []
    drivers = {config.run_flags: _devices(config)[0].partition("://")[0] for config in configs}
    names: dict[tuple[str, ...], str] = {}
    for config in configs:
        name, driver, devices = as_config_name(config.name), drivers[config.run_flags], _devices(config)
        if config.run_flags not in names:
            is_only_one = [*drivers.values()].count(driver) == 1 and "_" not in driver
            names[config.run_flags] = driver if is_only_one else name
            runtimes[config.run_flags] = toml_table(
                "runtime_config",
                name=names[config.run_flags],
                driver=driver,
                device=devices[0] if len(devices) == 1 and devices != [driver] else None,
                devices=devices if len(devices) > 1 else None,
                flags=[flag for flag in config.run_flags if not flag.startswith("--device=")] or None,
            )
        compilers.append(toml_table("compiler_config", name=name, compiler="iree", flags=config.compile_flags))
        targets.append(toml_table("target_config", name=name, compiler=name, runtimes=[names[config.run_flags]]))
    return [*compilers, *runtimes.values(), *targets]


def rules_of(configs: Sequence[ConfigLists], notes: list[str]) -> list[str]:
    """Return the rules as TOML: one for those tests of a list that the same configs have in it.

    Tests in two lists at once are in `notes`.
    """
    rules = []
    for key, meaning in _LISTS.items():
        having: dict[str, list[ConfigLists]] = defaultdict(list)
        for config in configs:
            above = {test: other for other in meaning.above for test in config.lists[other]}
            for test in config.lists[key]:
                if test in above:
                    notes.append(f"{config.file.name}: {test} is in {above[test]} too; left out of {key}")
                else:
                    having[test].append(config)
        groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for test, mine in having.items():
            groups[tuple(config.name for config in mine)].append(test)
        for names, tests in groups.items():
            sources = dict.fromkeys(config.source or key for config in having[tests[0]])
            about = " or ".join(map(as_config_name, names)) if len(names) < len(configs) else ""
            about = f"({about})" if meaning.when and about and len(names) > 1 else about
            rules.append(
                toml_table(
                    "expectation",
                    match=tests[0] if len(tests) == 1 else sorted(tests),
                    when=" and ".join(filter(None, (meaning.when, about))) or None,
                    stage=meaning.stages or None,
                    outcome=None if meaning.stages else "skip",
                    reason=f"taken over from {', '.join(sources)} of {', '.join(names)}",
                )
            )
    return rules


def golden_rules(values: Sequence[tuple[str, GoldenValue]], configs: Collection[str]) -> list[str]:
    """Return the rules for values of configs as TOML, those of one bound together.

    A value of a name that no config has is of the module with that name.
    """
    groups: dict[tuple[str, str, str | int, str], list[str]] = defaultdict(list)
    for name, value in values:
        when = as_config_name(name) if as_config_name(name) in configs else ""
        groups[when, value.metric, value.most, value.source].append(value.module or ("*" if when else name))
    return [
        toml_table(
            "golden",
            match=modules[0] if len(modules) == 1 else sorted(modules),
            when=when or None,
            metric=metric,
            max=most,
            reason=f"taken over from {source}",
        )
        for (when, metric, most, source), modules in groups.items()
    ]
