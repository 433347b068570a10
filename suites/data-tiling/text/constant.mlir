// A constant operand of products on both devices is encoded once, when the module is loaded. Each device needs it in its
// own layout.

// CHECK-DAG: iree_encoding.set_encoding {{.*}} : tensor<5x7xf32> -> tensor<5x7xf32, #iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<{{.*}}innerTileSizes = [4, 1],
// CPU-AVX2-TILED-DAG: iree_encoding.set_encoding {{.*}} : tensor<5x7xf32> -> tensor<5x7xf32, #iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<{{.*}}innerTileSizes = [8, 1],
// CPU-VMVX-TILED-DAG: iree_encoding.set_encoding {{.*}} : tensor<5x7xf32> -> tensor<5x7xf32, #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<
func.func @constant(%a: tensor<3x5xf32>) -> (tensor<3x7xf32>, tensor<3x7xf32>) {
  %weights = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0],
                                   [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
                                   [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]]> : tensor<5x7xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x7xf32>) -> tensor<3x7xf32>
  %a0 = flow.tensor.transfer %a : tensor<3x5xf32> to #hal.device.promise<@device_a>
  %p = linalg.matmul ins(%a0, %weights : tensor<3x5xf32>, tensor<5x7xf32>)
                     outs(%start : tensor<3x7xf32>) -> tensor<3x7xf32>
  %first = flow.tensor.transfer %p : tensor<3x7xf32> to #hal.device.promise<@device_a>
  %a1 = flow.tensor.transfer %a : tensor<3x5xf32> to #hal.device.promise<@device_b>
  %q = linalg.matmul ins(%a1, %weights : tensor<3x5xf32>, tensor<5x7xf32>)
                     outs(%start : tensor<3x7xf32>) -> tensor<3x7xf32>
  %second = flow.tensor.transfer %q : tensor<3x7xf32> to #hal.device.promise<@device_a>
  return %first, %second : tensor<3x7xf32>, tensor<3x7xf32>
}
