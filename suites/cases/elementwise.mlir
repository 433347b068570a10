// Functions of ranks 0, 1 and 2 on f32, i32 and i1, for literals: nan, inf, Booleans, integers of either sign.

func.func @root(%x: tensor<6xf32>) -> tensor<6xf32> {
  %root = math.sqrt %x : tensor<6xf32>
  return %root : tensor<6xf32>
}

func.func @scale(%x: tensor<f32>, %by: f32) -> tensor<f32> {
  %factor = tensor.from_elements %by : tensor<f32>
  %scaled = arith.mulf %x, %factor : tensor<f32>
  return %scaled : tensor<f32>
}

func.func @either(%a: tensor<2x2xi1>, %b: tensor<2x2xi1>) -> tensor<2x2xi1> {
  %or = arith.ori %a, %b : tensor<2x2xi1>
  return %or : tensor<2x2xi1>
}

func.func @double(%x: tensor<4xi32>) -> tensor<4xi32> {
  %twice = arith.addi %x, %x : tensor<4xi32>
  return %twice : tensor<4xi32>
}
