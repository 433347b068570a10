"""Makes tools' messages readable: repetitions are cut, and every cut is reported.

Colour (ANSI escapes) is kept: lines are matched without it and printed with it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from retarget.support import cut_stacks, is_stack_frame, strip_colour

RUNTIME_ERRORS = (RuntimeError, ValueError, IndexError, KeyError, TypeError, MemoryError, NotImplementedError, OSError)
"""The exceptions of the runtime's binding, by status code."""

MAX_OPERATION_LINES = 12
"""Lines kept of one dumped operation (`note: see current operation`)."""
MAX_LINE = 400
"""Characters kept of a line; generic operation dumps and template names run to tens of thousands."""

_DIAGNOSTIC = re.compile(
    r"^(?P<where>.*?):(?P<position>\d+(?::\d+)?): (?P<severity>error|warning|remark|note): (?P<text>.*)$"
)
_BARE_DIAGNOSTIC = re.compile(
    r"^(?:loc\(.*\): |[\w.-]+: )?(?P<severity>error|warning|remark|note|LLVM ERROR|FATAL ERROR): (?P<text>.*)$"
)
_DUMP = "see current operation"
_GENERIC_CPU = "while creating CPU target"
_SOURCE_POSITION = re.compile(r"(?:^|(?<=\s))(?:[\w./-]*/)?runtime/src/iree/[\w./-]+\.(?:c|cc|h|cpp):\d+: ")
_PLACELESS_FRAME = re.compile(r"^\s*\[ *\d+\] .* -$")
_VM_POSITION = re.compile(r"<vm>:\d+: ")
_TROUBLE = re.compile(
    r"No such file or directory|Permission denied|No space left on device|Cannot allocate memory"
    r"|[Ff]ailed to (?:open|execute|find tool|run system command)\b"
    r"|[Nn]o \w+ linker tool|linker tool found|was not found at |[Cc](?:annot|ould not) open\b"
    r"|returned exit code (?!256\b)"
)
"""The messages of LLVM, lld and IREE for files and tools that they cannot access: also a linker that the shell does not
find, or that is killed. One that refuses what it is to link has the exit status 1, which IREE prints as 256.

Not every `failed to run`: IREE ends the diagnostics of a module that a backend does not compile with `failed to run
translation of source executable to target executable`.
"""
_BINDING_PREFIX = re.compile(
    r"^Error (?:invoking function|creating [\w ]+|querying devices|registering modules|parsing flags): "
)


def _is_diagnostic(line: str) -> bool:
    return _DIAGNOSTIC.match(line) is not None or _BARE_DIAGNOSTIC.match(line) is not None


def clean_diagnostics(text: str) -> str:
    """Return a compiler's output with its noise cut and its colour kept.

    - the lecture of dozens of lines on choosing a CPU becomes its first two lines;
    - the dump after `see current operation` keeps `MAX_OPERATION_LINES` lines and the number of those cut;
    - a stack dump keeps its innermost frames and the number of those cut;
    - a line over `MAX_LINE` characters is shortened and has the number of characters cut; repeated lines become one
    with a count.
    """
    lines = cut_stacks(text).splitlines()
    kept: list[str] = []
    position = 0
    while position < len(lines):
        bare = strip_colour(lines[position])
        if _is_diagnostic(bare) and _GENERIC_CPU in bare:
            kept.extend(lines[position : position + 2])
            position = _advice_end(lines, position + 2)
        elif _is_diagnostic(bare) and _DUMP in bare:
            end = _next_diagnostic(lines, position + 1)
            most = position + MAX_OPERATION_LINES
            is_cut = end > most + 1
            kept += lines[position : most if is_cut else end]
            kept += [f"    … {end - most} more lines of the operation cut"] * is_cut
            position = end
        else:
            kept.append(lines[position])
            position += 1
    return "\n".join(_fold_repeats(_shorten(line) for line in kept)).strip("\n")


def _next_diagnostic(lines: Sequence[str], start: int) -> int:
    end = start
    while end < len(lines):
        bare = strip_colour(lines[end])
        if _is_diagnostic(bare) or is_stack_frame(bare) or bare.startswith("Please report issues"):
            break
        end += 1
    return end


def _advice_end(lines: Sequence[str], start: int) -> int:
    """Return where the advice ends: at the source line that the caret points into, or at the next diagnostic."""
    end = _next_diagnostic(lines, start)
    for index in range(start, end):
        if strip_colour(lines[index]).strip() == "^":
            return max(index - 1, start)
    return end


def _shorten(line: str) -> str:
    excess = len(strip_colour(line)) - MAX_LINE
    if excess <= 0:
        return line
    reset = "\x1b[0m" if "\x1b" in line else ""
    return f"{line[:MAX_LINE]}{reset} … {excess} more characters cut"


def _fold_repeats(lines: Iterator[str]) -> Iterator[str]:
    for line, repeats in itertools.groupby(lines):
        count = len(list(repeats))
        yield from [line] * (1 if line.strip() else count)
        if count > 1 and line.strip():
            yield f"    … the line above {count - 1} more {'time' if count == 2 else 'times'}"


def first_error(diagnostics: str) -> str:
    """Return the first error of a compiler's output as one line, without colour; the empty string if there is none."""
    for line in strip_colour(diagnostics).splitlines():
        located = _DIAGNOSTIC.match(line)
        if located is not None and located["severity"] == "error":
            return _shorten(f"{located['where']}:{located['position']}: error: {located['text']}")
        bare = _BARE_DIAGNOSTIC.match(line)
        if bare is not None and bare["severity"] not in {"warning", "remark", "note"}:
            return _shorten(line)
    return ""


def is_verdict(diagnostics: str) -> bool:
    """Return whether a failed compile's output is about the module, and not about files, tools or the machine."""
    return _TROUBLE.search(strip_colour(diagnostics)) is None


def clean_status(message: str) -> str:
    """Return a runtime status message without the paths of IREE's own C sources and the binding's prefix.

    `Error invoking function: <vm>:0: FAILED_PRECONDITION; s must be zero; ` becomes
    `FAILED_PRECONDITION; s must be zero`. Frames of the module are kept, frames without a location in it are not.
    """
    lines: list[str] = []
    for number, raw in enumerate(message.splitlines()):
        if _PLACELESS_FRAME.match(raw):
            continue
        line = _BINDING_PREFIX.sub("", raw) if number == 0 else raw
        line = _VM_POSITION.sub("", _SOURCE_POSITION.sub("", line)).rstrip().rstrip(";").rstrip()
        if line.strip():
            lines.append(line)
    return "\n".join(_fold_repeats(_shorten(line) for line in lines))
