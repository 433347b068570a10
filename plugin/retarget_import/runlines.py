"""The RUN line of a lit test: one is taken over, a compiler or `iree-opt` piped into FileCheck."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from retarget.support.files import read_regular

from retarget_import.backends import split_backend

__all__ = ["UnsupportedError", "command_of"]

_RUN = re.compile(r"(?m)^\s*(?://|#|;)+\s*RUN:(?P<command>.*)$")
_REPLACED = re.compile(r"%[a-zA-Z{(]|\$[a-zA-Z_{(]")
_OF_FILECHECK = re.compile(
    r"%s$|--?(?:enable-var-scope|dump-input.*|color|v|vv|allow-unused-prefixes.*|check-prefix(?:es)?=CHECK)$"
)
"""The words behind FileCheck that change nothing."""


class UnsupportedError(Exception):
    """Why a file is not taken over."""


def command_of(file: Path) -> tuple[str, tuple[str, ...]]:
    """Return the backend and the flags of a test's RUN line. Raises `UnsupportedError`."""
    tool, flags = _command(file)
    if tool == "iree-opt":
        return "iree-opt", flags
    if not any(flag.startswith("--compile-to=") for flag in flags):
        msg = "its RUN line is iree-compile without --compile-to=PHASE, whose output is no text"
        raise UnsupportedError(msg)
    return split_backend(flags)


def _command(file: Path) -> tuple[str, tuple[str, ...]]:
    tool, *words = _words(file)
    pipe = words.index("|") if "|" in words else 0
    flags, filecheck = words[:pipe], words[pipe + 1 :]
    if tool not in ("iree-opt", "iree-compile") or filecheck[:1] != ["FileCheck"]:
        msg = f"its RUN line is {tool} …; iree-opt or iree-compile piped into FileCheck is taken over"
        raise UnsupportedError(msg)
    flags = flags[:-2] if flags[-2:] == ["-o", "-"] else flags
    others = [word for word in flags if word != "%s" and (word[:1] != "-" or _REPLACED.search(word))]
    if others or flags.count("%s") != 1:
        msg = f"its RUN line has {others[0] if others else 'no %s'}; flags and one %s are taken over"
        raise UnsupportedError(msg)
    for word in filecheck[1:]:
        if not _OF_FILECHECK.match(word):
            msg = f"its FileCheck has {word}; the prefix CHECK and no other option is taken over"
            raise UnsupportedError(msg)
    return tool, tuple(word for word in flags if word != "%s")


def _words(file: Path) -> list[str]:
    """Return the words of a RUN line; redirections and pipes are words of their own."""
    try:
        text = read_regular(file).decode("utf-8")
    except (OSError, ValueError) as error:
        msg = f"it cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}"
        raise UnsupportedError(msg) from error
    lines = (found["command"].strip() for found in _RUN.finditer(text))
    commands = "\n".join(lines).replace("\\\n", " ").splitlines()
    if len(commands) != 1:
        msg = f"it has {len(commands)} RUN lines; one is taken over"
        raise UnsupportedError(msg)
    lexer = shlex.shlex(commands[0], posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return [*lexer] or [""]
    except ValueError as error:
        msg = f"its RUN line cannot be split into words: {error}"
        raise UnsupportedError(msg) from error
