"""Matches a text with the package `filecheck`. Imported in worker processes only.

The messages are the package's own, except that line numbers of the input, which it gets wrong, are counted here, and
that the line most like the directive is shown where it offers no near match.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib.metadata
import io
import re
from collections.abc import Sequence
from typing import Any

from filecheck.error import CheckError
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts
from msgspec import Struct

from retarget_cases.filecheck.directives import COMMENTS

_NO_DIRECTIVES = 2
"""The matcher's return value when no directive has one of the prefixes."""
_FIRST_LINE = re.compile(r":(?P<line>\d+)(?::(?P<column>-?\d+))?:? (?:error: )?(?P<message>.*)")
_LONGEST_LINE = 200
"""Characters shown of a line of the input: a line of IR may have thousands."""
_BEFORE = 60
"""Characters of a long line that are shown before the position in question."""
_LONGEST_PRINTED = 600
"""Characters shown of a line of what the package prints: it repeats directives as they are."""
_LONGEST_REPORT = 60
"""Lines shown of what the package prints: it may print all of the input."""
_LOOKED_THROUGH = 2000
"""Lines of the input that are compared with a directive that did not match."""
_ALIKE = 0.5


class FailedCheck(Struct, frozen=True, kw_only=True):
    """Why a text does not match. `line` is the directive's, 1-based, 0 if there is none; `message` is one line.

    `nothing` means that there was no directive to check.
    """

    line: int = 0
    message: str = ""
    report: str = ""
    nothing: bool = False


def match_text(source: str, source_name: str, text: str, text_name: str, prefixes: Sequence[str]) -> FailedCheck | None:
    """Check `text` with the directives of `source`. Return None if all match, else the failure."""
    options = Options(
        match_filename=source_name,
        input_file=text_name,
        check_prefixes=list(prefixes),
        comment_prefixes=list(COMMENTS),
        allow_empty=True,
    )
    printed = io.StringIO()
    try:
        # On one path the package prints to standard output (1.0.6).
        with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(io.StringIO()):
            parser = Parser(options, io.StringIO(source), *pattern_for_opts(options))
            status = _Matcher(options, _Input(text_name, text.replace("\r\n", "\n")), parser).run()
    except Exception as error:  # directives that the package does not support raise errors of any type
        version = importlib.metadata.version("filecheck")
        message = f"filecheck {version} cannot do what a directive asks for: {error or type(error).__name__}"
        return FailedCheck(message=message, report=printed.getvalue())
    if status == 0:
        return None
    if status == _NO_DIRECTIVES:
        return FailedCheck(nothing=True)
    return _failed_check(printed.getvalue(), source, source_name)


def _failed_check(printed: str, source: str, source_name: str) -> FailedCheck:
    lines = printed.rstrip("\n").split("\n")
    found = _FIRST_LINE.fullmatch(lines[0].removeprefix(source_name))
    if found is None:
        return FailedCheck(message=_cut(lines[0]), report="\n".join(map(_cut, lines)))
    number = int(found["line"])
    message = found["message"]
    if found["column"] is None:  # an error of the directive itself is shown with its line already
        lines[1:1] = [source.split("\n")[number - 1].rstrip("\r")]
    if len(lines) > _LONGEST_REPORT:
        lines[_LONGEST_REPORT:] = [f"… {len(lines) - _LONGEST_REPORT} more lines"]
    return FailedCheck(line=number, message=_cut(message), report="\n".join(map(_cut, lines)))


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_PRINTED else f"{line[:_LONGEST_PRINTED]}…"


class _Input(FInput):  # type: ignore[misc]  # the package is not followed: it need not be installed
    """An input that counts its lines from 1."""

    def print_line(self, pos_override: int | None = None, end_pos: int | None = None) -> str:
        """Return the location, the line and a caret below it."""
        position = self.range.start if pos_override is None else pos_override
        position = max(0, min(position, len(self.content)))
        if self.content.startswith("\n", position):
            position += 1
        start = self.content.rfind("\n", 0, position) + 1
        end = self.content.find("\n", position)
        line = self.content[start : len(self.content) if end == -1 else end]
        number, column = self.content.count("\n", 0, start) + 1, position - start
        width = 1 if end_pos is None else max(1, min(end_pos - start, len(line)) - column)
        location = f"{self.fname}:{number}:{column + 1}"
        if len(line) > _LONGEST_LINE:
            cut = max(0, column - _BEFORE)
            line = ("…" if cut else "") + line[cut : cut + _LONGEST_LINE] + "…"
            column = column - cut + (1 if cut else 0)
            width = max(1, min(width, len(line) - column))
        return f"{location}\n{line}\n{' ' * column}{'^' * width}"


class _Matcher(Matcher):  # type: ignore[misc]  # as above
    """A matcher that always looks for what was meant."""

    def find_prefix_match_for(self, op: Any) -> re.Match[str] | None:
        """Return the position of what the directive may have meant."""
        found: re.Match[str] | None = None
        with contextlib.suppress(CheckError):  # it uses a variable that has no value
            found = super().find_prefix_match_for(op)
        if found is not None:
            return found
        wanted = str(op.arg)
        start, end = self.file.range.start, min(self.file.range.end, len(self.file.content))
        best, most = "", _ALIKE
        for line in self.file.content[start:end].split("\n")[:_LOOKED_THROUGH]:
            stripped = line.strip()
            matcher = difflib.SequenceMatcher(None, stripped, wanted, autojunk=False)
            if len(stripped) <= 4 * len(wanted) and matcher.quick_ratio() > most and (ratio := matcher.ratio()) > most:
                best, most = stripped, ratio
        return re.compile(re.escape(best)).search(self.file.content, start) if best else None
