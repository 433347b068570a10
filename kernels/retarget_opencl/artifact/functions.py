"""The functions of an artifact."""

from __future__ import annotations

from retarget.extension import FunctionInfo
from retarget_iree.runtime.signature import declared_types

from retarget_opencl.artifact.program import Export

__all__ = ["function_info"]


def function_info(export: Export) -> FunctionInfo:
    """Return a function as users see it, with the types it was declared with where the artifact has them."""
    arguments, results = declared_types(export.declaration)
    return FunctionInfo(
        name=export.name,
        arguments=len(export.arguments),
        argument_types=arguments if len(arguments) == len(export.arguments) else (),
        result_types=results if len(results) == len(export.results) else (),
    )
