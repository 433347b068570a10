// Unstructured control flow: cf.cond_br with block arguments, cf.br loops, and cf.switch.
// Numbers by hand, told at each function.

// 5! computed by a loop of blocks: 120.
func.func @loop_of_blocks() {
  %n = util.unfoldable_constant 5 : i32
  %c1 = arith.constant 1 : i32
  cf.br ^head(%n, %c1 : i32, i32)
^head(%left: i32, %product: i32):
  %more = arith.cmpi sgt, %left, %c1 : i32
  cf.cond_br %more, ^body, ^end
^body:
  %next_product = arith.muli %product, %left : i32
  %next_left = arith.subi %left, %c1 : i32
  cf.br ^head(%next_left, %next_product : i32, i32)
^end:
  %out = tensor.from_elements %product : tensor<1xi32>
  check.expect_eq_const(%out, dense<[120]> : tensor<1xi32>) : tensor<1xi32>
  return
}

// A diamond that carries tensors: 2 is not above 3, so [1, 2] + [10, 20] is taken and not the difference.
func.func @diamond() {
  %x = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = util.unfoldable_constant dense<[10.0, 20.0]> : tensor<2xf32>
  %n = util.unfoldable_constant 2 : i32
  %c3 = arith.constant 3 : i32
  %above = arith.cmpi sgt, %n, %c3 : i32
  cf.cond_br %above, ^minus, ^plus
^minus:
  %difference = arith.subf %x, %y : tensor<2xf32>
  cf.br ^join(%difference : tensor<2xf32>)
^plus:
  %sum = arith.addf %x, %y : tensor<2xf32>
  cf.br ^join(%sum : tensor<2xf32>)
^join(%out: tensor<2xf32>):
  check.expect_eq_const(%out, dense<[11.0, 22.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}

func.func private @name_of(%key: i32) -> i32 {
  %r20 = arith.constant 20 : i32
  %r70 = arith.constant 70 : i32
  %none = arith.constant -1 : i32
  cf.switch %key : i32, [
    default: ^end(%none : i32),
    2: ^end(%r20 : i32),
    7: ^end(%r70 : i32)
  ]
^end(%value: i32):
  return %value : i32
}

// Keys 2 and 7 have cases of 20 and 70; 3 falls to the default of -1.
func.func @switch() {
  %k2 = util.unfoldable_constant 2 : i32
  %k7 = util.unfoldable_constant 7 : i32
  %k3 = util.unfoldable_constant 3 : i32
  %a = call @name_of(%k2) : (i32) -> i32
  %b = call @name_of(%k7) : (i32) -> i32
  %c = call @name_of(%k3) : (i32) -> i32
  %out = tensor.from_elements %a, %b, %c : tensor<3xi32>
  check.expect_eq_const(%out, dense<[20, 70, -1]> : tensor<3xi32>) : tensor<3xi32>
  return
}
