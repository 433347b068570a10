// Weights of i4 with a scale per column, dequantised to f32 and fed to an f32 matmul; and a matmul of i4 accumulated in i32.
// Numbers: NumPy in float64 (multiples of 1/8 well below 2^24, exact in f32) and in int64.
//
// Written by suites/generate.py from suites/generator/small_types.py; change it there.

func.func @weight_only() {
  %x = util.unfoldable_constant dense<
      [[-5.0, 2.0, -2.0, 5.0, 1.0, -3.0, 4.0, 0.0, -4.0, 3.0, -1.0, -5.0, 2.0, -2.0, 5.0, 1.0],
       [-3.0, 4.0, 0.0, -4.0, 3.0, -1.0, -5.0, 2.0, -2.0, 5.0, 1.0, -3.0, 4.0, 0.0, -4.0, 3.0],
       [-1.0, -5.0, 2.0, -2.0, 5.0, 1.0, -3.0, 4.0, 0.0, -4.0, 3.0, -1.0, -5.0, 2.0, -2.0, 5.0],
       [1.0, -3.0, 4.0, 0.0, -4.0, 3.0, -1.0, -5.0, 2.0, -2.0, 5.0, 1.0, -3.0, 4.0, 0.0, -4.0],
       [3.0, -1.0, -5.0, 2.0, -2.0, 5.0, 1.0, -3.0, 4.0, 0.0, -4.0, 3.0, -1.0, -5.0, 2.0, -2.0],
       [5.0, 1.0, -3.0, 4.0, 0.0, -4.0, 3.0, -1.0, -5.0, 2.0, -2.0, 5.0, 1.0, -3.0, 4.0, 0.0]]> : tensor<6x16xf32>
          %w = util.unfoldable_constant dense<
      [[-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3]]> : tensor<16x8xi4>
          %scales = util.unfoldable_constant dense<[0.125, 0.25, 0.5, 1.0, 0.125, 0.25, 0.5, 1.0]> : tensor<8xf32>
          %zero = arith.constant 0.0 : f32
          %room = tensor.empty() : tensor<16x8xf32>
          %wide = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
              iterator_types = ["parallel", "parallel"]} ins(%w, %scales : tensor<16x8xi4>, tensor<8xf32>) outs(%room : tensor<16x8xf32>) {
          ^bb0(%q: i4, %s: f32, %unused: f32):
            %float = arith.sitofp %q : i4 to f32
            %r = arith.mulf %float, %s : f32
            linalg.yield %r : f32
          } -> tensor<16x8xf32>
          %empty = tensor.empty() : tensor<6x8xf32>
          %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<6x8xf32>) -> tensor<6x8xf32>
          %c = linalg.matmul ins(%x, %wide : tensor<6x16xf32>, tensor<16x8xf32>) outs(%init : tensor<6x8xf32>) -> tensor<6x8xf32>
  check.expect_eq_const(%c, dense<
      [[0.0, 1.25, -3.0, -1.0, 0.5, -1.75, -1.0, 3.0],
       [6.0, 12.0, -24.0, -48.0, 6.0, -12.0, -24.0, 48.0],
       [1.0, 0.75, -1.0, -7.0, 0.5, -0.25, -3.0, 5.0],
       [-4.0, -10.5, 22.0, 34.0, -5.0, 11.5, 18.0, -38.0],
       [2.0, 0.25, 1.0, -13.0, 0.5, 1.25, -5.0, 7.0],
       [-3.0, 2.75, -9.0, 17.0, 0.5, -6.25, 5.0, -3.0]]> : tensor<6x8xf32>) : tensor<6x8xf32>
  return
}

func.func @accumulated_in_i32() {
  %a = util.unfoldable_constant dense<
      [[-8, -5, -2, 1, 4, 7, -6, -3, 0, 3, 6, -7, -4, -1, 2, 5],
       [-8, -5, -2, 1, 4, 7, -6, -3, 0, 3, 6, -7, -4, -1, 2, 5],
       [-8, -5, -2, 1, 4, 7, -6, -3, 0, 3, 6, -7, -4, -1, 2, 5],
       [-8, -5, -2, 1, 4, 7, -6, -3, 0, 3, 6, -7, -4, -1, 2, 5],
       [-8, -5, -2, 1, 4, 7, -6, -3, 0, 3, 6, -7, -4, -1, 2, 5],
       [-8, -5, -2, 1, 4, 7, -6, -3, 0, 3, 6, -7, -4, -1, 2, 5]]> : tensor<6x16xi4>
          %b = util.unfoldable_constant dense<
      [[-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3],
       [-8, -3, 2, 7, -4, 1, 6, -5],
       [0, 5, -6, -1, 4, -7, -2, 3]]> : tensor<16x8xi4>
          %zero = arith.constant 0 : i32
          %empty = tensor.empty() : tensor<6x8xi32>
          %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<6x8xi32>) -> tensor<6x8xi32>
          %c = linalg.matmul ins(%a, %b : tensor<6x16xi4>, tensor<16x8xi4>) outs(%init : tensor<6x8xi32>) -> tensor<6x8xi32>
  check.expect_eq_const(%c, dense<
      [[64, 24, -16, -56, 32, -8, -48, 40],
       [64, 24, -16, -56, 32, -8, -48, 40],
       [64, 24, -16, -56, 32, -8, -48, 40],
       [64, 24, -16, -56, 32, -8, -48, 40],
       [64, 24, -16, -56, 32, -8, -48, 40],
       [64, 24, -16, -56, 32, -8, -48, 40]]> : tensor<6x8xi32>) : tensor<6x8xi32>
  return
}
