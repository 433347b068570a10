"""The rule tables: which OpenCL C text each SPIR-V op becomes."""

from __future__ import annotations

from retarget_opencl.clc.ops import arithmetic, composites, memory, subgroups
from retarget_opencl.clc.ops.table import RuleTable

RULES = RuleTable((*memory.RULES, *arithmetic.RULES, *composites.RULES, *subgroups.RULES))
