// iree_linalg_ext.topk: the three largest values of each row with their positions.
// Numbers: NumPy's argsort of the negated rows; all values of a row differ.
//
// Written by suites/generate.py from suites/generator/linalg_ext.py; change it there.

func.func @three_of_nineteen() {
  %x = util.unfoldable_constant dense<
      [[7.0, 38.0, 69.0, 21.0, 52.0, 4.0, 35.0, 66.0, 18.0, 49.0, 1.0, 32.0, 63.0, 15.0, 46.0, 77.0, 29.0, 60.0,
        12.0],
       [43.0, 74.0, 26.0, 57.0, 9.0, 40.0, 71.0, 23.0, 54.0, 6.0, 37.0, 68.0, 20.0, 51.0, 3.0, 34.0, 65.0, 17.0,
        48.0],
       [0.0, 31.0, 62.0, 14.0, 45.0, 76.0, 28.0, 59.0, 11.0, 42.0, 73.0, 25.0, 56.0, 8.0, 39.0, 70.0, 22.0, 53.0,
        5.0],
       [36.0, 67.0, 19.0, 50.0, 2.0, 33.0, 64.0, 16.0, 47.0, 78.0, 30.0, 61.0, 13.0, 44.0, 75.0, 27.0, 58.0, 10.0,
        41.0]]> : tensor<4x19xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %room_v = tensor.empty() : tensor<4x3xf32>
  %room_i = tensor.empty() : tensor<4x3xi32>
  %init_v = linalg.fill ins(%lowest : f32) outs(%room_v : tensor<4x3xf32>) -> tensor<4x3xf32>
  %init_i = linalg.fill ins(%zero : i32) outs(%room_i : tensor<4x3xi32>) -> tensor<4x3xi32>
  %out:2 = iree_linalg_ext.topk dimension(1) ins(%x : tensor<4x19xf32>) outs(%init_v, %init_i : tensor<4x3xf32>, tensor<4x3xi32>) {
  ^bb0(%a: f32, %b: f32):
    %greater = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %greater : i1
  } -> tensor<4x3xf32>, tensor<4x3xi32>
  check.expect_eq_const(%out#0, dense<
      [[77.0, 69.0, 66.0], [74.0, 71.0, 68.0], [76.0, 73.0, 70.0], [78.0, 75.0, 67.0]]> : tensor<4x3xf32>) : tensor<4x3xf32>
  check.expect_eq_const(%out#1, dense<[[15, 2, 7], [1, 6, 11], [5, 10, 15], [9, 14, 1]]> : tensor<4x3xi32>) : tensor<4x3xi32>
  return
}
