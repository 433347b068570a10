// arith.fptosi and arith.fptoui of numbers with a fraction, which is dropped (towards zero).
// Numbers: NumPy's trunc.
//
// Written by suites/generate.py from suites/generator/integer.py; change it there.

func.func @fptosi() {
  %x = util.unfoldable_constant dense<[0.0, 1.75, -1.75, 127.5, -128.0, 99.99, 0.5, -0.5]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xf32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: f32, %unused: i32):
            %r = arith.fptosi %a : f32 to i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, 1, -1, 127, -128, 99, 0, 0]> : tensor<8xi32>) : tensor<8xi32>
  return
}

func.func @fptoui() {
  %x = util.unfoldable_constant dense<[0.0, 1.75, 1.75, 127.5, 128.0, 99.99, 0.5, 0.5]> : tensor<8xf32>
          %empty = tensor.empty() : tensor<8xi32>
          %out = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%x : tensor<8xf32>) outs(%empty : tensor<8xi32>) {
          ^bb0(%a: f32, %unused: i32):
            %r = arith.fptoui %a : f32 to i32
            linalg.yield %r : i32
          } -> tensor<8xi32>
  check.expect_eq_const(%out, dense<[0, 1, 1, 127, 128, 99, 0, 0]> : tensor<8xi32>) : tensor<8xi32>
  return
}
