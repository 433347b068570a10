// A shape that is known only at run time: 5 of the 8 elements.

func.func @dynamic_add() {
  %all = util.unfoldable_constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %size = util.unfoldable_constant 5 : index
  %x = tensor.extract_slice %all[0] [%size] [1] : tensor<8xf32> to tensor<?xf32>
  %y = arith.addf %x, %x : tensor<?xf32>
  %z = tensor.cast %y : tensor<?xf32> to tensor<5xf32>
  check.expect_eq_const(%z, dense<[2.0, 4.0, 6.0, 8.0, 10.0]> : tensor<5xf32>) : tensor<5xf32>
  return
}
