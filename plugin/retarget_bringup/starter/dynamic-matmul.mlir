// A product whose sizes are known only at run time. Numbers: NumPy; small integers, so f32 is exact.

func.func @dynamic_matmul() {
  %a_static = util.unfoldable_constant dense<[[3.0, 3.0, 2.0, -1.0], [4.0, 3.0, 3.0, 4.0], [3.0, -4.0, 3.0, -2.0]]> : tensor<3x4xf32>
  %b_static = util.unfoldable_constant dense<[[-4.0, 1.0], [4.0, -4.0], [2.0, 0.0], [-4.0, 2.0]]> : tensor<4x2xf32>
  %m = util.unfoldable_constant 3 : index
  %k = util.unfoldable_constant 4 : index
  %n = util.unfoldable_constant 2 : index
  %a = tensor.extract_slice %a_static[0, 0] [%m, %k] [1, 1] : tensor<3x4xf32> to tensor<?x?xf32>
  %b = tensor.extract_slice %b_static[0, 0] [%k, %n] [1, 1] : tensor<4x2xf32> to tensor<?x?xf32>
  %zero = arith.constant 0.0 : f32
  %room = tensor.empty(%m, %n) : tensor<?x?xf32>
  %first = linalg.fill ins(%zero : f32) outs(%room : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%first : tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = tensor.cast %c : tensor<?x?xf32> to tensor<3x2xf32>
  check.expect_eq_const(%z, dense<[[8.0, -11.0], [-14.0, 0.0], [-14.0, 15.0]]> : tensor<3x2xf32>) : tensor<3x2xf32>
  return
}
