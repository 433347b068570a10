"""The rule tables: which OpenCL C text each SPIR-V op becomes."""

from __future__ import annotations

from retarget_opencl.clc.ops import (
    arithmetic,
    atomics,
    composites,
    conversions,
    dots,
    extended,
    logic,
    matrices,
    memory,
    subgroups,
)
from retarget_opencl.clc.ops.table import RuleTable

__all__ = ["RULES"]

RULES = RuleTable(
    (
        *memory.RULES,
        *arithmetic.RULES,
        *dots.RULES,
        *logic.RULES,
        *conversions.RULES,
        *composites.RULES,
        *extended.RULES,
        *atomics.RULES,
        *subgroups.RULES,
        *matrices.RULES,
    )
)
