"""The reason that a generated rule gives: what was seen and nothing that nobody knows."""

from __future__ import annotations

from collections.abc import Sequence

from retarget.expect.verdict import observed_text
from retarget.model import CompileTarget, Target
from retarget.model.outcomes import Observation
from retarget.model.signatures import CRASH, TIMEOUT

__all__ = ["reason"]

_AT_RUN = {
    "load": "the module or its data cannot be loaded",
    "run": "the call fails",
    "compare": "the results are not those expected",
    CRASH: "the run crashes",
    TIMEOUT: "the run takes longer than it may",
}
_AT_COMPILE = {"compile": "does not compile it", CRASH: "crashes on it", TIMEOUT: "takes longer than it may"}
_SHOWN = 3
"""How many ways in which cases fail a reason names."""

_PLURAL = {"does": "do", "crashes": "crash", "takes": "take", "fails": "fail"}


def reason(seen: Observation, targets: Sequence[Target]) -> str:
    """Return one line: `iree does not compile it: failed to legalize operation 'foo.bar'`."""
    if seen.also:
        told = "; ".join(observed_text(way) for way in seen.ways[:_SHOWN])
        return f"its cases fail in different ways: {told}" + ("; …" if len(seen.ways) > _SHOWN else "")
    compilers = sorted({target.compiler.compiler for target in targets if isinstance(target, CompileTarget)})
    if compilers:
        who = " and ".join([", ".join(compilers[:-1]), compilers[-1]] if len(compilers) > 1 else compilers)
        what = _AT_COMPILE.get(seen.stage, f"fails at {seen.stage}")
        told = f"{who} {_plural(what) if len(compilers) > 1 else what}"
    else:
        told = _AT_RUN.get(seen.stage, f"it fails at {seen.stage}")
    return f"{told}: {seen.signature}" if seen.signature else told


def _plural(words: str) -> str:
    verb, _, rest = words.partition(" ")
    return f"{_PLURAL[verb]} {rest}"
