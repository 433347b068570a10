"""Reading the config files of iree-test-suites: how to compile, how to run, and what is known to fail, as JSON.

    config_name                 a name
    iree_compile_flags          flags of iree-compile
    iree_run_module_flags       flags of iree-run-module
    skip_compile_tests          names of tests, as all lists below: not compiled, and so not run
    skip_run_tests              compiled, not run
    expected_compile_failures   expected to fail when compiled
    expected_run_failures       expected to fail when run

The three first must be there. Comments and trailing commas are allowed, as in JSON5.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import Fault, did_you_mean
from .references import is_glob

__all__ = ["LISTS", "ConfigLists", "read_config_lists"]

LISTS = ("skip_compile_tests", "skip_run_tests", "expected_compile_failures", "expected_run_failures")
_FLAGS = ("iree_compile_flags", "iree_run_module_flags")
_REQUIRED = ("config_name", *_FLAGS)

_PLACE = re.compile(r"<string>:(\d+) (.*?)(?: at column (\d+))?$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigLists:
    """One config file. `lists` has the tests of each of `LISTS`, in order; `name` is as the file has it."""

    file: Path
    name: str
    compile_flags: tuple[str, ...]
    run_flags: tuple[str, ...]
    lists: dict[str, tuple[str, ...]]


def read_config_lists(file: Path) -> tuple[ConfigLists | None, tuple[Fault, ...]]:
    """Read one file. Returns None with the faults if there are any, each with its line."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
        if not text.strip():
            return None, (_fault(file, 0, "", "found nothing in it, expected a config file"),)
        data = _parse(text)
    except OSError as error:
        return None, (_fault(file, 0, "", f"cannot be read: {error.strerror or error}; expected a config file"),)
    except RecursionError:
        return None, (_fault(file, 0, "", "found values nested too deeply, expected a config file"),)
    except ValueError as error:
        return None, (_syntax_fault(file, error),)
    faults = tuple(_faults(file, text, data))
    if faults:
        return None, faults
    return (
        ConfigLists(
            file=file,
            name=data["config_name"],
            compile_flags=tuple(data["iree_compile_flags"]),
            run_flags=tuple(data["iree_run_module_flags"]),
            lists={key: tuple(data.get(key, ())) for key in LISTS},
        ),
        (),
    )


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


def _syntax_fault(file: Path, error: ValueError) -> Fault:
    if isinstance(error, UnicodeDecodeError):
        return _fault(file, 0, "", f"found the byte 0x{error.object[error.start]:02x}, expected UTF-8 text")
    if isinstance(error, _RepeatedKeyError):
        line = _line(error.text, error.key, 2)
        return _fault(file, line, error.key, "found this key a second time, expected it once")
    found = _PLACE.match(str(error))
    if found is None:
        return _fault(file, 0, "", f"found a fault of JSON syntax: {error}")
    told = found[2][:1].lower() + found[2][1:]
    return Fault(
        file=file,
        line=int(found[1]),
        column=int(found[3] or 0),
        key_path="",
        message=f"found a fault of JSON syntax: {told}",
    )


def _faults(file: Path, text: str, data: object) -> Iterator[Fault]:
    if not isinstance(data, dict):
        yield _fault(file, 1, "", f"found {_sort(data)}, expected an object with config_name and lists")
        return
    known = (*_REQUIRED, *LISTS)
    for key in data.keys() - set(known):
        hint = did_you_mean(key, known) or f"; expected some of {', '.join(known)}"
        yield _fault(file, _line(text, key), key, f"found an unknown key{hint}")
    for key in _REQUIRED:
        if key not in data:
            yield _fault(file, 1, key, f"found no {key}, expected one")
    name = data.get("config_name")
    if name is not None and not (isinstance(name, str) and re.search(r"[A-Za-z0-9]", name)):
        found = repr(name) if isinstance(name, str) else _sort(name)
        yield _fault(file, _line(text, "config_name"), "config_name", f"found {found}, expected a name")
    for key in (*_FLAGS, *LISTS):
        if key in data:
            yield from _list_faults(file, text, key, data[key])


def _list_faults(file: Path, text: str, key: str, value: object) -> Iterator[Fault]:
    start = _line(text, key)
    if not isinstance(value, list):
        yield _fault(file, start, key, f"found {_sort(value)}, expected a list of strings")
        return
    seen: Counter[str] = Counter()
    for index, entry in enumerate(value):
        path = f"{key}[{index}]"
        if not isinstance(entry, str):
            yield _fault(file, start, path, f"found {_sort(entry)}, expected a string")
            continue
        if not entry.strip():
            yield _fault(file, start, path, "found an empty text, expected a flag or the name of a test")
        elif key in LISTS and is_glob(entry):
            yield _fault(
                file, _line(text, entry) or start, path, f"found {entry!r}, expected a test's name and no glob"
            )
        elif key in LISTS and seen[entry]:
            line = _line(text, entry, seen[entry] + 1, after=start) or start
            again = "a second time" if seen[entry] == 1 else "once more"
            yield _fault(file, line, path, f"found {entry!r} {again}, expected it once")
        seen[entry] += 1


def _fault(file: Path, line: int, key_path: str, message: str) -> Fault:
    return Fault(file=file, line=line, key_path=key_path, message=message)


def _line(text: str, word: str, which: int = 1, *, after: int = 1) -> int:
    """Return the line where a quoted word stands for the `which`-th time from a line on; 0 if it does not."""
    lines = text.splitlines()[after - 1 :]
    places = [number for number, line in enumerate(lines, after) if f'"{word}"' in line or f"'{word}'" in line]
    return places[which - 1] if len(places) >= which else places[-1] if places else 0


def _sort(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    kinds = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
    return kinds.get(type(value), type(value).__name__)
