// One product, computed on two devices that lay out its operands differently: its executable is cloned, and each device
// gets the clone in which the encodings are resolved for it.

// CHECK-LABEL: module
// CHECK-DAG: util.global private @device_a = #hal.device.target<"vulkan",
// CHECK-DAG: util.global private @device_b = #hal.device.target<"local",

// CHECK-LABEL: stream.executable private @products_dispatch_0 {
// CHECK: #iree_encoding.layout<[#iree_encoding.identity]>
// CHECK-NOT: vmvx_encoding_resolver
// CHECK-LABEL: stream.executable private @products_dispatch_0_dup0 {
// CHECK: #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<configuration

// CHECK-LABEL: util.func public @products
// CHECK: stream.cmd.execute on(#hal.device.affinity<@device_a>)
// CHECK: stream.cmd.dispatch @products_dispatch_0::
// CHECK: stream.cmd.execute on(#hal.device.affinity<@device_b>)
// CHECK: stream.cmd.dispatch @products_dispatch_0_dup0::
func.func @products(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a0 = flow.tensor.transfer %a : tensor<64x64xf32> to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<64x64xf32> to #hal.device.promise<@device_a>
  %first = linalg.matmul ins(%a0, %b0 : tensor<64x64xf32>, tensor<64x64xf32>)
                         outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  %first_a = flow.tensor.transfer %first : tensor<64x64xf32> to #hal.device.promise<@device_a>
  %a1 = flow.tensor.transfer %first_a : tensor<64x64xf32> to #hal.device.promise<@device_b>
  %b1 = flow.tensor.transfer %b : tensor<64x64xf32> to #hal.device.promise<@device_b>
  %second = linalg.matmul ins(%a1, %b1 : tensor<64x64xf32>, tensor<64x64xf32>)
                          outs(%filled : tensor<64x64xf32>) -> tensor<64x64xf32>
  %result = flow.tensor.transfer %second : tensor<64x64xf32> to #hal.device.promise<@device_a>
  return %result : tensor<64x64xf32>
}
