"""The reasons besides its targets why a session fails, for pytest and `retarget run` alike.

rules                  those that have expired or have no effect, as the processes that collected say
names of cases         of rules and of `--retarget-case`, that no case has: cases become known where targets run, so
                       a rule is judged where the cases of all modules that it reaches are known
blocked targets        by one that did not fail itself
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retarget.expect.diagnostics import CaseUse, unknown_case_diagnostics
from retarget.model.names import is_one_of
from retarget.results.record import TargetRecord
from retarget.support.errors import did_you_mean

_SHOWN = 8
"""How many cases are named where none is like what was requested."""


class SessionErrors:
    """The state of one session."""

    def __init__(self, selected: Sequence[str]) -> None:
        """`selected` are the cases of `--retarget-case`."""
        self._selected = selected
        self._names: dict[tuple[str, str], dict[str, None]] = {}
        self._uses: dict[CaseUse, None] = {}
        self._rules: dict[str, None] = {}
        self._blocked: dict[str, str] = {}
        self._failed: set[str] = set()

    def add_rules(self, errors: Iterable[str], uses: Iterable[CaseUse]) -> None:
        """Add errors of rules, and rules that name cases."""
        self._rules.update(dict.fromkeys(errors))
        self._uses.update(dict.fromkeys(uses))

    def add(self, record: TargetRecord, *, has_failed: bool, is_blocked: bool) -> None:
        """Add a target that was reported as failed, blocked or neither."""
        names = [case.name for case in record.cases] or record.unselected_cases
        if names:
            self._names.setdefault((record.suite, record.module), {}).update(dict.fromkeys(names))
        if is_blocked:
            self._blocked[record.nodeid] = record.blocked_by
        elif has_failed:
            self._failed.add(record.nodeid)

    def errors(self) -> list[str]:
        """Return what is wrong, once all targets were entered: a session with one fails."""
        cases = map(str, unknown_case_diagnostics(self._uses, self._names))
        blocked = (
            f"{nodeid}: blocked by {by}, which did not fail when it was tried itself; run both again"
            for nodeid, by in self._blocked.items()
            if by not in self._failed
        )
        return list(dict.fromkeys((*self._rules, *cases, *blocked)))

    def unselected(self) -> list[str]:
        """Return what `--retarget-case` asks for that no case is; nothing where no cases became known."""
        known = list(dict.fromkeys(name for names in self._names.values() for name in names))
        return [
            f"--retarget-case: found {one!r}, which matches no case of the modules that were run{_nearest(one, known)}"
            for one in self._selected
            if known and not any(is_one_of(name, (one,)) for name in known)
        ]


def _nearest(word: str, known: Sequence[str]) -> str:
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return did_you_mean(word, known) or f"; there is {', '.join(known[:_SHOWN])}{more}"
