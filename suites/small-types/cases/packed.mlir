// Functions on integers of 2 and 4 bits, signless, signed and unsigned, and on i1.

func.func @add(%a: tensor<8xi4>, %b: tensor<8xi4>) -> tensor<8xi4> {
  %sum = arith.addi %a, %b : tensor<8xi4>
  return %sum : tensor<8xi4>
}

func.func @widen(%a: tensor<4x8xi4>) -> tensor<4x8xi32> {
  %wide = arith.extsi %a : tensor<4x8xi4> to tensor<4x8xi32>
  return %wide : tensor<4x8xi32>
}

func.func @widen_two_bits(%a: tensor<8xi2>) -> (tensor<8xi32>, tensor<8xi32>) {
  %signed = arith.extsi %a : tensor<8xi2> to tensor<8xi32>
  %unsigned = arith.extui %a : tensor<8xi2> to tensor<8xi32>
  return %signed, %unsigned : tensor<8xi32>, tensor<8xi32>
}

// What a function only passes through may have an odd or dynamic number of elements.
func.func @pass(%a: tensor<5xi4>, %b: tensor<?xui4>, %c: tensor<3xsi2>) -> (tensor<5xi4>, tensor<?xui4>, tensor<3xsi2>) {
  return %a, %b, %c : tensor<5xi4>, tensor<?xui4>, tensor<3xsi2>
}

func.func @scalar(%a: i4, %b: i1) -> (i4, i1) {
  return %a, %b : i4, i1
}

func.func @both(%a: tensor<5xi1>, %b: tensor<5xi1>) -> tensor<5xi1> {
  %c = arith.andi %a, %b : tensor<5xi1>
  return %c : tensor<5xi1>
}
