"""The language of `-m` over records, for results whose declarations need not be here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from retarget.results.record import TargetRecord
from retarget.targets.selection import Value, compile_selector_of

__all__ = ["record_selector"]


def record_selector(expression: str) -> Callable[[TargetRecord], bool]:
    """Return the function that decides whether a record is selected: what `-m` selects of the targets themselves.

    Raises `retarget.targets.selection.ExpressionError`.
    """
    return compile_selector_of(expression, _Word)


@dataclass(frozen=True, slots=True)
class _Word:
    name: str
    arguments: frozenset[tuple[str, Value]]

    def __call__(self, record: TargetRecord) -> bool:
        is_tag = not self.arguments and self.name in record.tags
        return is_tag or any(name == self.name and self.arguments <= set(fields) for name, fields in record.marks)
