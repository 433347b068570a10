"""What distinguishes failures: the stage, and the first diagnostic without what changes from run to run.

A signature is one line. Out of a diagnostic are taken, in this order: colours, the location that it begins with and the
word `error`, the dump of the operation that MLIR appends (the name of an operator that has no type of its own stays),
paths and locations, addresses, names of values and symbols, the sizes of shapes, and separate numbers. It so stays the
same in another folder, on another machine, for another tile size; and two modules that fail for one reason have one
signature.
"""

from __future__ import annotations

import re
from functools import lru_cache

from retarget.support.text import strip_colour

MAX_SIGNATURE = 160
"""Characters of a signature; what is longer is cut at the end of a word."""

_PLACE = re.compile(
    r"^(?:loc\(.*?\): |(?:[^\s:'\"]|<unknown>)[^:'\"]*:\d+(?::\d+)?: "
    r"|[^\s:'\"]+\.(?:txt|toml|mlir|mlirbc|onnx): )+"
)
_SEVERITY = re.compile(r"^(?:[\w.-]+: )?(?:fatal )?error: ", re.IGNORECASE)
_CUT_BEFORE = re.compile(r" ?… \d+ more characters cut$")
_DUMP = re.compile(r": (?=%[^=]* = \S|\"[\w.$-]+\"\()(?P<dump>.*)$")
_OPERATOR = re.compile(r"[<{ ]name = \"(?P<name>[\w.$:-]+)\"|= torch\.operator \"(?P<pretty>[\w.$:-]+)\"")
_END = ":;,. "
_ESCAPED_NUL = re.compile(r"\\00|\0")

_REPLACED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[\w+-]+://[^\s'\",;)]+"), "…"),
    (re.compile(r"(?<=\bdata file )(?:(?! (?:is|has|does|holds|leads|cannot|unpacks)\b)[^:])+"), "…"),
    (re.compile(r"loc\([^()]*(?:\([^()]*\)[^()]*)*\)"), "…"),
    (re.compile(r"(?<![\w/.<>])(?:~|\.{1,2})?(?:/[\w.+@~-]+){2,}/?(?::\d+)*"), "…"),
    (re.compile(r"(?<![\w/.@%!#'\"])[\w+-]+(?:/[\w.+-]+)*\.(?:mlirbc|mlir|onnx|cpp|cc|c|h|cl|py)(?::\d+)+"), "…"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "0x…"),
    (re.compile(r"(?<![\w%])%[\w$.-]+(?:#\d+)?(?::\d+)?"), "%…"),
    (re.compile(r"(?<!\w)@(?:[\w$.-]+|\"[^\"]*\")(?:::@(?:[\w$.-]+|\"[^\"]*\"))*"), "@…"),
    (re.compile(r"(?<=<)(?:(?:\d+|\?|\*|\[\d+\])x)+"), "…x"),
    (re.compile(r"(?<![\w.#%])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)"), "N"),
    (re.compile(r"N(?:(?:, ?| ?x ?)N)+"), "N"),
    (re.compile(r"\s+"), " "),
)

_COMPARISONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"\d+ of \d+ elements? differs?\b|element at index \d+ \(.*\) does not match |(?:all_)?true: |false: "
        ),
        "values differ",
    ),
    (re.compile(r"shape and element type differs?\b"), "shape and element type differ"),
    (re.compile(r"shape differs\b"), "shape differs"),
    (re.compile(r"element type differs\b"), "element type differs"),
    (re.compile(r"\d+ results?(?: to compare)?, expected \d+"), "number of results differs"),
    (re.compile(r"function .* made no check$"), "the function made no check"),
)


@lru_cache(maxsize=4096)
def normalise(diagnostic: str) -> str:
    """Return the signature of a diagnostic. That of a signature is itself."""
    text = _ESCAPED_NUL.sub("", strip_colour(diagnostic)).strip().partition("\n")[0]
    text = _CUT_BEFORE.sub("", text)
    text = _SEVERITY.sub("", _PLACE.sub("", text))
    dump = _DUMP.search(text)
    if dump is not None:
        operator = _OPERATOR.search(dump["dump"])
        name = (operator["name"] or operator["pretty"]) if operator is not None else ""
        text = text[: dump.start()] + (f": {name}" if name else "")
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return _shortened(text.strip().rstrip(_END)).rstrip(_END)


def contains_signature(observed: str, wanted: str) -> bool:
    """Return whether an observed signature is what a rule wants: all of it or a part, maybe not normalised.

    A text of which nothing is left once normalised is no part of any.
    """
    normal = normalise(wanted)
    return wanted in observed or (bool(normal) and normal in observed)


def comparison_signature(summary: str) -> str:
    """Return the word for a comparison that did not hold, if it is one of the core's own."""
    return next((word for pattern, word in _COMPARISONS if pattern.search(summary)), "")


def _shortened(text: str) -> str:
    if len(text) <= MAX_SIGNATURE:
        return text
    return text[: MAX_SIGNATURE + 1].rpartition(" ")[0] or text[:MAX_SIGNATURE]
