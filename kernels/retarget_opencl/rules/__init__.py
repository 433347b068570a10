"""The rule table: which OpenCL C text each SPIR-V op becomes."""

from __future__ import annotations

from . import arithmetic, atomics, composites, conversions, extended, logic, matrices, memory, subgroups
from .table import Rule, RuleTable

__all__ = ["RULES", "Rule", "RuleTable"]

RULES = RuleTable(
    (
        *memory.RULES,
        *arithmetic.RULES,
        *logic.RULES,
        *conversions.RULES,
        *composites.RULES,
        *extended.RULES,
        *atomics.RULES,
        *subgroups.RULES,
        *matrices.RULES,
    )
)
