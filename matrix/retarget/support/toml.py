"""Reading TOML files: bytes → UTF-8 → TOML, with the error of a file that is none; the lines of keys, and key paths,
with which errors say which value they are about; strings and tables as TOML text."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from retarget.support.errors import Diagnostic
from retarget.support.files import read_regular

if TYPE_CHECKING:
    import tree_sitter

KeyPath = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_KEY_PATH_STEP = re.compile(r'\[(\d+)\]|\.?([A-Za-z0-9_-]+)|\.?"((?:[^"\\]|\\.)*)"')


class Problem(Struct, frozen=True):
    """An error of a file whose line is not known yet."""

    path: KeyPath
    message: str

    @staticmethod
    def locate(file: Path, text: str, problems: Sequence[Problem]) -> tuple[Diagnostic, ...]:
        """Return the problems of a file as errors with lines."""
        if not problems:
            return ()
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


def format_key_path(path: KeyPath) -> str:
    """Return the path as people write it: `target_config[2].runtimes[0]`, `env."A B"`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        key = step if _BARE_KEY.fullmatch(step) else '"' + step.replace("\\", "\\\\").replace('"', '\\"') + '"'
        text += f".{key}" if text else key
    return text


def parse_key_path(text: str) -> KeyPath:
    """Return the path that `format_key_path` wrote as `text`."""
    steps: list[str | int] = []
    for match in _KEY_PATH_STEP.finditer(text):
        index, bare, quoted = match.groups()
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(bare if bare is not None else re.sub(r"\\(.)", r"\1", quoted))
    return tuple(steps)


_TOML_LOCATION = re.compile(r" \(at line (\d+), column (\d+)\)$")
_TOML_END = " (at end of document)"


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
    lines = [f"{key} = {toml_value(value, before=len(key) + 3)}" for key, value in keys.items() if value is not None]
    return "\n".join([f"[[{header}]]", *lines])


def toml_value(value: str | Sequence[str] | Sequence[int] | float, *, before: int = 0) -> str:
    """Return a value; `before` counts the characters before it on its line."""
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, str):
        return toml_string(value)
    words = [one for one in value if isinstance(one, str)]
    return toml_list(words, before=before) if len(words) == len(value) else f"[{', '.join(map(str, value))}]"


_KEY_TYPES = frozenset({"bare_key", "quoted_key", "dotted_key"})
_TRIVIA = frozenset({"comment", "[", "]", "{", "}", "[[", "]]", ",", "="})


class Locator:
    """The lines of all keys and array entries of one well-formed TOML text."""

    def __init__(self, text: str) -> None:
        import tree_sitter  # only an invalid file pays for the parser
        import tree_sitter_toml

        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))
        self._lines: dict[KeyPath, int] = {}
        self._lengths: dict[KeyPath, int] = {}
        for node in parser.parse(text.encode()).root_node.children:
            with suppress(ValueError, StopIteration, RecursionError):  # the parser knows TOML 1.0, tomli more of it
                if node.type == "pair":
                    self._add_pair(node, ())
                elif node.type in {"table", "table_array_element"}:
                    self._add_table(node)

    def line(self, path: KeyPath) -> int:
        """Return the 1-based line of `path`, or of the nearest thing that encloses it; 0 if there is none."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._lines:
                return self._lines[path[:length]]
        return 0

    def shown(self, path: KeyPath) -> KeyPath:
        """Return the path as the text has it: without the index of a single value in place of a list."""
        return path[:-1] if path and isinstance(path[-1], int) and path not in self._lines else path

    def _add_table(self, node: tree_sitter.Node) -> None:
        is_entry = node.type == "table_array_element"
        key = next(child for child in node.children if child.type in _KEY_TYPES)
        keys = _keys(key)
        path: KeyPath = ()
        for position, step in enumerate(keys):
            path = (*path, step)
            self._lines.setdefault(path, _line(node))
            is_last = position == len(keys) - 1
            if is_last and is_entry:
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        self._lines[path] = _line(node)
        for child in node.children:
            if child.type == "pair":
                self._add_pair(child, path)

    def _add_pair(self, node: tree_sitter.Node, prefix: KeyPath) -> None:
        key, value = (child for child in node.children if child.type not in _TRIVIA)
        path = prefix
        for step in _keys(key):
            path = (*path, step)
            self._lines.setdefault(path, _line(key))
        self._add_value(value, path)

    def _add_value(self, node: tree_sitter.Node, path: KeyPath) -> None:
        if node.type == "array":
            for index, entry in enumerate(_content(node)):
                self._lines[(*path, index)] = _line(entry)
                self._add_value(entry, (*path, index))
        elif node.type == "inline_table":
            for pair in _content(node):
                self._add_pair(pair, path)


def _content(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    return (child for child in node.children if child.type not in _TRIVIA)


def _line(node: tree_sitter.Node) -> int:
    return node.start_point[0] + 1


def _keys(node: tree_sitter.Node) -> tuple[str, ...]:
    """Return the steps of a bare, quoted or dotted key; TOML itself says what its text means."""
    import tomli

    text = (node.text or b"").decode()
    table: object = tomli.loads(f"{text} = 0")
    keys: list[str] = []
    while isinstance(table, dict):
        ((key, table),) = table.items()
        keys.append(key)
    return tuple(keys)
