"""The language of `-m` over records, for results whose declarations need not be here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from retarget.results.record import TargetRecord
from retarget.targets.selection import Value, compile_selector_of
from retarget.targets.tags import MARK_FIELDS

__all__ = ["record_selector"]

_FIELDS = dict(MARK_FIELDS)
_IN_RECORDS = frozenset({"suite", "compiler", "runtime"})
_OF_RUN_TARGETS = frozenset({"runtime", "driver", "platform", "device"})


def record_selector(expression: str) -> Callable[[TargetRecord], bool]:
    """Return the function that decides whether a record is selected: what `-m` selects of the targets themselves.

    A record has the names of suite and configs. The arguments of other keyword marks, such as `platform(os='linux')`,
    are looked for among its tags. Raises `retarget.targets.selection.ExpressionError`.
    """
    return compile_selector_of(expression, _Word)


@dataclass(frozen=True, slots=True)
class _Word:
    name: str
    arguments: frozenset[tuple[str, Value]]

    def __call__(self, record: TargetRecord) -> bool:
        if not self.arguments and self.name in record.tags:
            return True
        if self.name not in _FIELDS or (self.name in _OF_RUN_TARGETS and not record.runtime):
            return False
        if not self.arguments:
            return self.name in _IN_RECORDS
        return all(field in _FIELDS[self.name] and self._has(record, value) for field, value in self.arguments)

    def _has(self, record: TargetRecord, value: Value) -> bool:
        return getattr(record, self.name) == value if self.name in _IN_RECORDS else value in record.tags
