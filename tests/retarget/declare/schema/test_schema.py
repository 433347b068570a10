"""The JSON Schemas for editors: keys and types that the loader refuses, they refuse; both take all that is shipped."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tomli
from retarget.declare.load import DeclarationLoader
from retarget.declare.schema.export import json_schema, schema_text
from retarget.extension.registry import load_extensions
from retarget.support.errors import DiagnosticsError
from retarget_cases.files.read import read_cases_file

ROOT = Path(__file__).resolve().parents[4]
SHIPPED = sorted(
    path
    for name in ("matrix.toml", "suite.toml", "expectations.toml", "*.cases.toml")
    for path in (ROOT / "suites").rglob(name)
)
CASES_SUFFIX = ".cases.toml"


@cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    schema = json_schema()
    if kind:
        described = load_extensions().case_loader(kind).file_schema()
        assert described is not None
        schema = schema_text(kind, described)
    jsonschema.Draft202012Validator.check_schema(json.loads(schema))
    return jsonschema.Draft202012Validator(json.loads(schema))


def plain(value: Any) -> Any:
    """Return what an editor checks: dates and infinities as JSON has them."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # as Taplo reads it
    return value.isoformat() if isinstance(value, date) else value


def refusals(text: str, *, kind: str = "") -> Iterator[str]:
    return (error.message for error in validator(kind).iter_errors(plain(tomli.loads(text))))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_schemas_take_what_is_shipped(path: Path) -> None:
    kind = "onnx" if "models" in path.parts else "cases"
    kind = kind if path.name.endswith(CASES_SUFFIX) else ""
    assert list(refusals(path.read_text(encoding="utf-8"), kind=kind)) == []


COMPILER = '[[compiler_config]]\nname = "cc"\ncompiler = "iree"\n'
RUNTIME = '[[runtime_config]]\nname = "rt"\ndriver = "local-sync"\n'
TARGET = '[[target_config]]\nname = "all"\ncompiler = "cc"\nruntimes = ["rt"]\n'
SUITE = '[[module_test_suite]]\nname = "linalg"\nsrcs = ["*.mlir"]\nkind = "check"\ntargets = ["all"]\n'
MODULE = '[[module_test_suite.module]]\nmatch = "foo"\n'
RULE = '[[expectation]]\nmatch = "foo"\n'
FULL = RULE + 'stage = "compile"\nreason = "known"\n'
GOOD = COMPILER + RUNTIME + TARGET + SUITE

SOUND = {
    "all": GOOD,
    "axes in names and tags": COMPILER.replace('"cc"', '"cc-{my_opt}"')
    + 'tags = ["{my_opt}"]\naxes = { my_opt = ["O0", "O1"] }\n'
    + GOOD,
    "a target's name": GOOD.replace('"all"', '"all_of_it"'),
    "darwin": GOOD.replace(RUNTIME, RUNTIME + 'host_os = ["darwin", "linux"]\nhost_arch = "arm64"\n'),
    "a system by an axis": GOOD
    + RUNTIME.replace("rt", "rt-{os}")
    + 'host_os = "{os}"\naxes = { os = ["linux", "macos"] }\n',
    "devices": GOOD.replace(RUNTIME, RUNTIME + 'devices = ["0", "1"]\nconcurrency = 2\n'),
    "an override": GOOD + MODULE + 'exclude_targets = ["all"]\nreason = "no lowering"\n',
    "tags of modules": GOOD + MODULE + 'tags = ["slow"]\n',
    "a rule": GOOD + FULL,
    "a rule with all": GOOD + FULL + 'signature = "cannot fold"\nissue = "#7"\nuntil = 2031-01-31\nwhen = "cc"\n',
    "a skip": GOOD + RULE + 'outcome = "skip"\nreason = "hangs"\n',
    "flaky": GOOD + FULL + 'outcome = "flaky"\nretries = 2\n',
    "intermittent": GOOD + FULL + 'outcome = "intermittent"\nuntil = 2031-01-31\n',
    "timeout with another stage": GOOD + FULL.replace('"compile"', '["timeout", "run"]') + 'signature = "lost"\n',
}

