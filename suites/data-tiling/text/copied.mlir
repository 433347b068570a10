// A product on device_a is an operand on device_b. It leaves device_a in rows and columns, is copied, and is encoded
// anew on device_b, in the layout of that device.

// CPU-VMVX-TILED-LABEL: stream.executable private @_encoding_3 {
// CPU-VMVX-TILED: iree_encoding.set_encoding {{.*}} : tensor<7x4xf32> -> tensor<7x4xf32, #iree_encoding.layout<[#iree_cpu.vmvx_encoding_resolver<
// CPU-AVX2-TILED-LABEL: stream.executable private @_encoding_3 {
// CPU-AVX2-TILED: iree_encoding.set_encoding {{.*}} : tensor<7x4xf32> -> tensor<7x4xf32, #iree_encoding.layout<[#iree_cpu.cpu_encoding_resolver<{{.*}}innerTileSizes = [8, 1],

// CHECK-LABEL: util.func public @chain
// CHECK: %[[SHARED:.+]], %{{.+}} = stream.resource.alloca uninitialized on(#hal.device.optimal<[#hal.device.affinity<@device_a>, #hal.device.affinity<@device_b>]>) : !stream.resource<transient>{%c84}
// CHECK: stream.cmd.execute on(#hal.device.affinity<@device_a>) {{.*}}%[[SHARED]] as %[[TO:[a-z0-9]+]]:
// CHECK: stream.cmd.dispatch @chain_dispatch_0::
// CHECK: stream.cmd.copy %{{.*}}, %[[TO]][%c0], %c84 :
// CHECK: stream.cmd.flush to(#hal.device.affinity<@device_b>) %[[TO]][%c0 for %c84]
// CHECK: stream.cmd.execute on(#hal.device.affinity<@device_b>) {{.*}}%[[SHARED]] as %[[FROM:[a-z0-9]+]]:
// CHECK: stream.cmd.dispatch @_encoding_2::
// CHECK-NEXT: ro %[[FROM]][%c0 for %c84]
// CHECK: stream.cmd.dispatch @chain_dispatch_1::
func.func @chain(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: tensor<7x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty_first = tensor.empty() : tensor<3x7xf32>
  %start_first = linalg.fill ins(%zero : f32) outs(%empty_first : tensor<3x7xf32>) -> tensor<3x7xf32>
  %first = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>)
                         outs(%start_first : tensor<3x7xf32>) -> tensor<3x7xf32>
  %first_b = flow.tensor.transfer %first : tensor<3x7xf32> to #hal.device.promise<@device_b>
  %c_b = flow.tensor.transfer %c : tensor<7x4xf32> to #hal.device.promise<@device_b>
  %empty_second = tensor.empty() : tensor<3x4xf32>
  %start_second = linalg.fill ins(%zero : f32) outs(%empty_second : tensor<3x4xf32>) -> tensor<3x4xf32>
  %second = linalg.matmul ins(%first_b, %c_b : tensor<3x7xf32>, tensor<7x4xf32>)
                          outs(%start_second : tensor<3x4xf32>) -> tensor<3x4xf32>
  %result = flow.tensor.transfer %second : tensor<3x4xf32> to #hal.device.promise<@device_a>
  return %result : tensor<3x4xf32>
}
