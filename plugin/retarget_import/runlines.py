"""Lit tests → tests that FileCheck judges: those with one RUN line, a compiler or `iree-opt` piped into FileCheck."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from retarget.support.files import read_regular

from retarget_import.evaluate import BuildFile, Call
from retarget_import.plan import split_backend
from retarget_import.read import CheckTest, LeftOut, left_out_of, source_file, tags_of

__all__ = ["lit_tests_of"]

_RUN = re.compile(r"(?m)^\s*(?://|#|;)+\s*RUN:(?P<command>.*)$")
_TOOLS = ("iree-opt", "iree-compile")
_WITHOUT_EFFECT = re.compile(r"--?(?:enable-var-scope|dump-input.*|color|v|vv|allow-unused-prefixes.*)$")
_PREFIX = re.compile(r"--?check-prefix(?:es)?=(?P<names>.*)$")


class _UnsupportedError(Exception):
    """Why a RUN line is not taken over."""


def lit_tests_of(build: BuildFile, calls: Sequence[Call]) -> tuple[tuple[CheckTest, ...], tuple[LeftOut, ...]]:
    """Return the tests of calls of lit rules without `argument_errors`, each module once, and what is left out."""
    tests: dict[str, CheckTest] = {}
    left_out: list[LeftOut] = []
    for call in calls:
        arguments = call.arguments
        reasons: dict[str, list[str]] = {}
        for label in [arguments["test_file"]] if call.rule == "iree_lit_test" else arguments["srcs"]:
            file = source_file(build, label)
            try:
                backend, flags = _command_of(build.path.parent, file)
            except _UnsupportedError as error:
                reasons.setdefault(str(error), []).append(label)
                continue
            name = str(arguments.get("name", ""))
            tests[file] = CheckTest(
                module=file, backend=backend, driver="", flags=flags, tags=tags_of(call), calls=((name, call.line),)
            )
        left_out += left_out_of(build, call, reasons)
    return tuple(tests.values()), tuple(left_out)


def _command_of(folder: Path, file: str) -> tuple[str, tuple[str, ...]]:
    """Return the backend and the flags of a test's RUN line. Raises `_UnsupportedError`."""
    if not file:
        msg = "it is a file of another package"
        raise _UnsupportedError(msg)
    try:
        text = read_regular(folder / file).decode("utf-8")
    except (OSError, ValueError) as error:
        msg = f"it cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}"
        raise _UnsupportedError(msg) from error
    lines = (found["command"].strip() for found in _RUN.finditer(text))
    commands = "\n".join(lines).replace("\\\n", " ").splitlines()
    if len(commands) != 1:
        msg = f"it has {len(commands)} RUN lines; one is taken over"
        raise _UnsupportedError(msg)
    stages = _stages(commands[0])
    tool = stages[0][0] if stages[0] else ""
    if len(stages) != 2 or tool not in _TOOLS or stages[1][:1] != ["FileCheck"]:
        shown = " | ".join(stage[0] if stage else "" for stage in stages)
        msg = f"its RUN line is {shown}; {' or '.join(_TOOLS)} piped into FileCheck is taken over"
        raise _UnsupportedError(msg)
    _check_filecheck(stages[1][1:])
    flags = _flags(stages[0][1:])
    if tool == "iree-opt":
        return "iree-opt", flags
    if not any(flag.startswith("--compile-to=") for flag in flags):
        msg = "its RUN line is iree-compile without --compile-to=PHASE, whose output is no text"
        raise _UnsupportedError(msg)
    return split_backend(flags)


def _stages(command: str) -> list[list[str]]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    stages: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word == "|":
                stages.append([])
            elif set(word) <= set("();<>|&"):
                msg = f"its RUN line has {word}; one pipe is taken over"
                raise _UnsupportedError(msg)
            else:
                stages[-1].append(word)
    except ValueError as error:
        msg = f"its RUN line cannot be split into words: {error}"
        raise _UnsupportedError(msg) from error
    return stages


def _flags(words: Sequence[str]) -> tuple[str, ...]:
    left = list(words)
    if left[-2:] == ["-o", "-"]:
        left = left[:-2]
    sources = [word for word in left if word == "%s"]
    other = next((word for word in left if not word.startswith("-") and word != "%s"), "")
    replaced = next(
        (word for word in left if word.startswith("-") and re.search(r"%[a-zA-Z{(]|\$[a-zA-Z_{(]", word)), ""
    )
    if len(sources) != 1 or other or replaced:
        msg = f"its RUN line has {other or replaced or 'no %s'}; flags and one %s are taken over"
        raise _UnsupportedError(msg)
    return tuple(word for word in left if word != "%s")


def _check_filecheck(words: Sequence[str]) -> None:
    for word in words:
        prefix = _PREFIX.match(word)
        if word != "%s" and not _WITHOUT_EFFECT.match(word) and (prefix is None or prefix["names"] != "CHECK"):
            msg = f"its FileCheck has {word}; the prefix CHECK and no other option is taken over"
            raise _UnsupportedError(msg)
