"""`retarget import-xfails`: take over the config files of iree-test-suites, with what they know to fail, as
configs and few rules.

A config becomes a compiler config, a runtime config (which configs that run alike share) and a target config. The lists
distinguish compile from run and nothing more: rules from them name the stages that each may mean. A test is
compiled and run under the name it has in the lists, which is its folder's.

Reading the config files of iree-test-suites: how to compile, how to run, and what is known to fail, as JSON.

    config_name                 a name
    iree_compile_flags          flags of iree-compile
    iree_run_module_flags       flags of iree-run-module
    skip_compile_tests          names of tests, as all lists below: not compiled, and so not run
    skip_run_tests              compiled, not run
    expected_compile_failures   expected to fail when compiled
    expected_run_failures       expected to fail when run

The three first must be there. In place of the lists, onnx_models has

    tests_and_expected_outcomes  an outcome for each test: pass, skip, fail-import, fail-compile, fail-run

What else a file has is not taken over, and noted. Comments and trailing commas are allowed, as in JSON5.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from retarget.cli import output_folder
from retarget.model import as_config_name, config_name_error, is_glob, name_error
from retarget.session import FileName
from retarget.support import Diagnostic, DiagnosticsError, counted, read_regular, toml_table, write_files

from retarget_iree.runtime.devices import HAL_DRIVERS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget import-xfails`."""
    parser.add_argument(
        "config",
        nargs="+",
        metavar="[NAME=]CONFIG.json",
        help="config files of iree-test-suites (onnx_ops, onnx_models, torch_ops); NAME replaces the config_name in it",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=output_folder,
        metavar="DIR",
        help=f"write {FileName.MATRIX} and {FileName.EXPECTATIONS} to this folder (they are printed)",
    )
    parser.add_argument(
        "--suite",
        metavar="NAME",
        help=f"also a {FileName.SUITE} with a suite of this name, for a published tree of tests below the folder",
    )
    parser.add_argument("--force", action="store_true", help="replace files that are there with another content")


def run(arguments: argparse.Namespace) -> int:
    """Write or print the files, then the counts. Returns 0; raises `DiagnosticsError` and `RetargetError`.

    The configs are complete: they see none above them.
    """
    if arguments.suite is not None and (diagnostic := name_error(arguments.suite)):
        raise argparse.ArgumentError(None, f"argument --suite: {diagnostic}")
    named = [_named(text) for text in arguments.config]
    configs, notes = _read(named)
    names = [as_config_name(config.name) for config in configs]
    rules = rules_of(configs, notes)
    tables = {FileName.MATRIX: ["root = true", *config_tables(configs)], FileName.EXPECTATIONS: rules}
    about = f"# Taken over from {', '.join(dict.fromkeys(path.name for _, path in named))}."
    files = {name: "\n\n".join([about, *mine]) + "\n" for name, mine in tables.items()}
    if arguments.suite is not None:
        srcs = ["**/run_module_io_flags.txt"]
        suite = toml_table("module_test_suite", name=arguments.suite, srcs=srcs, kind="run-module", targets=names)
        files[FileName.SUITE] = f"{suite}\n"
    entries = sum(len(tests) for config in configs for tests in config.lists.values())
    found = f"{counted(entries, 'listed test')} of {counted(len(configs), 'config')}"
    counts = "".join([*(f"note: {note}\n" for note in notes), f"{found} became {counted(len(rules), 'rule')}\n"])
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


def _read(files: list[tuple[str, Path]]) -> tuple[list[ConfigLists], list[str]]:
    """Return the configs, and notes."""
    diagnostics: list[Diagnostic] = []
    configs: list[ConfigLists] = []
    notes: list[str] = []
    for name, path in files:
        try:
            config, further = read_config_file(path)
        except DiagnosticsError as error:
            diagnostics += error.diagnostics
            continue
        notes += further
        configs.append(replace(config, name=name or config.name))
    diagnostics += config_errors(configs)
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    return configs, notes


class _List(Struct, frozen=True, kw_only=True):
    """The meaning of a list of tests: the targets that it is about, of which the tests in the lists `above` are left
    out, and the stages at which they fail; without stages they are skipped. Tests that are not compiled are not run."""

    when: str = ""
    stages: tuple[str, ...] = ()
    above: tuple[str, ...] = ()


