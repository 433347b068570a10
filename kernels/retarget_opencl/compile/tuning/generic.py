"""Products of matrices that have no tiles as `linalg.generic`, into which IREE fuses more.

IREE (3.13) takes transpositions into the loops of a generic op and what follows into its kernel, not into those of
`linalg.matmul`. That is what `--iree-opt-generalize-matmul` is for; but it also takes slices into a product that was
padded for its tiles, and so undoes the padding. Here only those products are changed that get no tiles in any case.
"""

from __future__ import annotations

from retarget_opencl.compile.tuning.contractions import LOOPS, has_tiles, products_in, sizes_of
from retarget_opencl.translation import Ir

__all__ = ["generalize_products"]


def generalize_products(module: Ir, *, units: bool) -> bool:
    """Make products of dynamic sizes, and those with one row or column, generic ops; say whether there are any.

    Those with a `compilation_info` keep it, and stay. Needs MLIR's context. `units`: the device has matrix units.
    """
    found = False
    for op in list(products_in(module)):
        if op.name == "linalg.generic" or "compilation_info" in op.attributes:
            continue
        sizes = sizes_of(op)
        if sizes and (1 not in sizes[-LOOPS:] or has_tiles(op, sizes, units=units)):
            continue
        _generalize(op)
        found = True
    return found


def _generalize(op: Ir) -> None:
    from iree.compiler import ir
    from iree.compiler.dialects import linalg

    maps = [item.value for item in linalg.get_indexing_maps(op)]
    reductions = set(linalg.infer_contraction_dimensions(op).k)
    kinds = ["reduction" if loop in reductions else "parallel" for loop in range(maps[0].n_dims)]
    attributes = {
        "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(one) for one in maps]),
        "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]),
        "operandSegmentSizes": op.attributes["operandSegmentSizes"],
    }
    with ir.InsertionPoint(op), op.location:
        results = [result.type for result in op.results]
        generic = ir.Operation.create("linalg.generic", results, list(op.operands), attributes, regions=1)
    op.regions[0].blocks[0].append_to(generic.regions[0])
    op.results[0].replace_all_uses_with(generic.results[0])
    op.erase()
