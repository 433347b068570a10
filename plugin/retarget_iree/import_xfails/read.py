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

    compiler_flags              flags of iree-compile; `cpu_compiler_flags` and the like where it has several configs
    device                      the device to run on

What else a file has (golden times, inputs to download) is not taken over, and noted. Comments and trailing commas are
allowed, as in JSON5.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retarget.model.names import is_glob
from retarget.support.errors import Diagnostic, did_you_mean
from retarget.support.files import read_regular

__all__ = ["LISTS", "ConfigLists", "read_config_lists"]

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
_MODEL_KEYS = frozenset(
    {
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
)
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

    `source` is the key that the lists were read from, empty where each has its own. `notes` say what was
    not taken over.
    """

    file: Path
    name: str
    compile_flags: tuple[str, ...]
    run_flags: tuple[str, ...]
    lists: dict[str, tuple[str, ...]]
    source: str = ""
    notes: tuple[str, ...] = ()


def read_config_lists(file: Path) -> tuple[tuple[ConfigLists, ...], tuple[str, ...], tuple[Diagnostic, ...]]:
    """Read one file: its configs, notes where it has none to take over, and its errors, each with its line."""
    text, data, diagnostic = _content(file)
    if diagnostic is not None:
        return (), (), (diagnostic,)
    if is_model_config(data):
        return _model_configs(file, text, data)
    diagnostics = tuple(_diagnostics(file, text, data))
    if diagnostics:
        return (), (), diagnostics
    known = {*_REQUIRED, *LISTS, _OUTCOMES_KEY}
    notes = [f"{file.name}: {key} is not taken over" for key in data if key not in known]
    lists = {key: tuple(data.get(key, ())) for key in LISTS}
    if _OUTCOMES_KEY in data:
        lists, more = _outcome_lists(file, data[_OUTCOMES_KEY])
        notes += more
    flags, more = _with_device(file, data["iree_compile_flags"], data["iree_run_module_flags"])
    config = ConfigLists(
        file=file,
        name=data["config_name"],
        compile_flags=tuple(data["iree_compile_flags"]),
        run_flags=flags,
        lists=lists,
        source=_OUTCOMES_KEY if _OUTCOMES_KEY in data else "",
        notes=(*notes, *more),
    )
    return (config,), (), ()


def _content(file: Path) -> tuple[str, Any, Diagnostic | None]:
    text = ""
    diagnostic: Diagnostic | None = None
    try:
        text = read_regular(file).decode("utf-8-sig")
        if text.strip():
            return text, _parse(text), None
        diagnostic = _diagnostic(file, 0, "", "found nothing in it, expected a config file")
    except OSError as error:
        diagnostic = _diagnostic(file, 0, "", f"cannot be read: {error.strerror or error}; expected a config file")
    except RecursionError:
        diagnostic = _diagnostic(file, 0, "", "found values nested too deeply, expected a config file")
    except ValueError as error:
        diagnostic = _syntax_diagnostic(file, error)
    return text, None, diagnostic


def is_model_config(data: object) -> bool:
    """Return whether this is what sharktank_models or torch_models keep of one model: no lists of tests."""
    if not isinstance(data, dict) or "config_name" in data or data.keys() & {*_FLAGS, *LISTS, _OUTCOMES_KEY}:
        return False
    return bool(data.keys() & _MODEL_KEYS) or any(_is_model_flags(key) for key in data)


def _is_model_flags(key: str) -> bool:
    return key == _MODEL_FLAGS or key.endswith(f"_{_MODEL_FLAGS}")


def _model_configs(
    file: Path, text: str, data: dict[str, Any]
) -> tuple[tuple[ConfigLists, ...], tuple[str, ...], tuple[Diagnostic, ...]]:
    keys = [key for key in data if _is_model_flags(key)]
    diagnostics = [diagnostic for key in keys for diagnostic in _list_diagnostics(file, text, key, data[key])]
    device = data.get("device")
    if device is not None and not (isinstance(device, str) and device.strip()):
        diagnostics.append(
            _diagnostic(file, _line(text, "device"), "device", f"found {_sort(device)}, expected a device")
        )
    if diagnostics:
        return (), (), tuple(diagnostics)
    left = [key for key in data if key not in {*keys, "device"}]
    notes = (f"{file.name}: {', '.join(left)}: not taken over",) if left else ()
    if not keys:
        return (), (f"{file.name}: found no {_MODEL_FLAGS}, so that there is no config to take over",), ()
    configs = []
    for key in keys:
        word = key.removesuffix(_MODEL_FLAGS).rstrip("_")
        named = device or _MODEL_DEVICES.get(word)
        flags, more = _with_device(file, data[key], [f"{_DEVICE_FLAG}{named}"] if named else [])
        configs.append(
            ConfigLists(
                file=file,
                name=f"{file.stem}-{word}" if word else file.stem,
                compile_flags=tuple(data[key]),
                run_flags=flags,
                lists=dict.fromkeys(LISTS, ()),
                notes=(*notes, *more),
            )
        )
        notes = ()
    return tuple(configs), (), ()


def _with_device(file: Path, compile_flags: list[str], run_flags: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the flags to run with; where they name no device, with the one that is compiled for, and a note."""
    if not any(flag.startswith(_DEVICE_FLAG) for flag in run_flags):
        for flag in compile_flags:
            for prefix, devices in _TARGETS.items():
                device = devices.get(flag.removeprefix(prefix)) if flag.startswith(prefix) else None
                if device is not None:
                    note = f"{file.name}: found no {_DEVICE_FLAG}…, took {device}, which runs what {flag} compiles for"
                    return (f"{_DEVICE_FLAG}{device}", *run_flags), [note]
    return tuple(run_flags), []


def _outcome_lists(file: Path, outcomes: dict[str, str]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the lists that outcomes of tests mean, under the names of the models, and notes."""
    lists: dict[str, dict[str, None]] = {key: {} for key in LISTS}
    notes = []
    for test, outcome in outcomes.items():
        if test == "default":
            if outcome != "pass":
                notes.append(
                    f"{file.name}: {_OUTCOMES_KEY}: default {outcome!r} is not taken over; "
                    "let the suite's srcs match only the models that the config names"
                )
        elif _OUTCOMES[outcome]:
            lists[_OUTCOMES[outcome]][_module_of(test)] = None
    return {key: tuple(tests) for key, tests in lists.items()}, notes


def _module_of(test: str) -> str:
    """Return the module that a test is about: `tests/vision_test.py::test_models[mnist/model/mnist-12.onnx]` is about
    `mnist/model/mnist-12`, and `tests/vision_test.py::test_mnist` about `mnist`."""
    found = _TEST_ID.match(test)
    name = (found["parameter"] or found["name"]) if found is not None else test
    return name.removesuffix(".onnx") or test


class _RepeatedKeyError(ValueError):
    def __init__(self, key: str, text: str) -> None:
        super().__init__(key)
        self.key, self.text = key, text


def _parse(text: str) -> Any:
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
    if repeated:
        raise _RepeatedKeyError(repeated[0], text)
    return data


def _syntax_diagnostic(file: Path, error: ValueError) -> Diagnostic:
    if isinstance(error, UnicodeDecodeError):
        return _diagnostic(file, 0, "", f"found the byte 0x{error.object[error.start]:02x}, expected UTF-8 text")
    if isinstance(error, _RepeatedKeyError):
        line = _line(error.text, error.key, 2)
        return _diagnostic(file, line, error.key, "found this key a second time, expected it once")
    found = _PLACE.match(str(error))
    if found is None:
        return _diagnostic(file, 0, "", f"found a JSON syntax error: {error}")
    detail = found[2][:1].lower() + found[2][1:]
    return Diagnostic(
        file=file,
        line=int(found[1]),
        column=int(found[3] or 0),
        key_path="",
        message=f"found a JSON syntax error: {detail}",
    )


def _diagnostics(file: Path, text: str, data: object) -> Iterator[Diagnostic]:
    if not isinstance(data, dict):
        yield _diagnostic(file, 1, "", f"found {_sort(data)}, expected an object with config_name and lists")
        return
    known = (*_REQUIRED, *LISTS, _OUTCOMES_KEY)
    for key in data.keys() - set(known):
        if hint := did_you_mean(key, known):  # others are of no matter here: benchmarks have golden times
            yield _diagnostic(file, _line(text, key), key, f"found an unknown key{hint}")
    for key in _REQUIRED:
        if key not in data:
            yield _diagnostic(file, 1, key, f"found no {key}, expected one")
    name = data.get("config_name")
    if name is not None and not (isinstance(name, str) and re.search(r"[A-Za-z0-9]", name)):
        found = repr(name) if isinstance(name, str) else _sort(name)
        yield _diagnostic(file, _line(text, "config_name"), "config_name", f"found {found}, expected a name")
    for key in (*_FLAGS, *LISTS):
        if key in data:
            yield from _list_diagnostics(file, text, key, data[key])
    if _OUTCOMES_KEY in data:
        yield from _outcome_diagnostics(file, text, data[_OUTCOMES_KEY])


def _outcome_diagnostics(file: Path, text: str, value: object) -> Iterator[Diagnostic]:
    if not isinstance(value, dict):
        found = f"found {_sort(value)}, expected an object with an outcome for each test"
        yield _diagnostic(file, _line(text, _OUTCOMES_KEY), _OUTCOMES_KEY, found)
        return
    for test, outcome in value.items():
        if not (isinstance(outcome, str) and outcome in _OUTCOMES):
            found = repr(outcome) if isinstance(outcome, str) else _sort(outcome)
            message = f"found {found}, expected one of {', '.join(_OUTCOMES)}"
            yield _diagnostic(file, _line(text, test), f"{_OUTCOMES_KEY}.{test}", message)


def _list_diagnostics(file: Path, text: str, key: str, value: object) -> Iterator[Diagnostic]:
    start = _line(text, key)
    if not isinstance(value, list):
        yield _diagnostic(file, start, key, f"found {_sort(value)}, expected a list of strings")
        return
    seen: Counter[str] = Counter()
    for index, entry in enumerate(value):
        path = f"{key}[{index}]"
        if not isinstance(entry, str):
            yield _diagnostic(file, start, path, f"found {_sort(entry)}, expected a string")
            continue
        if not entry.strip():
            yield _diagnostic(file, start, path, "found an empty text, expected a flag or the name of a test")
        elif key in LISTS and is_glob(entry):
            yield _diagnostic(
                file, _line(text, entry) or start, path, f"found {entry!r}, expected a test's name and no glob"
            )
        elif key in LISTS and seen[entry]:
            line = _line(text, entry, seen[entry] + 1, after=start) or start
            again = "a second time" if seen[entry] == 1 else "once more"
            yield _diagnostic(file, line, path, f"found {entry!r} {again}, expected it once")
        seen[entry] += 1


def _diagnostic(file: Path, line: int, key_path: str, message: str) -> Diagnostic:
    return Diagnostic(file=file, line=line, key_path=key_path, message=message)


def _line(text: str, word: str, which: int = 1, *, after: int = 1) -> int:
    """Return the line where a quoted word occurs for the `which`-th time from a line on; 0 if it does not."""
    lines = text.splitlines()[after - 1 :]
    numbers = [number for number, line in enumerate(lines, after) if f'"{word}"' in line or f"'{word}'" in line]
    return numbers[which - 1] if len(numbers) >= which else numbers[-1] if numbers else 0


def _sort(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    kinds = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
    return kinds.get(type(value), type(value).__name__)
