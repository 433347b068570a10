// A program names devices that it does not know: promises. The command line says what they are, and the compiler puts
// these devices in their place.

// CHECK-NOT: hal.device.promise
// LOCAL-LOCAL-DAG: util.global private @device_a = #hal.device.target<"local", {ordinal = 0 : index},
// LOCAL-LOCAL-DAG: util.global private @device_b = #hal.device.target<"local", {ordinal = 1 : index},
// VULKAN-LOCAL-DAG: util.global private @device_a = #hal.device.target<"vulkan",
// VULKAN-LOCAL-DAG: util.global private @device_b = #hal.device.target<"local",
// CHECK-LABEL: util.func public @there
// CHECK: hal.tensor.import on(#hal.device.affinity<@device_a>)
// CHECK: flow.tensor.transfer {{.*}} to #hal.device.affinity<@device_b>
func.func @there(%a: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@device_a>}) -> tensor<4xf32> {
  %doubled = arith.addf %a, %a : tensor<4xf32>
  %there = flow.tensor.transfer %doubled : tensor<4xf32> to #hal.device.promise<@device_b>
  %squared = arith.mulf %there, %there : tensor<4xf32>
  return %squared : tensor<4xf32>
}
