"""Reading the config files of iree-test-suites: how to compile, how to run, and what is known to fail, as JSON.

    config_name                 a name
    iree_compile_flags          flags of iree-compile
    iree_run_module_flags       flags of iree-run-module
    skip_compile_tests          names of tests, as all lists below: not compiled, and so not run
    skip_run_tests              compiled, not run
    expected_compile_failures   expected to fail when compiled
    expected_run_failures       expected to fail when run

The three first must be there. In place of the lists, onnx_models has

    tests_and_expected_outcomes  an outcome for each test: pass, skip, fail-import, fail-compile, fail-run

The files that sharktank_models and torch_models keep for each model (`is_model_config`) have flags and no lists:

    compiler_flags              flags of iree-compile; `cpu_compiler_flags` and the like where it has several configs;
                                `compile_flags` in benchmarks of sharktank_models
    device                      the device to run on
    compile_chip_expecting_to_fail  chips for which the model is expected not to compile

Golden values are in `golden`. What else a file has (inputs to download) is not taken over, and noted. Comments and
trailing commas are allowed, as in JSON5.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retarget.model.names import is_glob
from retarget.support.errors import Diagnostic, DiagnosticsError, did_you_mean
from retarget.support.files import read_regular

from retarget_iree.import_xfails.golden import GOLDEN_KEYS, GoldenValue, golden_errors, golden_values

__all__ = ["LISTS", "ConfigLists", "read_config_lists", "read_golden_values"]

LISTS = ("skip_compile_tests", "skip_run_tests", "expected_compile_failures", "expected_run_failures")
_FLAGS = ("iree_compile_flags", "iree_run_module_flags")
_OUTCOMES_KEY = "tests_and_expected_outcomes"
_OUTCOMES = {
    "pass": "",
    "skip": "skip_compile_tests",
    "fail-import": "expected_compile_failures",
    "fail-compile": "expected_compile_failures",
    "fail-run": "expected_run_failures",
}
"""Which list an outcome of onnx_models means. ONNX is imported when a module is compiled."""

_MODEL_FLAGS = "compiler_flags"
_BENCHMARK_FLAGS = "compile_flags"
_FAILING_CHIPS = "compile_chip_expecting_to_fail"
_MODEL_KEYS = {
    "benchmark_flags",
    "device",
    "expected_outputs",
    "inputs",
    "mlir",
    "modules",
    "outputs",
    "real_weights",
    "run_args",
}
_MODEL_DEVICES = {"cpu": "local-task", "rocm": "hip"}

_DEVICE_FLAG = "--device="
_TARGETS = {
    "--iree-hal-target-device=": {"local": "local-task", "cuda": "cuda", "hip": "hip", "vulkan": "vulkan"},
    "--iree-hal-target-backends=": {
        "llvm-cpu": "local-task",
        "vmvx": "local-task",
        "cuda": "cuda",
        "rocm": "hip",
        "vulkan-spirv": "vulkan",
    },
}
"""The device that runs what these flags compile for, where a file names none."""

_TEST_ID = re.compile(r"(?:.*::)?(?:test_)?(?P<name>[^\[\]]*)(?:\[(?P<parameter>[^\[\]]+)\])?$")
_REQUIRED = ("config_name", *_FLAGS)

_PLACE = re.compile(r"<string>:(\d+) (.*?)(?: at column (\d+))?$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigLists:
    """One config. `lists` has the tests of each of `LISTS`, in order; `name` is as the file has it.

    `source` is the key that the lists were read from, empty where each has its own.
    """

    file: Path
    name: str
    compile_flags: tuple[str, ...]
    run_flags: tuple[str, ...]
    lists: dict[str, tuple[str, ...]]
    source: str = ""


def read_config_lists(file: Path, chip: str = "") -> tuple[tuple[ConfigLists, ...], tuple[str, ...]]:
    """Return a file's configs, and notes on what is not taken over. `chip` is that of the expected failures of a model.

    Raises `DiagnosticsError` with all errors, each with its line.
    """
    text, data = _content(file)
    is_model = is_model_config(data)
    diagnostics = [
        Diagnostic(file=file, line=line, key_path=key_path, message=message)
        for line, key_path, message in (
            *(_model_errors if is_model else _errors)(text, data),
            *_golden_errors(text, data),
        )
    ]
    if diagnostics:
        raise DiagnosticsError(diagnostics)
    return _model_configs(file, data, chip) if is_model else _config(file, data)


def read_golden_values(
    file: Path, names: Sequence[str], chip: str = ""
) -> tuple[tuple[GoldenValue, ...], tuple[str, ...]]:
    """Return the golden values of a file that `read_config_lists` has read, for each of the names, and notes."""
    _, data = _content(file)
    found = [golden_values(file, name, data, chip) for name in names]
    return tuple(value for values, _ in found for value in values), found[0][1]


def _content(file: Path) -> tuple[str, Any]:
    """Return a file's text and what it holds. Raises `DiagnosticsError`."""
    line, column, key = 0, 0, ""
    try:
        text = read_regular(file).decode("utf-8-sig")
        message = "found nothing in it, expected a config file"
        if text.strip():
            data, repeated = _parse(text)
            if not repeated:
                return text, data
            line, key = _line(text, repeated[0], 2), repeated[0]
            message = "found this key a second time, expected it once"
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}; expected a config file"
    except RecursionError:
        message = "found values nested too deeply, expected a config file"
    except UnicodeDecodeError as error:
        message = f"found the byte 0x{error.object[error.start]:02x}, expected UTF-8 text"
    except ValueError as error:
        detail = str(error)
        if found := _PLACE.match(detail):
            line, column, detail = int(found[1]), int(found[3] or 0), found[2][:1].lower() + found[2][1:]
        message = f"found a JSON syntax error: {detail}"
    raise DiagnosticsError([Diagnostic(file=file, line=line, column=column, key_path=key, message=message)])


