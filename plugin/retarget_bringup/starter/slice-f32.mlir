// A part of a buffer, copied by the device or by a kernel: the second row.

func.func @slice_f32() {
  %x = util.unfoldable_constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %z = tensor.extract_slice %x[1, 0] [1, 3] [1, 1] : tensor<2x3xf32> to tensor<1x3xf32>
  check.expect_eq_const(%z, dense<[[4.0, 5.0, 6.0]]> : tensor<1x3xf32>) : tensor<1x3xf32>
  return
}
