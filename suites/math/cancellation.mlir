// Two products that are equal cancel out: 0.0 exactly, unless one of them is fused with the difference and not rounded.
// A layer normalisation over rows of one value is written so by TensorFlow: x * factor - mean * factor, factor = 316.2.
// Numbers: powers of two times small integers, whose products are not exact; the difference of equal products is 0.

func.func @layer_norm_of_a_constant_row() {
  %x = util.unfoldable_constant dense<[[7.25], [58.0], [3.625], [0.90625]]> : tensor<4x1xf32>
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 64.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %column = tensor.empty() : tensor<4xf32>
  %room = tensor.empty() : tensor<4x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%column : tensor<4xf32>) -> tensor<4xf32>
  %rows = tensor.collapse_shape %x [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
  %wide = linalg.broadcast ins(%rows : tensor<4xf32>) outs(%room : tensor<4x64xf32>) dimensions = [1]
  %input = util.optimization_barrier %wide : tensor<4x64xf32>
  %sums:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%input : tensor<4x64xf32>) outs(%init, %init : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%v: f32, %sum: f32, %squares: f32):
    %s = arith.addf %sum, %v : f32
    %square = arith.mulf %v, %v : f32
    %q = arith.addf %squares, %square : f32
    linalg.yield %s, %q : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%input, %sums#0, %sums#1 : tensor<4x64xf32>, tensor<4xf32>, tensor<4xf32>) outs(%room : tensor<4x64xf32>) {
  ^bb0(%v: f32, %sum: f32, %squares: f32, %unused: f32):
    %mean = arith.divf %sum, %count : f32
    %second = arith.divf %squares, %count : f32
    %first = arith.mulf %mean, %mean : f32
    %variance = arith.subf %second, %first : f32
    %safe = arith.addf %variance, %epsilon : f32
    %factor = math.rsqrt %safe : f32
    %scaled = arith.mulf %v, %factor : f32
    %shift = arith.mulf %mean, %factor : f32
    %r = arith.subf %scaled, %shift : f32
    linalg.yield %r : f32
  } -> tensor<4x64xf32>
  check.expect_eq_const(%out, dense<0.0> : tensor<4x64xf32>) : tensor<4x64xf32>
  return
}
