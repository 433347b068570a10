// A promise of a device that the command line does not name.

// CHECK-LABEL: util.func public @there
func.func @there(%a: tensor<4xf32>) -> tensor<4xf32> {
  %there = flow.tensor.transfer %a : tensor<4xf32> to #hal.device.promise<@device_c>
  %squared = arith.mulf %there, %there : tensor<4xf32>
  return %squared : tensor<4xf32>
}
