// A dynamic number of i4.
// Numbers: as written.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @extend_the_first_four() {
  %x = util.unfoldable_constant dense<[1, -2, 3, -8, 7, 0, -1, 5]> : tensor<8xi4>
          %count = util.unfoldable_constant 4 : index
          %first = tensor.extract_slice %x[0] [%count] [1] : tensor<8xi4> to tensor<?xi4>
          %wide = arith.extsi %first : tensor<?xi4> to tensor<?xi32>
          %out = tensor.cast %wide : tensor<?xi32> to tensor<4xi32>
  check.expect_eq_const(%out, dense<[1, -2, 3, -8]> : tensor<4xi32>) : tensor<4xi32>
  return
}
