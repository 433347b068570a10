// A product of batches on each of two devices: both results, from the device that made them.

func.func @batch(%a: tensor<3x13x29xf32>, %b: tensor<3x29x11xf32>, %c: tensor<3x13x29xf32>, %d: tensor<3x29x11xf32>)
    -> (tensor<3x13x11xf32>, tensor<3x13x11xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x13x11xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x13x11xf32>) -> tensor<3x13x11xf32>
  %a0 = flow.tensor.transfer %a : tensor<3x13x29xf32> to #hal.device.promise<@device_a>
  %b0 = flow.tensor.transfer %b : tensor<3x29x11xf32> to #hal.device.promise<@device_a>
  %p = linalg.batch_matmul ins(%a0, %b0 : tensor<3x13x29xf32>, tensor<3x29x11xf32>)
                           outs(%start : tensor<3x13x11xf32>) -> tensor<3x13x11xf32>
  %first = flow.tensor.transfer %p : tensor<3x13x11xf32> to #hal.device.promise<@device_a>
  %c_b = flow.tensor.transfer %c : tensor<3x13x29xf32> to #hal.device.promise<@device_b>
  %d_b = flow.tensor.transfer %d : tensor<3x29x11xf32> to #hal.device.promise<@device_b>
  %q = linalg.batch_matmul ins(%c_b, %d_b : tensor<3x13x29xf32>, tensor<3x29x11xf32>)
                           outs(%start : tensor<3x13x11xf32>) -> tensor<3x13x11xf32>
  %second = flow.tensor.transfer %q : tensor<3x13x11xf32> to #hal.device.promise<@device_b>
  return %first, %second : tensor<3x13x11xf32>, tensor<3x13x11xf32>
}
