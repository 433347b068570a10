"""Failures and errors as pytest's own representations, without a traceback."""

from __future__ import annotations

import os

from retarget.engine.trial.failures import StageFailedError, first_line
from retarget.support.errors import RetargetError
from retarget.support.text import strip_colour

from pytest_retarget.internals import (
    ExceptionRepr,
    ReprEntryNative,
    ReprExceptionInfo,
    ReprFileLocation,
    ReprTraceback,
    TerminalWriter,
)

__all__ = ["PlainWhereItMust", "error_repr", "text_repr"]


def error_repr(error: BaseException, path: os.PathLike[str], line: int | None = None) -> ExceptionRepr | None:
    """Represent an error that is worded for the user without a traceback; None for any other.

    What is returned crosses xdist's channel and gives `--tb=line`, the short summary and junit their one line.
    `path` and `line` (0-based) are the location, unless the error knows a better one.
    """
    if not isinstance(error, StageFailedError | RetargetError):
        return None
    text, message = str(error), first_line(error)
    if isinstance(error, StageFailedError) and error.location is not None:
        path, line = error.location[0], error.location[1] - 1
    return text_repr(text, path, line, message)


def text_repr(text: str, path: os.PathLike[str], line: int | None = None, message: str = "") -> ExceptionRepr:
    """Represent a text, and the one line of it that goes elsewhere: its first, if none is given."""
    entry = ReprEntryNative([line + "\n" for line in text.split("\n")])
    return ReprExceptionInfo(
        reprtraceback=ReprTraceback([entry], extraline=None, style="native"),
        reprcrash=ReprFileLocation(os.fspath(path), (line or 0) + 1, message or text.partition("\n")[0]),
    )


class PlainWhereItMust(ReprEntryNative):
    """An entry that shows its colours only where there are colours, and its first line in red."""

    def toterminal(self, tw: TerminalWriter) -> None:
        text = "".join(self.lines)
        if not tw.hasmarkup:
            tw.write(strip_colour(text))
            return
        head, end, rest = text.partition("\n")
        tw.write(head, red=True, bold=True)
        tw.write(end + rest)
