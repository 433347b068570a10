"""Reading TOML files: bytes → UTF-8 → TOML, with the fault of a file that is none, and the lines of further faults."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path

import tomli

from retarget.support.errors import Fault
from retarget.support.files import read_regular
from retarget.support.toml.keypaths import Problem, format_key_path

__all__ = ["faults_of", "read_toml"]

_TOML_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_TOML_END = " (at end of document)"


def faults_of(file: Path, text: str, problems: Sequence[Problem]) -> tuple[Fault, ...]:
    """Return the problems as faults with lines."""
    if not problems:
        return ()
    from retarget.support.toml.locate import Locator  # only a faulty file pays for the parser

    locator = Locator(text)
    return tuple(
        Fault(
            file=file,
            line=locator.line(problem.path),
            key_path=format_key_path(locator.shown(problem.path)),
            message=problem.message,
        )
        for problem in dict.fromkeys(problems)  # the configs of a product declaration share their faults
    )


def read_toml(file: Path) -> tuple[str, dict[str, object], tuple[Fault, ...]]:
    """Return a file's text and the data in it, both empty where there is a fault."""
    try:
        content = read_regular(file).removeprefix(codecs.BOM_UTF8)  # as editors on Windows write it
    except OSError as error:
        reason = error.strerror or str(error)
        return (
            "",
            {},
            (Fault(file=file, line=0, key_path="", message=f"cannot be read: {reason}; expected a TOML file"),),
        )
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"found the byte 0x{content[error.start]:02x}, expected UTF-8 text"
        return "", {}, (Fault(file=file, line=line, key_path="", message=message),)
    try:
        return text, tomli.loads(text), ()
    except tomli.TOMLDecodeError as error:
        return "", {}, (_syntax_fault(file, text, str(error)),)
    except ValueError as error:  # a number of more digits than Python reads
        message = f"found a number that is too long: {str(error).partition(';')[0]}"
        return "", {}, (Fault(file=file, line=0, key_path="", message=message),)
    except RecursionError:
        message = "found tables nested too deeply, expected TOML"
        return "", {}, (Fault(file=file, line=0, key_path="", message=message),)


def _syntax_fault(file: Path, text: str, message: str) -> Fault:
    place = _TOML_PLACE.search(message)
    if place:
        line, column = int(place.group(1)), int(place.group(2))
        message = message[: place.start()]
    else:
        line, column = text.count("\n") + 1, len(text.rpartition("\n")[2]) + 1
        message = message.removesuffix(_TOML_END)
    message = f"found a fault of TOML syntax in column {column}: {message[:1].lower()}{message[1:]}"
    return Fault(file=file, line=line, key_path="", message=message)