LISTS = {
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
    for key, meaning in LISTS.items():
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
            about = " or ".join(map(_targets_of, names)) if len(names) < len(configs) else ""
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


def _targets_of(config: str) -> str:
    """Return the expression for the targets of a config. Its name alone may be a backend or driver of others, too."""
    return f"compiler(name='{as_config_name(config)}')"


_OUTCOMES = "tests_and_expected_outcomes"
_LIST_OF_OUTCOME = {
    "pass": "",
    "skip": "skip_compile_tests",
    "fail-import": "expected_compile_failures",
    "fail-compile": "expected_compile_failures",
    "fail-run": "expected_run_failures",
}
"""Which list an outcome of onnx_models means. ONNX is imported when a module is compiled."""

_DEVICE_FLAG = "--device="
_TARGET_FLAGS = ("--iree-hal-target-device", "--iree-hal-target-backends")
_DEVICES = {word: hal.name for hal in HAL_DRIVERS.values() for word in (hal.device, *hal.backends)}
"""The device that runs what is compiled for this, where a file names none."""

_TEST_ID = re.compile(r"(?:.*::)?(?:test_)?(?P<name>[^\[\]]*)(?:\[(?P<parameter>[^\[\]]+)\])?$")

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Config(msgspec.Struct, kw_only=True):
    config_name: _Text
    iree_compile_flags: list[_Text]
    iree_run_module_flags: list[_Text]
    skip_compile_tests: list[_Text] = []
    skip_run_tests: list[_Text] = []
    expected_compile_failures: list[_Text] = []
    expected_run_failures: list[_Text] = []
    tests_and_expected_outcomes: dict[str, str] = {}

    def __post_init__(self) -> None:
        for key in LISTS:
            if globs := [*filter(is_glob, getattr(self, key))]:
                msg = f"{key}: found {globs[0]!r}, expected a test's name and no glob"
                raise ValueError(msg)
        for test, outcome in self.tests_and_expected_outcomes.items():
            if outcome not in _LIST_OF_OUTCOME:
                msg = f"{_OUTCOMES}.{test}: found {outcome!r}, expected one of {', '.join(_LIST_OF_OUTCOME)}"
                raise ValueError(msg)


class ConfigLists(Struct, frozen=True, kw_only=True):
    """One config. `lists` has the tests of each of `LISTS`, in order; `name` is as the file has it.

    `source` is the key that the lists were read from, empty where each has its own.
    """

    file: Path
    name: str
    compile_flags: tuple[str, ...]
    run_flags: tuple[str, ...]
    lists: Mapping[str, Sequence[str]]
    source: str = ""


def read_config_file(file: Path) -> tuple[ConfigLists, Sequence[str]]:
    """Return the config of a file, and notes on what is not taken over. Raises `DiagnosticsError`."""
    notes: list[str] = []
    try:
        config = _config(file, msgspec.convert(_content(file), dict[str, Any]), notes)
    except msgspec.ValidationError as error:
        message, _, key = str(error).partition(" - at `$.")
        raise DiagnosticsError([Diagnostic(file=file, key_path=key.rstrip("`"), message=message)]) from error
    return config, [f"{file.name}: {one}" for one in notes]


def _content(file: Path) -> object:
    try:
        text = read_regular(file).decode("utf-8-sig")
        try:
            data = json.loads(text, object_pairs_hook=_object)  # json5 takes a hundred times as long
        except json.JSONDecodeError:
            import json5

            data = json5.loads(text, object_pairs_hook=_object)
        json.dumps(data, ensure_ascii=False).encode()  # half a surrogate pair is no text that can be written
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}; expected a config file"
    except RecursionError:
        message = "found values nested too deeply, expected a config file"
    except ValueError as error:
        message = f"found no valid JSON: {str(error).replace('<string>:', 'line ')}"
    else:
        return data
    raise DiagnosticsError([Diagnostic(file=file, message=message)])


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises `ValueError` for a key that it has twice: readers keep the last one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        msg = f"found the key {key!r} twice in one object, expected each once"
        raise ValueError(msg)
    return found


def _config(file: Path, data: Mapping[str, Any], notes: list[str]) -> ConfigLists:
    config = msgspec.convert(data, _Config)
    notes += [f"{key} is not taken over" for key in data if key not in config.__struct_fields__]
    lists = {key: dict.fromkeys(getattr(config, key)) for key in LISTS}
    said: dict[str, str] = {}
    for test, outcome in config.tests_and_expected_outcomes.items():
        if (other := said.setdefault(_module_of(test), outcome)) != outcome:
            notes.append(f"{_OUTCOMES}.{test}: found {outcome!r}, and {other!r} of another test of {_module_of(test)}")
        if outcome == "pass":
            continue
        if test != "default":
            lists[_LIST_OF_OUTCOME[outcome]][_module_of(test)] = None
        else:
            remedy = "let the suite's srcs match only the models that the config names"
            notes.append(f"{_OUTCOMES}: default {outcome!r} is not taken over; {remedy}")
    return ConfigLists(
        file=file,
        name=config.config_name,
        compile_flags=tuple(config.iree_compile_flags),
        run_flags=_with_device(config.iree_compile_flags, config.iree_run_module_flags, notes),
        lists={key: (*tests,) for key, tests in lists.items()},
        source=_OUTCOMES if _OUTCOMES in data else "",
    )


def _with_device(compile_flags: Sequence[str], run_flags: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """Return the flags to run with; where they name no device, with the one that is compiled for, which is noted."""
    if not any(flag.startswith(_DEVICE_FLAG) for flag in run_flags):
        for flag in compile_flags:
            name, _, target = flag.partition("=")
            if name in _TARGET_FLAGS and target in _DEVICES:
                device = _DEVICES[target]
                notes.append(f"found no {_DEVICE_FLAG}…, took {device}, which runs what {flag} compiles for")
                return (f"{_DEVICE_FLAG}{device}", *run_flags)
    return tuple(run_flags)


def _module_of(test: str) -> str:
    """Return the module that a test is about: `tests/vision_test.py::test_models[mnist/model/mnist-12.onnx]` is about
    `mnist/model/mnist-12`, and `tests/vision_test.py::test_mnist` about `mnist`."""
    found = _TEST_ID.match(test)
    name = (found["parameter"] or found["name"]) if found is not None else test
    return name.removesuffix(".onnx") or test
