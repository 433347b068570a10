// An argument on device_a, work on both devices, and its result on device_b too.

func.func @crossing(%a: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@device_a>})
    -> (tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@device_b>}) {
  %doubled = arith.addf %a, %a : tensor<4xf32>
  %there = flow.tensor.transfer %doubled : tensor<4xf32> to #hal.device.promise<@device_b>
  %squared = arith.mulf %there, %there : tensor<4xf32>
  return %squared : tensor<4xf32>
}
