// i1, a byte each, in any number; and packed, 8 to a byte, with the encoding #iree_encoding.packed_storage.
// Numbers: NumPy's logical operations.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @exclusive_or_of_13() {
  %x = util.unfoldable_constant dense<
      [true, false, false, true, false, false, true, false, false, true, false, false, true]> : tensor<13xi1>
          %y = util.unfoldable_constant dense<
      [true, false, true, false, true, false, true, false, true, false, true, false, true]> : tensor<13xi1>
          %empty = tensor.empty() : tensor<13xi1>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x, %y : tensor<13xi1>, tensor<13xi1>) outs(%empty : tensor<13xi1>) {
          ^bb0(%a: i1, %b: i1, %unused: i1):
            %r = arith.xori %a, %b : i1
            linalg.yield %r : i1
          } -> tensor<13xi1>
  check.expect_eq_const(%out, dense<
      [false, false, true, true, true, false, false, false, true, true, true, false, false]> : tensor<13xi1>) : tensor<13xi1>
  return
}

func.func @extend_13() {
  %x = util.unfoldable_constant dense<
      [true, false, false, true, false, false, true, false, false, true, false, false, true]> : tensor<13xi1>
          %empty = tensor.empty() : tensor<13xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<13xi1>) outs(%empty : tensor<13xi32>) {
          ^bb0(%a: i1, %unused: i32):
            %r = arith.extui %a : i1 to i32
            linalg.yield %r : i32
          } -> tensor<13xi32>
  check.expect_eq_const(%out, dense<[1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]> : tensor<13xi32>) : tensor<13xi32>
  return
}
