// Bytes multiplied, 32 bits added up, as quantised models do. Numbers: NumPy.

func.func @matmul_i8() {
  %a = util.unfoldable_constant dense<
        [[23, -42, -75, 84, 60, 64, -7, -80, 83, -19, -74, 53, -27, 76, 21, 93], [-69, -52, 94, 79, 99, 39, 99,
        -87, 61, -58, -93, -63, -60, -85, -18, 38], [36, -38, -6, 39, 49, -84, 37, 75, -65, 39, -49, 57, -45,
        21, -46, -8], [47, -62, -65, 89, 59, -71, 14, 4, -12, -76, -11, -79, 21, 40, -1, 78]]> : tensor<4x16xi8>
  %b = util.unfoldable_constant dense<
        [[44, -8, 85, 59], [-60, 72, -15, 7], [-46, 55, 58, -42], [0, -70, -77, -62], [-35, -99, -23, -86], [35,
        50, -30, 81], [-80, -89, -73, 44], [27, 56, -40, 36], [98, 0, -70, -3], [-88, 39, 1, -51], [65, 51, 14,
        -62], [-41, -93, -74, 87], [-5, -82, 57, -61], [21, -89, 48, -98], [17, -76, -13, 85], [32, 39, 89,
        -19]]> : tensor<16x4xi8>
  %zero = arith.constant 0 : i32
  %room = tensor.empty() : tensor<4x4xi32>
  %first = linalg.fill ins(%zero : i32) outs(%room : tensor<4x4xi32>) -> tensor<4x4xi32>
  %z = linalg.matmul ins(%a, %b : tensor<4x16xi8>, tensor<16x4xi8>) outs(%first : tensor<4x4xi32>) -> tensor<4x4xi32>
  check.expect_eq_const(%z, dense<
        [[13409, -31773, -8496, -23], [-9564, -10897, -17762, -4614], [-17146, -15502, -6015, -3866], [14466,
        -23400, 10421, -19561]]> : tensor<4x4xi32>) : tensor<4x4xi32>
  return
}
