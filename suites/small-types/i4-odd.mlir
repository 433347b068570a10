// An odd number of i4: the last byte is half used.
// Numbers: as written.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @extend_five() {
  %x = util.unfoldable_constant dense<[1, -2, 3, -8, 7]> : tensor<5xi4>
          %empty = tensor.empty() : tensor<5xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<5xi4>) outs(%empty : tensor<5xi32>) {
          ^bb0(%a: i4, %unused: i32):
            %r = arith.extsi %a : i4 to i32
            linalg.yield %r : i32
          } -> tensor<5xi32>
  check.expect_eq_const(%out, dense<[1, -2, 3, -8, 7]> : tensor<5xi32>) : tensor<5xi32>
  return
}
