"""What is to hold for the values that a rewritten check module returns, as text in its functions' reflection."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import astuple

REFLECTION = "retarget.checks"
"""The reflection attribute of a function that has the text."""


class ReturnedCheck(Struct, frozen=True, kw_only=True):
    """One check, in the words of `retarget.extension.Check`, whose values are among a function's results."""

    kind: str
    atol: float = 0.0
    rtol: float = 0.0

    @property
    def values(self) -> int:
        """How many results it has: what is checked, and with `eq` and `almost_eq` what is expected."""
        return 2 if self.kind in {"eq", "almost_eq"} else 1


def checks_text(checks: Sequence[ReturnedCheck]) -> str:
    """Return the text of checks whose values are the last results of a function, in order."""
    return json.dumps([astuple(check) for check in checks])


def checks_in(reflection: Mapping[str, str]) -> tuple[ReturnedCheck, ...]:
    """Return the checks that a function returns the values of; none for a function that was not rewritten."""
    written = json.loads(reflection.get(REFLECTION, "[]"))
    return tuple(ReturnedCheck(kind=kind, atol=atol, rtol=rtol) for kind, atol, rtol in written)
