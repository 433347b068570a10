// Arguments and results say on which device they are: `iree.abi.affinity`. Where an operand is, its work is.

func.func @each(%a: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@device_a>},
                %b: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@device_b>})
    -> (tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@device_a>},
        tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@device_b>}) {
  %doubled = arith.addf %a, %a : tensor<4xf32>
  %squared = arith.mulf %b, %b : tensor<4xf32>
  return %doubled, %squared : tensor<4xf32>, tensor<4xf32>
}
