"""Names and globs of cases that no case has: of expectations, and of `--retarget-case`.

Cases become known where targets run, so that only the process that shows the reports knows them; the rules come from
those that collected. A rule is judged where the cases of all modules that it reaches are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from retarget.expect.diagnostics import unknown_case_diagnostics
from retarget.expect.usage import CaseUse
from retarget.model import Origin
from retarget.model.case_names import is_one_of
from retarget.results.record import TargetRecord
from retarget.support.errors import did_you_mean

__all__ = ["CaseNames", "PlainUse", "plain_uses"]

PlainUse = tuple[str, str, tuple[str, ...], frozenset[tuple[str, str]]]
"""A `CaseUse`: its origin's file and key path, its cases, its modules."""

_SHOWN = 8
"""How many cases are named where none is like what was requested."""


class CaseNames:
    """What is known of cases in one session."""

    def __init__(self, selected: Sequence[str]) -> None:
        """`selected` are those of `--retarget-case`."""
        self._selected = selected
        self._names: dict[tuple[str, str], dict[str, None]] = {}
        self._uses: dict[Origin, CaseUse] = {}

    def add_uses(self, uses: Iterable[PlainUse]) -> None:
        """Enter rules that name cases, as `plain_uses` gives them."""
        for file, key_path, cases, modules in uses:
            origin = Origin(file=Path(file), key_path=key_path)
            self._uses[origin] = CaseUse(origin=origin, cases=cases, modules=modules)

    def add(self, record: TargetRecord) -> None:
        """Enter the cases that a target's record names."""
        names = [case.name for case in record.cases] or record.unselected_cases
        if names:
            self._names.setdefault((record.suite, record.module), {}).update(dict.fromkeys(names))

    def diagnostics(self) -> list[str]:
        """The entries of rules that match no case of the modules they reach."""
        return [str(diagnostic) for diagnostic in unknown_case_diagnostics(self._uses.values(), self._names)]

    def unselected(self) -> list[str]:
        """What `--retarget-case` asks for that no case is; nothing where no cases became known."""
        known = list(dict.fromkeys(name for names in self._names.values() for name in names))
        return [
            f"--retarget-case: found {one!r}, which matches no case of the modules that were run{_nearest(one, known)}"
            for one in self._selected
            if known and not any(is_one_of(name, (one,)) for name in known)
        ]


def plain_uses(uses: Iterable[CaseUse]) -> list[PlainUse]:
    """Return rules that name cases as builtin types, which cross xdist's channel."""
    return [(str(use.origin.file), use.origin.key_path, use.cases, use.modules) for use in uses]


def _nearest(word: str, known: Sequence[str]) -> str:
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return did_you_mean(word, known) or f"; there is {', '.join(known[:_SHOWN])}{more}"
