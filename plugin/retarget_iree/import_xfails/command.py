"""`retarget import-xfails`: take over the config files of iree-test-suites, with what they know to fail."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from msgspec.structs import replace
from retarget.cli.support import output_folder
from retarget.declare.files import EXPECTATIONS_FILE, MATRIX_FILE, SUITE_FILE
from retarget.model.names import as_config_name, name_error
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError
from retarget.support.files import write_files
from retarget.support.text import counted
from retarget.support.toml.read import toml_table

from retarget_iree.import_xfails.convert import config_errors, config_tables, golden_rules, rules_of
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
            found = read_config_file(path, chip)
        except DiagnosticsError as error:
            diagnostics += error.diagnostics
            continue
        notes += found.notes
        # A file of several models distinguishes its configs by what follows its own name.
        mine = [
            replace(config, name=name + config.name.removeprefix(path.stem) if len(found.configs) > 1 else name)
            if name
            else config
            for config in found.configs
        ]
        configs += mine
        about = [config.name for config in mine] or [name or path.stem]
        golden += [(one, value) for one in about for value in found.golden]
    diagnostics += config_errors(configs)
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    if not configs and not golden:
        msg = f"{'; '.join(notes)}; expected config files with compile flags"
        raise RetargetError(msg)
    return configs, golden, notes