INVALID = {
    "unknown key": GOOD + "[other]\n",
    "unknown key of a config": GOOD.replace(RUNTIME, RUNTIME + "speed = 1\n"),
    "a string for a list": GOOD.replace(COMPILER, COMPILER + 'flags = "-a"\n'),
    "a number for a string": GOOD.replace('"local-sync"', "7"),
    "a timeout of nothing": GOOD.replace(COMPILER, COMPILER + "timeout = 0\n"),
    "no concurrency": GOOD.replace(RUNTIME, RUNTIME + "concurrency = 0\n"),
    "no targets": GOOD.replace('targets = ["all"]\n', "targets = []\n"),
    "no kind": GOOD.replace('kind = "check"\n', ""),
    "an empty list of systems": GOOD.replace(RUNTIME, RUNTIME + "host_os = []\n"),
    "a rule without a reason": GOOD + RULE + 'stage = "compile"\n',
    "an unknown stage": GOOD + FULL.replace('"compile"', '["compil"]'),
    "a stage twice": GOOD + FULL.replace('"compile"', '["run", "run"]'),
    "an unknown outcome": GOOD + FULL + 'outcome = "fail"\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "foo.mlir").touch()
    return tmp_path


def is_accepted(read: Callable[[], object]) -> bool:
    try:
        read()
    except DiagnosticsError:
        return False
    return True


def loads(folder: Path, text: str) -> bool:
    path = folder / "suite.toml"
    path.write_text(text)
    return is_accepted(lambda: DeclarationLoader().load_suite_file(path))


@pytest.mark.parametrize("name", SOUND)
def test_schema_and_loader_take_the_same_declarations(folder: Path, name: str) -> None:
    assert loads(folder, SOUND[name])
    assert list(refusals(SOUND[name])) == []


@pytest.mark.parametrize("name", INVALID)
def test_schema_and_loader_refuse_the_same_declarations(folder: Path, name: str) -> None:
    assert not loads(folder, INVALID[name])
    assert list(refusals(INVALID[name]))


# ------------------------------------------------------------ cases

CASE = "[[case]]\ninputs = [1.5]\nexpected = [1.5]\n"

SOUND_CASES = {
    "literals": '[[case]]\ninputs = [1, [true, 0.5, -inf], [["nan", "0x10"]], [], nan]\nexpected = [1]\n',
    "files": '[[case]]\ninputs = ["x.npy"]\nexpected = [{ bin = "x.bin", shape = [2], dtype = "f32" }]\n',
    "generated": "[[case]]\ninputs = [{ random = 'normal' }, { fill = 1 }, { iota = 0, step = 0.5 }]\nexpected = [1]\n",
    "a reference": '[[case]]\nname = "a b"\nfunction = "f"\nreference = "ref.py:f"\n',
    "another config": '[[case]]\nagree_with = "cc"\n[[case]]\nagree_with = { "vulkan*" = "cc" }\n',
    "what the suite says": "[[case]]\ninputs = [1]\n",
    "tolerances": "tolerance = { atol = 1e-5, f16 = { ulp = 2 }, float32 = { nan = 'never' } }\n" + CASE,
    "parameters": 'parameters = { model = "w.irpa" }\n' + CASE,
}

INVALID_CASES = {
    "no case": "case = []\n",
    "an unknown key": CASE + "input = [1]\n",
    "a name that is no text": CASE + "name = 1\n",
    "an output for a list": CASE.replace("expected = [1.5]", "expected = 1.5"),
    "a scope without a file": "parameters = { model = 1 }\n" + CASE,
}


def reads(folder: Path, text: str) -> bool:
    for name in ("x.npy", "x.bin", "x.txt", "w.irpa", "w.npy", "ref.py"):
        (folder / name).touch()
    path = folder / "foo.cases.toml"
    path.write_text(text)
    return is_accepted(lambda: read_cases_file(path, folder))


@pytest.mark.parametrize("name", SOUND_CASES)
def test_schema_and_loader_take_the_same_cases(folder: Path, name: str) -> None:
    assert reads(folder, SOUND_CASES[name])
    assert list(refusals(SOUND_CASES[name], kind="cases")) == []


@pytest.mark.parametrize("name", INVALID_CASES)
def test_schema_and_loader_refuse_the_same_cases(folder: Path, name: str) -> None:
    assert not reads(folder, INVALID_CASES[name])
    assert list(refusals(INVALID_CASES[name], kind="cases"))
