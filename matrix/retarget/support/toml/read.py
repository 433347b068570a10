"""Reading TOML files: bytes → UTF-8 → TOML, with the error of a file that is none, and the lines of further errors;
and strings and tables as TOML text."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from pathlib import Path

from retarget.support.errors import Diagnostic
from retarget.support.files import read_regular
from retarget.support.toml.keypaths import Problem, format_key_path

_TOML_LOCATION = re.compile(r" \(at line (\d+), column (\d+)\)$")
_TOML_END = " (at end of document)"


def diagnostics_of(file: Path, text: str, problems: Sequence[Problem]) -> tuple[Diagnostic, ...]:
    """Return the problems as errors with lines."""
    if not problems:
        return ()
    from retarget.support.toml.locate import Locator  # only an invalid file pays for the parser

    locator = Locator(text)
    return tuple(
        Diagnostic(
            file=file,
            line=locator.line(problem.path),
            key_path=format_key_path(locator.shown(problem.path)),
            message=problem.message,
        )
        for problem in dict.fromkeys(problems)  # the configs of a product declaration share their errors
    )


def read_toml(file: Path) -> tuple[str, dict[str, object], tuple[Diagnostic, ...]]:
    """Return a file's text and the data in it, both empty where there is an error."""
    import tomli  # needed for texts that were not read before

    line = 0
    try:
        content = read_regular(file).removeprefix(codecs.BOM_UTF8)  # as editors on Windows write it
        text = content.decode()
        return text, tomli.loads(text), ()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}; expected a TOML file"
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"found the byte 0x{content[error.start]:02x}, expected UTF-8 text"
    except tomli.TOMLDecodeError as error:
        line, message = _syntax_error(text, str(error))
    except ValueError as error:  # a number of more digits than Python reads
        message = f"found a number that is too long: {str(error).partition(';')[0]}"
    except RecursionError:
        message = "found tables nested too deeply, expected TOML"
    return "", {}, (Diagnostic(file=file, line=line, key_path="", message=message),)


def _syntax_error(text: str, message: str) -> tuple[int, str]:
    """Return the line of tomli's error, and its message in this project's words."""
    if found := _TOML_LOCATION.search(message):
        line, column = int(found.group(1)), int(found.group(2))
        message = message[: found.start()]
    else:
        line, column = text.count("\n") + 1, len(text.rpartition("\n")[2]) + 1
        message = message.removesuffix(_TOML_END)
    if message == "Cannot overwrite a value":
        message = "duplicate key"
    return line, f"found a TOML syntax error in column {column}: {message[:1].lower()}{message[1:]}"


_WIDTH = 100
"""Characters up to which a list is on one line."""


def toml_list(words: Sequence[str], *, before: int = 0, is_split: bool = False) -> str:
    """Return a list of strings, one on each line where they are long together or `is_split` asks for it.

    `before` counts the characters before it on its line.
    """
    line = f"[{', '.join(map(toml_string, words))}]"
    if before + len(line) <= _WIDTH and not is_split:
        return line
    return "\n".join(["[", *(f"    {toml_string(word)}," for word in words), "]"])


def toml_string(text: str) -> str:
    """Return a string, in single quotes where that saves escapes."""
    if ('"' in text or "\\" in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # DEL is no escape of JSON's


def toml_table(header: str, **keys: str | Sequence[str] | float | None) -> str:
    """Return a table of an array, with the keys that are not None."""
    lines = [f"{key} = {_value(value, before=len(key) + 3)}" for key, value in keys.items() if value is not None]
    return "\n".join([f"[[{header}]]", *lines])


def _value(value: str | Sequence[str] | float, *, before: int) -> str:
    if isinstance(value, int | float):
        return json.dumps(value)
    return toml_string(value) if isinstance(value, str) else toml_list(value, before=before)