def _parse(text: str) -> tuple[Any, list[str]]:
    """Return what a text holds, and the keys that an object in it has already."""
    repeated: list[str] = []

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        repeated.extend(key for index, key in enumerate(keys) if key in keys[:index])
        return dict(pairs)

    try:
        data = json.loads(text, object_pairs_hook=table)  # json5 takes a hundred times as long
    except json.JSONDecodeError:
        import json5

        repeated.clear()
        data = json5.loads(text, object_pairs_hook=table)
    return data, repeated


def is_model_config(data: object) -> bool:
    """Return whether this is what sharktank_models or torch_models keep of one model: no lists of tests."""
    if not isinstance(data, dict) or "config_name" in data or data.keys() & {*_FLAGS, *LISTS, _OUTCOMES_KEY}:
        return False
    return bool(data.keys() & (_MODEL_KEYS | GOLDEN_KEYS)) or any(_is_model_flags(key) for key in data)


def _is_model_flags(key: str) -> bool:
    return key in {_MODEL_FLAGS, _BENCHMARK_FLAGS} or key.endswith(f"_{_MODEL_FLAGS}")


# ---------------------------------------------------------------- configs


def _config(file: Path, data: dict[str, Any]) -> tuple[tuple[ConfigLists, ...], tuple[str, ...]]:
    known = {*_REQUIRED, *LISTS, _OUTCOMES_KEY, *GOLDEN_KEYS}
    notes = [f"{file.name}: {key} is not taken over" for key in data if key not in known]
    lists = {key: tuple(data.get(key, ())) for key in LISTS}
    if _OUTCOMES_KEY in data:
        lists = _outcome_lists(file, data[_OUTCOMES_KEY], notes)
    config = ConfigLists(
        file=file,
        name=data["config_name"],
        compile_flags=tuple(data["iree_compile_flags"]),
        run_flags=_with_device(file, data["iree_compile_flags"], data["iree_run_module_flags"], notes),
        lists=lists,
        source=_OUTCOMES_KEY if _OUTCOMES_KEY in data else "",
    )
    return (config,), tuple(notes)


def _model_configs(file: Path, data: dict[str, Any], chip: str) -> tuple[tuple[ConfigLists, ...], tuple[str, ...]]:
    keys = [key for key in data if _is_model_flags(key)]
    if not keys and data.keys() & GOLDEN_KEYS:
        return (), ()
    if not keys:
        return (), (f"{file.name}: found no {_MODEL_FLAGS}, so that there is no config to take over",)
    left = [key for key in data if key not in {*keys, "device", _FAILING_CHIPS, *GOLDEN_KEYS}]
    notes = [f"{file.name}: {', '.join(left)}: not taken over"] if left else []
    chips = data.get(_FAILING_CHIPS, [])
    if chips and chip not in chips:
        notes.append(f"{file.name}: {_FAILING_CHIPS} of {', '.join(chips)} is taken over with --chip")
    failing = {"expected_compile_failures": ("*",)} if chip in chips else {}
    configs = []
    for key in keys:
        word = "" if key == _BENCHMARK_FLAGS else key.removesuffix(_MODEL_FLAGS).rstrip("_")
        named = data.get("device") or _MODEL_DEVICES.get(word)
        configs.append(
            ConfigLists(
                file=file,
                name=f"{file.stem}-{word}" if word else file.stem,
                compile_flags=tuple(data[key]),
                run_flags=_with_device(file, data[key], [f"{_DEVICE_FLAG}{named}"] if named else [], notes),
                lists={**dict.fromkeys(LISTS, ()), **failing},
                source=_FAILING_CHIPS if failing else "",
            )
        )
    return tuple(configs), tuple(notes)


def _with_device(file: Path, compile_flags: list[str], run_flags: list[str], notes: list[str]) -> tuple[str, ...]:
    """Return the flags to run with; where they name no device, with the one that is compiled for, which is noted."""
    if not any(flag.startswith(_DEVICE_FLAG) for flag in run_flags):
        for flag in compile_flags:
            name, equals, target = flag.partition("=")
            if device := _TARGETS.get(name + equals, {}).get(target):
                found = f"{file.name}: found no {_DEVICE_FLAG}…"
                notes.append(f"{found}, took {device}, which runs what {flag} compiles for")
                return (f"{_DEVICE_FLAG}{device}", *run_flags)
    return tuple(run_flags)


