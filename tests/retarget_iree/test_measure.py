"""The size of a module, from its text at the phase `flow`."""

from __future__ import annotations

import pytest
from retarget.extension import ProgramStatistics
from retarget.support import RetargetError
from retarget_iree.modules.measure import flow_size, stream_statistics

FLOW = """\
module attributes {stream.affinity.default = #hal.device.affinity<@__device_0>} {
  flow.executable private @d0 {
    builtin.module {
      func.func @d0(%arg0: !iree_tensor_ext.dispatch.tensor<readonly:tensor<4x?xi8>>) {
        %0 = iree_tensor_ext.dispatch.tensor.load %arg0 : !x<readonly:tensor<4x?xi8>> -> tensor<4x?xi8>
        %1 = tensor.empty() : tensor<2x3xf32>
        %2 = linalg.generic {indexing_maps = []} ins(%0 : tensor<4x?xi8>) outs(%1 : tensor<2x3xf32>) {
        ^bb0(%in: i8, %out: f32):
          %4 = arith.sitofp %in : i8 to f32
          linalg.yield %4 : f32
        } -> tensor<2x3xf32>
        return
      }
    }
  }
  util.func private @f() {
    %c = arith.constant dense<1> : tensor<1xi8>
    %0 = flow.dispatch @d0::@d0(%c) : (tensor<1xi8>) -> tensor<2x3xf32>
    %1:2 = scf.while (%a = %0) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
      %2 = flow.dispatch @d0::@d0(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      scf.yield %2 : tensor<2x3xf32>
    }
    check.expect_eq(%1, %1) : tensor<2x3xf32>
    util.return
  }
}
"""


def test_dispatch_sites_distinct_ops_element_types_and_the_largest_tensor_are_counted() -> None:
    size = flow_size(FLOW)
    assert size.dispatches == 2
    assert size.ops == ("arith.sitofp", "scf.while")
    assert size.types == ("f32", "i8")
    assert size.elements == 6
    assert size.order == (2, 2, 2, 6)


def test_a_text_without_dispatches_is_the_smallest() -> None:
    assert flow_size("util.func @f() {\n  util.return\n}\n").order == (0, 0, 0, 0)


def test_a_program_has_the_dispatches_and_the_memory_of_its_statistics() -> None:
    lines = ['"dispatch-count": 3', '"transient-memory-size": 64']
    assert stream_statistics("\n".join(["m.mlir:1:1: warning: w", *lines])) == ProgramStatistics(
        dispatches=3, transient=64
    )
    for text in ("", *lines):
        with pytest.raises(
            RetargetError, match=r"^found no statistics of the phase stream in what the compiler printed$"
        ):
            stream_statistics(text)
