"""`retarget import-xfails`: take over the config files of iree-test-suites, with what they know to fail."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from retarget.cli.support import output_folder
from retarget.declare.files import EXPECTATIONS_FILE, MATRIX_FILE, SUITE_FILE, fitted
from retarget.model.names import name_error
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError
from retarget.support.files import write_files
from retarget.support.toml.write import toml_table

from retarget_iree.import_xfails.convert import Imported, config_errors, import_configs
from retarget_iree.import_xfails.golden import GoldenValue
from retarget_iree.import_xfails.read import ConfigLists, read_config_lists, read_golden_values

__all__ = ["add_arguments", "run"]


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
    """Write or print the files, then the counts. Returns 0; raises `DiagnosticsError` and `RetargetError`."""
    if arguments.suite is not None and (diagnostic := name_error(arguments.suite)):
        raise argparse.ArgumentError(None, f"argument --suite: {diagnostic}")
    imported = _imported([_named(text) for text in arguments.config], arguments.chip)
    files = {MATRIX_FILE: imported.matrix} if imported.entries else {}
    files[EXPECTATIONS_FILE] = imported.expectations
    if arguments.suite is not None:
        files[SUITE_FILE] = _suite(arguments.suite, list(imported.entries))
    if arguments.output is None:
        printed = [f"# {name}\n{text}" for name, text in files.items()]
        sys.stdout.write("\n".join(printed))
        sys.stderr.write(_counts(imported))
        return 0
    texts = {arguments.output / name: text for name, text in files.items()}
    if (matrix := arguments.output / MATRIX_FILE) in texts:
        texts[matrix], notes = fitted(matrix, texts[matrix], beside=texts)
        imported = replace(imported, notes=(*imported.notes, *notes))
    remedy = "import into another folder, or replace them with --force"
    write_files(texts.items(), force=arguments.force, remedy=remedy)
    sys.stdout.write(_counts(imported))
    return 0


def _named(text: str) -> tuple[str, Path]:
    name, separator, path = text.partition("=")
    return (name, Path(path)) if separator and "/" not in name and not Path(text).exists() else ("", Path(text))


def _imported(files: list[tuple[str, Path]], chip: str) -> Imported:
    diagnostics: list[Diagnostic] = []
    configs: list[ConfigLists] = []
    notes: list[str] = []
    golden: list[GoldenValue] = []
    for name, path in files:
        try:
            read, more = read_config_lists(path, chip)
        except DiagnosticsError as error:
            diagnostics += error.diagnostics
            continue
        notes += more
        mine = [replace(config, name=_renamed(config.name, name, path) if name else config.name) for config in read]
        configs += mine
        values, more = read_golden_values(path, [config.name for config in mine] or [name or path.stem], chip)
        golden += values
        notes += more
    diagnostics += config_errors(configs)
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    if not configs and not golden:
        msg = f"{'; '.join(notes)}; expected config files with compile flags"
        raise RetargetError(msg)
    imported = import_configs(configs, golden, [path for _, path in files])
    return replace(imported, notes=(*notes, *imported.notes))


def _renamed(found: str, given: str, path: Path) -> str:
    """Return the name that the user gives, with what distinguishes the configs of one file."""
    return given + found.removeprefix(path.stem) if found.startswith(f"{path.stem}-") else given


def _suite(name: str, targets: list[str]) -> str:
    srcs = ["**/run_module_io_flags.txt"]
    return f"{toml_table('module_test_suite', name=name, srcs=srcs, kind='run-module', targets=targets)}\n"


def _counts(imported: Imported) -> str:
    width = max(map(len, imported.entries), default=0)
    lines = [f"note: {note}" for note in imported.notes]
    lines += [
        f"{name.ljust(width)}  {_number(count, 'entry', 'entries')}, {_number(imported.rules[name], 'rule', 'rules')}"
        for name, count in imported.entries.items()
    ]
    entries = sum(imported.entries.values())
    total = f"{_number(entries, 'entry', 'entries')} became {_number(imported.rules_in_all, 'rule', 'rules')}"
    golden = f"{_number(imported.golden, 'golden value', 'golden values')} became [[golden]] rules"
    totals = [*([total] if imported.entries else []), *([golden] if imported.golden else [])]
    return "\n".join([*lines, *totals, ""])


def _number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