def _outcome_lists(file: Path, outcomes: dict[str, str], notes: list[str]) -> dict[str, tuple[str, ...]]:
    """Return the lists that outcomes of tests mean, under the names of the models."""
    lists: dict[str, dict[str, None]] = {key: {} for key in LISTS}
    for test, outcome in outcomes.items():
        if test == "default":
            if outcome != "pass":
                notes.append(
                    f"{file.name}: {_OUTCOMES_KEY}: default {outcome!r} is not taken over; "
                    "let the suite's srcs match only the models that the config names"
                )
        elif _OUTCOMES[outcome]:
            lists[_OUTCOMES[outcome]][_module_of(test)] = None
    return {key: tuple(tests) for key, tests in lists.items()}


def _module_of(test: str) -> str:
    """Return the module that a test is about: `tests/vision_test.py::test_models[mnist/model/mnist-12.onnx]` is about
    `mnist/model/mnist-12`, and `tests/vision_test.py::test_mnist` about `mnist`."""
    found = _TEST_ID.match(test)
    name = (found["parameter"] or found["name"]) if found is not None else test
    return name.removesuffix(".onnx") or test


# ---------------------------------------------------------------- errors, as (line, key path, message)


def _errors(text: str, data: object) -> Iterator[tuple[int, str, str]]:
    if not isinstance(data, dict):
        yield 1, "", f"found {_sort(data)}, expected an object with config_name and lists"
        return
    known = (*_REQUIRED, *LISTS, _OUTCOMES_KEY)
    for key in data.keys() - {*known, *GOLDEN_KEYS}:
        if hint := did_you_mean(key, known):  # others are noted
            yield _line(text, key), key, f"found an unknown key{hint}"
    for key in _REQUIRED:
        if key not in data:
            yield 1, key, f"found no {key}, expected one"
    name = data.get("config_name")
    if name is not None and not (isinstance(name, str) and re.search(r"[A-Za-z0-9]", name)):
        yield _line(text, "config_name"), "config_name", f"found {_shown(name)}, expected a name"
    for key in (*_FLAGS, *LISTS):
        if key in data:
            yield from _list_errors(text, key, data[key])
    outcomes = data.get(_OUTCOMES_KEY, {})
    if not isinstance(outcomes, dict):
        message = f"found {_sort(outcomes)}, expected an object with an outcome for each test"
        yield _line(text, _OUTCOMES_KEY), _OUTCOMES_KEY, message
        return
    for test, outcome in outcomes.items():
        if not (isinstance(outcome, str) and outcome in _OUTCOMES):
            message = f"found {_shown(outcome)}, expected one of {', '.join(_OUTCOMES)}"
            yield _line(text, test), f"{_OUTCOMES_KEY}.{test}", message


def _model_errors(text: str, data: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    for key in filter(lambda key: _is_model_flags(key) or key == _FAILING_CHIPS, data):
        yield from _list_errors(text, key, data[key])
    device = data.get("device")
    if device is not None and not (isinstance(device, str) and device.strip()):
        yield _line(text, "device"), "device", f"found {_sort(device)}, expected a device"


def _golden_errors(text: str, data: object) -> Iterator[tuple[int, str, str]]:
    for path, message in golden_errors(data) if isinstance(data, dict) else ():
        yield _line(text, path.partition(".")[0]), path, message


def _list_errors(text: str, key: str, value: object) -> Iterator[tuple[int, str, str]]:
    start = _line(text, key)
    if not isinstance(value, list):
        yield start, key, f"found {_sort(value)}, expected a list of strings"
        return
    seen: Counter[str] = Counter()
    for index, entry in enumerate(value):
        path = f"{key}[{index}]"
        if not isinstance(entry, str):
            yield start, path, f"found {_sort(entry)}, expected a string"
            continue
        if not entry.strip():
            yield start, path, "found an empty text, expected a flag or the name of a test"
        elif key in LISTS and is_glob(entry):
            yield _line(text, entry) or start, path, f"found {entry!r}, expected a test's name and no glob"
        elif key in LISTS and seen[entry]:
            again = "a second time" if seen[entry] == 1 else "once more"
            line = _line(text, entry, seen[entry] + 1, after=start) or start
            yield line, path, f"found {entry!r} {again}, expected it once"
        seen[entry] += 1


def _line(text: str, word: str, which: int = 1, *, after: int = 1) -> int:
    """Return the line where a quoted word occurs for the `which`-th time from a line on; 0 if it does not."""
    lines = text.splitlines()[after - 1 :]
    numbers = [number for number, line in enumerate(lines, after) if f'"{word}"' in line or f"'{word}'" in line]
    return numbers[which - 1] if len(numbers) >= which else numbers[-1] if numbers else 0


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else _sort(value)


def _sort(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    kinds = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
    return kinds.get(type(value), type(value).__name__)
